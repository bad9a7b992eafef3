/** Encodes a request for a URL: deflated JSON in base64url. */
import { checkShape } from '../../../src/geometry/check-shape.ts'
import { geometryOf, OPERATION_NAMES, type RequestDraft } from './request-draft.ts'

/** Bytes that a link may inflate to; a hostile one could fill the memory. */
const MAX_CHARACTERS = 400_000

export async function encodeDraft({
  operation,
  a,
  b,
  radiusMeters,
  chainId,
  recipient,
  edges,
  isPrivate,
}: RequestDraft): Promise<string> {
  const text = JSON.stringify([
    operation,
    a,
    b,
    radiusMeters,
    chainId,
    recipient,
    ...(edges === undefined && isPrivate !== true ? [] : [edges ?? null]),
    ...(isPrivate === true ? [true] : []),
  ])
  const bytes = await collect(new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw')))
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** @returns undefined if the text is not such a link */
export async function decodeDraft(text: string): Promise<RequestDraft | undefined> {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
    const inflated = await collect(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')))
    const [operation, a, b, radiusMeters, chainId, recipient, edges, isPrivate] = JSON.parse(
      new TextDecoder().decode(inflated),
    )
    const isDraft =
      OPERATION_NAMES.includes(operation) &&
      isInput(a) &&
      (b === null || isInput(b)) &&
      Number.isFinite(radiusMeters) &&
      Number.isInteger(chainId) &&
      // The recipient appears in code that people copy, so a link may only contain an address.
      /^(?:0x[0-9a-fA-F]{40})?$/.test(String(recipient)) &&
      [undefined, null, 'geodesic'].includes(edges) &&
      [undefined, true].includes(isPrivate)
    if (!isDraft) return undefined
    return { operation, a, b: b ?? undefined, radiusMeters, chainId, recipient, edges: edges ?? undefined, isPrivate }
  } catch {
    return undefined
  }
}

/** Checks the shape of geometries, because the map draws them; the service validates everything else. */
function isInput(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false
  const geometry = geometryOf(input as RequestDraft['a'])
  return geometry === undefined || checkShape(geometry).ok
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    size += value.length
    if (size > MAX_CHARACTERS) {
      await reader.cancel()
      throw new RangeError('too long')
    }
    pieces.push(value)
  }
  const whole = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
