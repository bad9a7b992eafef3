/**
 * Receipts: one signed answer, with its inputs if the maker includes them, in the fragment of an address: `…/verify#r=…`. Browsers do
 * not send a fragment to a server.
 *
 * The text after `#r=` is base64url of: one byte for the version, four bytes of the keccak-256 of all bytes that follow, and JSON as
 * raw DEFLATE (RFC 1951). The checksum finds damage by a copy or a line break. Only the signature protects from forgery (decision 163).
 */
import { javascriptKeccak } from '../crypto/noble.ts'
import { classifyInput, type InputLike, isObject, splitSalt, toInput } from './forms.ts'
import type { ResponseKind, Verdict, VerifyResultOptions } from './verify/verdict.ts'
import { CheckList } from './verify/verdict.ts'
import { detectKind, verifyResult } from './verify/verify-result.ts'

const MARK = '#r='
const VERSION = 1
const CHECKSUM_BYTES = 4
const MAX_JSON_BYTES = 2 ** 20
/** JSON that cannot be compressed at all still fits. */
const MAX_CHARACTERS = 1_400_000
/** DEFLATE expands at most 1,032 times, so one piece never becomes more than 528 KB before the limit is checked. */
const PIECE_BYTES = 512
const MAX_INPUTS = 2
const DAMAGED = 'the receipt is cut off or was changed'
/** More than any geometry needs; deeper values would exhaust the stack of the code that reads them. */
const MAX_DEPTH = 64

/** Kinds of answers whose signature is part of the answer. */
const KINDS: readonly ResponseKind[] = ['compute', 'signed-result', 'attestation', 'verified-proof']
/** Members that are not signed, so a receipt does not carry them. */
const UNSIGNED = ['id', 'notes', 'proofInputs', 'submission', 'feature', 'properties', 'distance']

export interface CreateReceiptOptions {
  /** Address of the service whose page `/verify` shall open the receipt, such as `https://geo.example.org`. */
  readonly baseUrl: string
  /** The inputs of the request, in its order. Without them the receipt shows only their hashes, and no salts. */
  readonly inputs?: readonly InputLike[] | undefined
}

/** What a receipt says. Nothing of it is verified. */
export interface Receipt {
  /** Address of the signer that the answer names. */
  readonly issuer: string
  readonly response: Readonly<Record<string, unknown>>
  readonly inputs: readonly InputLike[] | undefined
}

export interface ReceiptVerdict extends Verdict {
  /**
   * `valid`: no check failed, and the signer is one that you named with `attester` or `issuer`. `unknown-issuer`: no check failed,
   * but the signer is another one, or you named none; anyone can sign such a receipt. `invalid`: all others.
   */
  readonly status: 'valid' | 'unknown-issuer' | 'invalid'
}

/** Thrown for a text that is not a receipt. The message says where the problem is. */
export class ReceiptError extends Error {
  override readonly name = 'ReceiptError'
}

