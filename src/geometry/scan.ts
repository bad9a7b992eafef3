import { isUtf8 } from 'node:buffer'
import type { Kernel, MemoryViews } from '../wasm/loader.ts'
import { ownTextsOf } from './own-texts.ts'

/** Sizes beyond which a text is declined. */
export interface ScanLimits {
  readonly maxJsonDepth: number
  readonly maxVertices: number
}

/** The array of one member `coordinates`, as the kernel read it. */
export interface Span {
  /** Arrays inside each other: 1 for a position, 4 for what a MultiPolygon has. */
  readonly nesting: number
  /** Pointers to its text in the arena. */
  readonly textStart: number
  readonly textEnd: number
  /** True when that text is canonical (RFC 8785). */
  readonly isCanonical: boolean
  /** Interleaved lon, lat; altitudes left out, −0 as 0. */
  readonly vertices: Float64Array
  /** Ends of the arrays of positions, in vertices; empty when there is one. */
  readonly sequenceEnds: Uint32Array
  /** Ends of the arrays of those, in sequences; empty when there is one. */
  readonly partEnds: Uint32Array
}

/** A JSON text whose arrays of coordinates were read without building them. */
export interface ScannedText {
  /** What the text says, with `[k]` as the value of each member `coordinates`: span k. */
  readonly skeleton: unknown
  readonly spans: readonly Span[]
}

/** Levels that the kernel can follow. */
const MOST_LEVELS = 64
const SPAN_WORDS = 10
const NONE = new Uint32Array(0)

/**
 * Reads a JSON text in one pass: the same doubles as `JSON.parse`, several times faster.
 *
 * What is found lies in the kernel's arena, and the texts of the spans stay there: valid until the arena is released.
 *
 * @param parse what a skeleton's text says; undefined when it is no JSON
 * @returns undefined when the text is in any way unusual or wrong: a key twice in one object, a member `coordinates` that is no
 *   array of positions, a longitude out of range. The long way says what to make of it.
 */
export function scanText(
  kernel: Kernel,
  text: Uint8Array,
  limits: ScanLimits,
  parse: (skeleton: string) => unknown = parseJson,
): ScannedText | undefined {
  ownTextsOf(kernel) // before anything is in the arena: making room for them would void it
  const pointer = kernel.writeText(text)
  const maxDepth = Math.min(limits.maxJsonDepth, MOST_LEVELS)
  if (kernel.scanJson(pointer, text.byteLength, maxDepth, limits.maxVertices) !== 0) return undefined
  const views = kernel.views()
  const result = kernel.scanResult() / 4
  const word = (index: number) => views.words[result + index]!
  const start = word(0)
  const end = start + word(1)
  const isAscii = word(2) === 1
  if (!isAscii && !isUtf8(text)) return undefined
  const skeleton = parse(
    isAscii ? views.bytes.toString('latin1', start, end) : views.bytes.toString('utf8', start, end),
  )
  if (skeleton === undefined || !patch(views, word(8), word(9), word(5))) return undefined
  const spans: Span[] = []
  for (let index = 0, count = word(4); index < count; index++) {
    spans.push(spanAt(views, word(3) / 4 + index * SPAN_WORDS, word(5), word(6), word(7)))
  }
  return { skeleton, spans }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // no JSON value is undefined
  }
}

/** Reads the numbers that the kernel left to us. */
function patch(views: MemoryViews, patches: number, count: number, vertices: number): boolean {
  for (let index = 0; index < count; index++) {
    const [target, start, end] = views.words.subarray(patches / 4 + 3 * index, patches / 4 + 3 * index + 3)
    const value = Number(views.bytes.toString('latin1', start, end))
    const isLongitude = (target! - vertices) % 16 === 0
    if (!(Math.abs(value) <= (isLongitude ? 180 : 90))) return false
    views.doubles[target! / 8] = value + 0
  }
  return true
}

function spanAt(
  { words, doubles }: MemoryViews,
  at: number,
  vertices: number,
  sequenceEnds: number,
  partEnds: number,
): Span {
  const firstDouble = vertices / 8 + 2 * words[at + 3]!
  const firstSequence = sequenceEnds / 4 + words[at + 5]!
  const firstPart = partEnds / 4 + words[at + 7]!
  return {
    nesting: words[at]!,
    textStart: words[at + 1]!,
    textEnd: words[at + 2]!,
    isCanonical: words[at + 9] === 1,
    // Copies: the arena is taken back while the geometry is still used.
    vertices:
      words[at + 4] === 1 ? pairAt(doubles, firstDouble) : doubles.slice(firstDouble, firstDouble + 2 * words[at + 4]!),
    sequenceEnds: words[at + 6] === 0 ? NONE : words.slice(firstSequence, firstSequence + words[at + 6]!),
    partEnds: words[at + 8] === 0 ? NONE : words.slice(firstPart, firstPart + words[at + 8]!),
  }
}

/** A slice of two, made without a call. */
function pairAt(doubles: Float64Array, at: number): Float64Array {
  const pair = new Float64Array(2)
  pair[0] = doubles[at]!
  pair[1] = doubles[at + 1]!
  return pair
}
