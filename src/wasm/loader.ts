import { scalarBase64 } from './generated/scalar.ts'
import { simdBase64 } from './generated/simd.ts'

/** Undefined in browsers, where the client computes a result again. */
const native = (globalThis as { Buffer?: BufferConstructor }).Buffer

/** What the WebAssembly module exports, as it is: pointers and numbers. Degrees in, metres out. */
interface Exports {
  readonly memory: WebAssembly.Memory
  reserve(bytes: number): number
  release(): void
  mark(): number
  releaseTo(mark: number): void
  setAside(bytes: number): number
  inverse(lat1: number, lon1: number, lat2: number, lon2: number): number
  inverseWithArea(lat1: number, lon1: number, lat2: number, lon2: number): number
  fastInverse(lat1: number, lon1: number, lat2: number, lon2: number): number
  guardedInverse(lat1: number, lon1: number, lat2: number, lon2: number): number
  residualSeen(): number
  correctionSeen(): number
  lengthSeen(): number
  generalLengths(vertices: number, count: number, out: number): void
  generalAreas(vertices: number, count: number, side: number, out: number): void
  pairLengths(pairs: number, count: number, out: number): void
  s12(): number
  m12(): number
  M12(): number
  M21(): number
  S12(): number
  P12(): number
  salp1(): number
  calp1(): number
  salp2(): number
  calp2(): number
  direct(lat1: number, lon1: number, salp1: number, calp1: number, s12: number): number
  arrivalLon(): number
  arrivalSalp2(): number
  arrivalCalp2(): number
  lineLength(vertices: number, count: number): number
  ringArea(vertices: number, count: number): number
  enclosedPole(): number
  /** Length of the ring that `ringArea` measured last, metres: the bits of `lineLength`. */
  perimeter(): number
  operandBytes(vertexCount: number, sequenceCount: number, partCount: number): number
  operandInputs(block: number): number
  prepareOperand(block: number, vertexCount: number, sequenceCount: number, partCount: number): void
  sideOfRing(vertices: number, count: number, lon: number, lat: number): number
  minimumDistance(first: number, second: number, units: number): number
  isWithin(first: number, second: number, inner: number, outer: number, units: number): number
  workDone(): number
  scanJson(text: number, length: number, maxDepth: number, maxVertices: number): number
  scanResult(): number
  canonicalText(start: number, end: number): number
  canonicalLength(): number
  keccakStart(): void
  keccakAdd(bytes: number, length: number): void
  keccakEnd(): number
}

/** The kernel of one thread: the exports, and a way to hand it arrays. Not reentrant. */
export interface Kernel extends Exports {
  /**
   * Copies doubles into the arena.
   *
   * @returns pointer, valid until `release`
   * @throws {RangeError} when the memory cannot grow
   */
  write(values: Float64Array): number
  /** The same for 32-bit integers. */
  writeIntegers(values: Uint32Array): number
  /** The same for text that `scanJson` shall read, with the room behind it that it needs. */
  writeText(bytes: Uint8Array): number
  /** The memory as it is now: valid until something is reserved. */
  views(): MemoryViews
}

/** The kernel's memory by bytes and by words and doubles, whose index is the pointer divided by 4 and by 8. */
export interface MemoryViews {
  readonly bytes: Buffer
  readonly words: Uint32Array
  readonly doubles: Float64Array
}

/** Bytes behind a text that the kernel may read and write. */
const TEXT_MARGIN = 96

/** `(module (func (drop (v128.const 0))))`: valid where f64x2 arithmetic is. */
const SIMD_PROBE = Uint8Array.of(
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 0x0a, 0x17, 1, 0x15, 0, 0xfd, 0x0c],
  ...[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1a, 0x0b],
)

let compiled: WebAssembly.Module | undefined

/** Instantiates the kernel, with SIMD where there is: both give the same bits. It is compiled once a thread. */
export function loadKernel(): Kernel {
  compiled ??= compileModule(WebAssembly.validate(SIMD_PROBE) ? simdBase64 : scalarBase64)
  return instantiateKernel(compiled)
}

/** @param base64 one of the builds in `generated/` */
export function compileModule(base64: string): WebAssembly.Module {
  const bytes = native?.from(base64, 'base64') ?? Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  return new WebAssembly.Module(bytes)
}

/** A kernel with a memory of its own. */
export function instantiateKernel(module: WebAssembly.Module): Kernel {
  const instance = new WebAssembly.Instance(module, { env: { abort } })
  const exports = instance.exports as unknown as Exports
  let memory = viewsOf(exports.memory.buffer)

  // Only the checked build calls it: an argument broke the contract of an export.
  function abort(message: number, file: number, line: number): void {
    throw new RangeError(`the kernel aborted: ${textAt(message)} (${textAt(file)}:${line})`)
  }

  /** A string of AssemblyScript: UTF-16, its size in bytes before it. */
  function textAt(pointer: number): string {
    if (pointer === 0) return 'no message'
    const { bytes } = views()
    return bytes.toString('utf16le', pointer, pointer + bytes.readUInt32LE(pointer - 4))
  }

  /** Growing the memory detaches every view of it, which leaves them empty. */
  function views(): MemoryViews {
    if (memory.words.length === 0) memory = viewsOf(exports.memory.buffer)
    return memory
  }

  function put(values: Float64Array | Uint32Array | Uint8Array, margin: number): number {
    const pointer = exports.reserve(values.byteLength + margin) >>> 0 // a pointer is unsigned, an i32 of WebAssembly is not
    if (pointer === 0) throw new RangeError('the kernel is out of memory')
    views().bytes.set(bytesOf(values), pointer)
    return pointer
  }
  return {
    ...exports,
    write: (values) => put(values, 0),
    writeIntegers: (values) => put(values, 0),
    writeText: (bytes) => put(bytes, TEXT_MARGIN),
    views,
  }
}

function bytesOf(values: Float64Array | Uint32Array | Uint8Array): Uint8Array {
  return values instanceof Uint8Array ? values : new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}

function viewsOf(buffer: ArrayBuffer): MemoryViews {
  // In a browser it lacks what Node.js adds to it; those who use that, the scanner and the kernel's hash, do not run there.
  const bytes = native?.from(buffer) ?? (new Uint8Array(buffer) as Buffer)
  return { bytes, words: new Uint32Array(buffer), doubles: new Float64Array(buffer) }
}