/** Whether a text is an address with a receipt, which may be damaged. */
export function isReceiptAddress(text: string): boolean {
  return /^https?:\/\/[^#]*#r=/.test(text)
}

/**
 * Puts a signed answer into an address. Members that are not signed, such as `id` and `notes`, are left out.
 *
 * @param response a compute response, a result of a job, a re-signed attestation or a verified proof, as the service returned it
 * @returns the address, such as `https://geo.example.org/verify#r=…`
 * @throws {TypeError} for an answer without a signature of its own, for an invalid input or address, for the hash of a stored geometry that has a
 *   salt
 * @throws {RangeError} when answer and inputs are larger than 1 MiB as JSON
 */
export async function createReceipt(response: object, { baseUrl, inputs }: CreateReceiptOptions): Promise<string> {
  const fault = findResponseFault(response)
  if (fault !== undefined) throw new TypeError(`the answer ${fault}`)
  if (inputs !== undefined && inputs.length > MAX_INPUTS)
    throw new TypeError(`an answer has at most ${MAX_INPUTS} inputs`)
  if (!/^https?:\/\//.test(baseUrl)) throw new TypeError(`baseUrl ${JSON.stringify(baseUrl)} is not an http(s) address`)
  const { origin, pathname } = new URL(`${baseUrl.replace(/\/+$/, '')}/verify`)
  const { inputSalts, ...others } = response as { readonly inputSalts?: unknown }
  const signed = Object.fromEntries(Object.entries(others).filter(([name]) => !UNSIGNED.includes(name)))
  const salts = shownSalts(inputSalts, inputs ?? [])
  refuseSaltedHashes(response, inputs ?? [])
  if (salts !== undefined) signed['inputSalts'] = salts
  const content = { response: signed, ...(inputs === undefined ? {} : { inputs: inputs.map(toInput) }) }
  const json = new TextEncoder().encode(JSON.stringify(content))
  if (json.length > MAX_JSON_BYTES) throw new RangeError('the answer and its inputs are larger than 1 MiB as JSON')
  const packed = await throughStream(json, new CompressionStream('deflate-raw'), Number.POSITIVE_INFINITY)
  const bytes = Uint8Array.from([VERSION, ...checksum(packed), ...packed])
  return `${origin}${pathname}${MARK}${toBase64Url(bytes)}`
}

/**
 * Refuses the hash of a stored geometry that had a salt: the signed reference covers both. That reference itself, as `{ref}`, names an input
 * without showing it.
 *
 * @throws {TypeError}
 */
function refuseSaltedHashes(
  { inputSalts, inputRefs }: { readonly inputSalts?: unknown; readonly inputRefs?: unknown },
  inputs: readonly InputLike[],
): void {
  const at = (list: unknown, index: number) => {
    const value: unknown = Array.isArray(list) ? list[index] : undefined
    return typeof value === 'string' ? value.toLowerCase() : undefined
  }
  for (const [index, given] of inputs.entries()) {
    const input = classifyInput(given)
    if (input.form !== 'stored') continue
    const hasOwnSalt = splitSalt(given).salt !== undefined
    const wasSalted = at(inputSalts, index) !== undefined && at(inputRefs, index) !== input.ref.toLowerCase()
    if (hasOwnSalt || wasSalted)
      throw new TypeError(
        `input ${index + 1} is stored and has a salt: give its geometry, because its hash is not enough`,
      )
  }
}

/** Returns the salts of the inputs that are shown. The salt of another input would only help to guess it. */
function shownSalts(salts: unknown, inputs: readonly InputLike[]): unknown[] | undefined {
  if (!Array.isArray(salts)) return undefined
  const isShown = (input: InputLike) => ['geometry', 'proof'].includes(classifyInput(input).form)
  const shown = salts.map((salt, index) => {
    const input = inputs[index]
    return input !== undefined && isShown(input) ? salt : null
  })
  return shown.every((salt) => salt === null) ? undefined : shown
}

/**
 * Reads the address of a receipt, without verifying it. Contacts no server.
 *
 * @param address untrusted; the part before `#r=` is ignored
 * @throws {ReceiptError} when it has no receipt, or a damaged one, or one of a later version
 */
export async function readReceipt(address: string): Promise<Receipt> {
  const start = address.indexOf(MARK)
  if (start < 0) throw new ReceiptError(`the address has no receipt: there is no ${MARK} in it`)
  const bytes = fromBase64Url(address.slice(start + MARK.length).trim())
  if (bytes.length <= 1 + CHECKSUM_BYTES) throw new ReceiptError(`${DAMAGED}: it has only ${bytes.length} bytes`)
  if (bytes[0] !== VERSION) {
    throw new ReceiptError(`byte 1 of the receipt is version ${bytes[0]}; this program reads version ${VERSION}`)
  }
  const packed = bytes.slice(1 + CHECKSUM_BYTES)
  if (checksum(packed).some((byte, index) => byte !== bytes[1 + index])) {
    throw new ReceiptError(`${DAMAGED}: its checksum does not match`)
  }
  return parseContent(await inflate(packed))
}

/**
 * Verifies a receipt as `verifyResult` verifies its answer, with the inputs that it has. A deadline that has passed is not a failure,
 * because it only ends the time for submission to the chain.
 *
 * @param given a receipt or its address; untrusted; no content of it makes this function throw
 * @param options name the signers that you trust as `attester` or `issuer`: without them no receipt is `valid`
 * @throws {TypeError} on invalid options
 */
export async function verifyReceipt(
  given: Receipt | string,
  options: Omit<VerifyResultOptions, 'merkle' | 'allowExpired'> = {},
): Promise<ReceiptVerdict> {
  const receipt = typeof given === 'string' ? await tryRead(given) : given
  if (receipt instanceof ReceiptError) {
    const list = new CheckList()
    list.fail('form', receipt.message)
    return { ...list.verdict('unknown'), status: 'invalid' }
  }
  const inputs = options.inputs ?? receipt.inputs
  const verdict = await verifyResult(receipt.response, { ...options, inputs, allowExpired: true })
  const hasSigner = verdict.checks.some(({ id, status }) => id === 'signer' && status === 'pass')
  const isSound =
    verdict.checks.some(({ id, status }) => id === 'signature' && status === 'pass') &&
    verdict.checks.every(({ id, status }) => id === 'signer' || status !== 'fail')
  return { ...verdict, status: !isSound ? 'invalid' : hasSigner ? 'valid' : 'unknown-issuer' }
}

async function tryRead(address: string): Promise<Receipt | ReceiptError> {
  try {
    return await readReceipt(address)
  } catch (error) {
    if (error instanceof ReceiptError) return error
    throw error
  }
}

/** Returns what is wrong with an answer, as the end of a sentence; undefined if it has a signature of its own. */
function findResponseFault(response: unknown): string | undefined {
  const kind = detectKind(response)
  if (kind === 'batch' || kind === 'merkle-item' || kind === 'merkle-root') {
    return 'is signed together with others: a receipt has one answer with a signature of its own'
  }
  if (!KINDS.includes(kind)) return 'is not a kind of answer that is signed'
  return readIssuer(response as Record<string, unknown>) === undefined ? 'has no signature' : undefined
}

/** Returns the signer that an answer names; undefined if it names none. */
function readIssuer({ attestation, resultSignature }: Readonly<Record<string, unknown>>): string | undefined {
  const signed = attestation ?? resultSignature
  const attester = isObject(signed) ? signed['attester'] : undefined
  return typeof attester === 'string' && /^0x[0-9a-fA-F]{40}$/.test(attester) ? attester : undefined
}

function parseContent(json: string): Receipt {
  if (depthOf(json) > MAX_DEPTH) throw new ReceiptError(`the JSON in the receipt is nested more than ${MAX_DEPTH} deep`)
  let content: unknown
  try {
    content = JSON.parse(json)
  } catch {
    throw new ReceiptError('the content of the receipt is not JSON')
  }
  if (!isObject(content)) throw new ReceiptError('the content of the receipt is not an object')
  const other = Object.keys(content).find((name) => name !== 'response' && name !== 'inputs')
  if (other !== undefined) throw new ReceiptError(`${JSON.stringify(other.slice(0, 40))} is not a member of a receipt`)
  const { response, inputs } = content
  const fault = findResponseFault(response)
  if (fault !== undefined) throw new ReceiptError(`the member response ${fault}`)
  const areInputs =
    inputs === undefined || (Array.isArray(inputs) && inputs.length <= MAX_INPUTS && inputs.every(isObject))
  if (!areInputs) throw new ReceiptError(`the member inputs is not a list of at most ${MAX_INPUTS} objects`)
  const checked = response as Record<string, unknown>
  return { issuer: readIssuer(checked)!, response: checked, inputs: inputs as readonly InputLike[] | undefined }
}

/** Returns the largest number of brackets of JSON text that are open at the same time. Reads each character once. */
function depthOf(json: string): number {
  let depth = 0
  let deepest = 0
  let isInText = false
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (isInText && character === '\\') at++
    else if (character === '"') isInText = !isInText
    else if (isInText) continue
    else if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth)
    else if (character === ']' || character === '}') depth--
  }
  return deepest
}

