import { scalarBase64 } from './generated/scalar.ts'
import { simdBase64 } from './generated/simd.ts'

/** Undefined in browsers, where the client recomputes results. */
const NodeBuffer = (globalThis as { Buffer?: BufferConstructor }).Buffer

/** The raw exports of the WebAssembly module: pointers and numbers. Degrees in, metres out. */
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
  directDegrees(lat1: number, lon1: number, azimuth: number, s12: number): number
  degreesOf(sine: number, cosine: number): number
  arrivalLon(): number
  arrivalSalp2(): number
  arrivalCalp2(): number
  lineLength(vertices: number, count: number): number
  ringArea(vertices: number, count: number): number
  enclosedPole(): number
  /** Length in metres of the ring that `ringArea` measured last; bit for bit what `lineLength` returns for it. */
  perimeter(): number
  operandBytes(vertexCount: number, sequenceCount: number, partCount: number): number
  operandInputs(block: number): number
  prepareOperand(block: number, vertexCount: number, sequenceCount: number, partCount: number): void
  sideOfRing(vertices: number, count: number, lon: number, lat: number): number
  minimumDistance(first: number, second: number, units: number): number
  nearestPlaces(first: number, second: number, units: number): number
  latOnFirst(): number
  lonOnFirst(): number
  latOnSecond(): number
  lonOnSecond(): number
  isWithin(first: number, second: number, inner: number, outer: number, units: number): number
  startWork(units: number): void
  workDone(): number
  scanJson(text: number, length: number, maxDepth: number, maxVertices: number): number
  scanResult(): number
  canonicalText(start: number, end: number): number
  canonicalLength(): number
  keccakStart(): void
  keccakAdd(bytes: number, length: number): void
  keccakEnd(): number
}

/** The kernel of one thread: the raw exports and functions that copy arrays into its memory. Not reentrant. */
export interface Kernel extends Exports {
  /**
   * Copies doubles into the arena (assembly/math/memory.ts).
   *
   * @returns pointer, valid until `release`
   * @throws {RangeError} when the memory cannot grow
   */
  write(values: Float64Array): number
  /** Copies 32-bit integers into the arena, like `write`. */
  writeIntegers(values: Uint32Array): number
  /**
   * Copies UTF-8 text for `scanJson` into the arena, like `write`, and reserves the margin that the scanner needs after
   * it.
   */
  writeText(bytes: Uint8Array): number
  /** Returns views of the current memory. They are valid until the next reservation, which may grow the memory. */
  views(): MemoryViews
}

/**
 * The kernel's memory as bytes, words and doubles. The index of a word is its pointer / 4, that of a double its pointer
 * / 8.
 */
export interface MemoryViews {
  readonly bytes: Buffer
  readonly words: Uint32Array
  readonly doubles: Float64Array
}

/** Bytes after a text that the kernel may read and overwrite. */
const TEXT_MARGIN = 96

/** `(module (func (drop (v128.const 0))))`: validates only in engines that support SIMD. */
const SIMD_PROBE = Uint8Array.of(
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 0x0a, 0x17, 1, 0x15, 0, 0xfd, 0x0c],
  ...[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1a, 0x0b],
)

let compiled: WebAssembly.Module | undefined

/**
 * Instantiates the kernel, with SIMD where the engine supports it. Both builds give the same bits. Compiles once per
 * thread.
 */
export function loadKernel(): Kernel {
  compiled ??= compileModule(WebAssembly.validate(SIMD_PROBE) ? simdBase64 : scalarBase64)
  return instantiateKernel(compiled)
}

/** Compiles one of the builds in `generated/`. */
export function compileModule(base64: string): WebAssembly.Module {
  const bytes =
    NodeBuffer?.from(base64, 'base64') ?? Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  return new WebAssembly.Module(bytes)
}

/** Instantiates a kernel with its own memory. */
export function instantiateKernel(module: WebAssembly.Module): Kernel {
  const instance = new WebAssembly.Instance(module, { env: { abort } })
  const exports = instance.exports as unknown as Exports
  let memory = createViews(exports.memory.buffer)

  // Only the checked build calls this, when an argument violates the contract of an export.
  function abort(message: number, file: number, line: number): void {
    throw new RangeError(`the kernel aborted: ${readString(message)} (${readString(file)}:${line})`)
  }

  /** Reads an AssemblyScript string: UTF-16, with its size in bytes in the four bytes before it. */
  function readString(pointer: number): string {
    if (pointer === 0) return 'no message'
    const { bytes } = views()
    return bytes.toString('utf16le', pointer, pointer + bytes.readUInt32LE(pointer - 4))
  }

  /** Growing the memory detaches all views, which makes their length 0; so they are created again here. */
  function views(): MemoryViews {
    if (memory.words.length === 0) memory = createViews(exports.memory.buffer)
    return memory
  }

  function copyIn(values: Float64Array | Uint32Array | Uint8Array, margin: number): number {
    const pointer = exports.reserve(values.byteLength + margin) >>> 0 // WebAssembly returns a signed i32; pointers are unsigned
    if (pointer === 0) throw new RangeError('the kernel is out of memory')
    views().bytes.set(toBytes(values), pointer)
    return pointer
  }
  return {
    ...exports,
    write: (values) => copyIn(values, 0),
    writeIntegers: (values) => copyIn(values, 0),
    writeText: (bytes) => copyIn(bytes, TEXT_MARGIN),
    views,
  }
}

function toBytes(values: Float64Array | Uint32Array | Uint8Array): Uint8Array {
  return values instanceof Uint8Array ? values : new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
}

function createViews(buffer: ArrayBuffer): MemoryViews {
  // In a browser this is a plain Uint8Array without the methods of Buffer. Only the scanner and the kernel's hash use
  // those, and they do not run there.
  const bytes = NodeBuffer?.from(buffer) ?? (new Uint8Array(buffer) as Buffer)
  return { bytes, words: new Uint32Array(buffer), doubles: new Float64Array(buffer) }
}
