import { isUtf8 } from 'node:buffer'
import type { Kernel, MemoryViews } from '../wasm/loader.ts'
import { GEOMETRY_TYPES, type GeometryType } from './flat.ts'

/** A text in the memory of a kernel. */
interface KernelText {
  readonly pointer: number
  readonly length: number
}

/** The fixed texts around the coordinates in canonical GeoJSON, in the memory of a kernel, so that it can hash them. */
export interface FixedTexts {
  readonly beforeCoordinates: KernelText
  readonly afterCoordinates: Readonly<Record<GeometryType, KernelText>>
  readonly beforeMembers: KernelText
  readonly betweenMembers: KernelText
  readonly afterMembers: KernelText
}

const textsByKernel = new WeakMap<Kernel, FixedTexts>()

/**
 * Returns the texts of a kernel. The first call writes them into its memory, which invalidates all pointers into the arena.
 *
 * @throws {RangeError} when the memory cannot grow
 */
export function fixedTexts(kernel: Kernel): FixedTexts {
  let texts = textsByKernel.get(kernel)
  if (texts === undefined) {
    texts = writeOwnTexts(kernel)
    textsByKernel.set(kernel, texts)
  }
  return texts
}

function writeOwnTexts(kernel: Kernel): FixedTexts {
  const writeText = (text: string): KernelText => {
    const pointer = kernel.setAside(text.length) >>> 0
    if (pointer === 0) throw new RangeError('the kernel is out of memory')
    kernel.views().bytes.write(text, pointer, 'latin1')
    return { pointer, length: text.length }
  }
  const afterCoordinates = GEOMETRY_TYPES.map((type) => [type, writeText(`,"type":"${type}"}`)])
  return {
    beforeCoordinates: writeText('{"coordinates":'),
    afterCoordinates: Object.fromEntries(afterCoordinates),
    beforeMembers: writeText('{"geometries":['),
    betweenMembers: writeText(','),
    afterMembers: writeText('],"type":"GeometryCollection"}'),
  }
}

/** Sizes beyond which a text is not scanned. */
interface ScanLimits {
  readonly maxJsonDepth: number
  readonly maxVertices: number
}

/** The array of one member `coordinates`, as the kernel read it. */
export interface Span {
  /** Nesting depth of the arrays: 1 for a position, 4 for a MultiPolygon. */
  readonly nesting: number
  /** Pointers to its text in the arena. */
  readonly textStart: number
  readonly textEnd: number
  /** Whether that text is canonical (RFC 8785). */
  readonly isCanonical: boolean
  /** Interleaved lon, lat; without altitudes, and with 0 for −0. */
  readonly vertices: Float64Array
  /** Ends of the arrays of positions, counted in vertices; empty when there is only one array. */
  readonly sequenceEnds: Uint32Array
  /** Ends of the arrays of such arrays, counted in sequences; empty when there is only one. */
  readonly partEnds: Uint32Array
}

/** JSON text whose arrays of coordinates were read without building them. */
export interface ScannedText {
  /** The parsed text, with `[k]`, which refers to span k, as the value of each member `coordinates`. */
  readonly skeleton: unknown
  readonly spans: readonly Span[]
}

/** Levels of nesting that the kernel can follow. */
const MAX_LEVELS = 64
const SPAN_WORDS = 10
const NO_ENDS = new Uint32Array(0)

/**
 * Reads JSON text in one pass: the same doubles as `JSON.parse`, several times faster.
 *
 * The texts of the spans stay in the kernel's arena, and are valid until the arena is released.
 *
 * @param parse parses a skeleton; returns undefined when it is not JSON
 * @returns undefined when the text is in any way unusual or wrong: a key twice in one object, a member `coordinates` that is not
 *   an array of positions, a longitude out of range. The ordinary parser then decides what to report.
 */
export function scanText(
  kernel: Kernel,
  text: Uint8Array,
  limits: ScanLimits,
  parse: (skeleton: string) => unknown = parseJson,
): ScannedText | undefined {
  fixedTexts(kernel) // before anything is in the arena, because writing these texts would invalidate it
  const pointer = kernel.writeText(text)
  const maxDepth = Math.min(limits.maxJsonDepth, MAX_LEVELS)
  if (kernel.scanJson(pointer, text.byteLength, maxDepth, limits.maxVertices) !== 0) return undefined
  const views = kernel.views()
  const result = kernel.scanResult() / 4
  const word = (index: number) => views.words[result + index]!
  const start = word(0)
  const end = start + word(1)
  const isAscii = word(2) === 1
  if (!isAscii && !isUtf8(text)) return undefined
  const skeletonText = isAscii ? views.bytes.toString('latin1', start, end) : views.bytes.toString('utf8', start, end)
  if (mayHaveTooManyMembers(skeletonText)) return undefined
  const skeleton = parse(skeletonText)
  if (skeleton === undefined || !applyPatches(views, word(8), word(9), word(5))) return undefined
  const spans: Span[] = []
  for (let index = 0, count = word(4); index < count; index++) {
    spans.push(readSpan(views, word(3) / 4 + index * SPAN_WORDS, word(5), word(6), word(7)))
  }
  return { skeleton, spans }
}

/** Objects and members beyond which a text is not scanned. The ordinary parser has the same limit, and reports it. */
const MAX_MEMBERS = 50_000

/** Counts colons and braces, including those in strings: never fewer than there are objects and members. */
function mayHaveTooManyMembers(text: string): boolean {
  if (text.length <= MAX_MEMBERS) return false
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if ((code === 0x3a || code === 0x7b) && ++count > MAX_MEMBERS) return true
  }
  return false
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // no JSON value is undefined
  }
}

/** Parses the numbers that the kernel left to the host, and writes them into its vertices. */
function applyPatches(views: MemoryViews, patches: number, count: number, vertices: number): boolean {
  for (let index = 0; index < count; index++) {
    const [target, start, end] = views.words.subarray(patches / 4 + 3 * index, patches / 4 + 3 * index + 3)
    const value = Number(views.bytes.toString('latin1', start, end))
    const isLongitude = (target! - vertices) % 16 === 0
    if (!(Math.abs(value) <= (isLongitude ? 180 : 90))) return false
    views.doubles[target! / 8] = value + 0
  }
  return true
}

function readSpan(
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
    // Copies, because the arena is released while the geometry is still in use.
    vertices:
      words[at + 4] === 1
        ? copyPair(doubles, firstDouble)
        : doubles.slice(firstDouble, firstDouble + 2 * words[at + 4]!),
    sequenceEnds: words[at + 6] === 0 ? NO_ENDS : words.slice(firstSequence, firstSequence + words[at + 6]!),
    partEnds: words[at + 8] === 0 ? NO_ENDS : words.slice(firstPart, firstPart + words[at + 8]!),
  }
}

/** Copies two doubles without the call that `slice` would cost. */
function copyPair(doubles: Float64Array, at: number): Float64Array {
  const pair = new Float64Array(2)
  pair[0] = doubles[at]!
  pair[1] = doubles[at + 1]!
  return pair
}