async function inflate(packed: Uint8Array): Promise<string> {
  let bytes: Uint8Array
  try {
    bytes = await throughStream(packed, new DecompressionStream('deflate-raw'), MAX_JSON_BYTES)
  } catch (error) {
    if (error instanceof ReceiptError) throw error
    throw new ReceiptError('the receipt cannot be decompressed')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ReceiptError('the content of the receipt is not UTF-8')
  }
}

/** @throws {ReceiptError} as soon as there are more bytes than the limit */
async function throughStream(
  bytes: Uint8Array,
  stream: CompressionStream | DecompressionStream,
  maxBytes: number,
): Promise<Uint8Array> {
  let offset = 0
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (offset >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(offset, offset + PIECE_BYTES))
      offset += PIECE_BYTES
    },
  })
  const reader = source.pipeThrough(stream as TransformStream<Uint8Array, Uint8Array>).getReader()
  const pieces: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.length
    if (length > maxBytes) {
      await reader.cancel()
      throw new ReceiptError('the content of the receipt is larger than 1 MiB')
    }
    pieces.push(value)
  }
  const joined = new Uint8Array(length)
  let end = 0
  for (const piece of pieces) {
    joined.set(piece, end)
    end += piece.length
  }
  return joined
}

function checksum(bytes: Uint8Array): Uint8Array {
  return javascriptKeccak().hash(bytes).slice(0, CHECKSUM_BYTES)
}

function toBase64Url(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** Decodes base64url. Each sequence of bytes has exactly one text. @throws {ReceiptError} */
function fromBase64Url(text: string): Uint8Array {
  if (text.length > MAX_CHARACTERS) throw new ReceiptError(`the receipt has more than ${MAX_CHARACTERS} characters`)
  const wrong = text.search(/[^A-Za-z0-9_-]/)
  if (wrong >= 0) {
    const character = JSON.stringify(String.fromCodePoint(text.codePointAt(wrong)!))
    throw new ReceiptError(`character ${wrong + 1} of the receipt, ${character}, is not base64url`)
  }
  if (text.length % 4 === 1) throw new ReceiptError(`${DAMAGED}: its last character stands alone`)
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0))
  if (toBase64Url(bytes) !== text) throw new ReceiptError(`${DAMAGED}: its last character has bits of no byte`)
  return bytes
}
