import { kernelBase64 } from './generated/kernel.ts'

/** What the WebAssembly module exports, as it is: pointers and numbers. Degrees in, metres out. */
interface Exports {
  readonly memory: WebAssembly.Memory
  reserve(bytes: number): number
  release(): void
  mark(): number
  releaseTo(mark: number): void
  inverse(lat1: number, lon1: number, lat2: number, lon2: number): number
  inverseWithArea(lat1: number, lon1: number, lat2: number, lon2: number): number
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
  prepareOperand(
    vertices: number,
    sequenceStarts: number,
    sequenceCount: number,
    partStarts: number,
    partDimensions: number,
    partCount: number,
  ): number
  minimumDistance(first: number, second: number, units: number): number
  workDone(): number
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
}

let compiled: WebAssembly.Module | undefined

/** Instantiates the kernel; the module is compiled once a thread. */
export function loadKernel(): Kernel {
  compiled ??= new WebAssembly.Module(Buffer.from(kernelBase64, 'base64'))
  const abort = () => {
    throw new Error('the kernel aborted')
  }
  const exports = new WebAssembly.Instance(compiled, { env: { abort } }).exports as unknown as Exports
  let bytes = new Uint8Array(exports.memory.buffer)

  function put(values: Float64Array | Uint32Array): number {
    const pointer = exports.reserve(values.byteLength) >>> 0 // a pointer is unsigned, an i32 of WebAssembly is not
    if (pointer === 0) throw new RangeError('the kernel is out of memory')
    // Growing the memory detaches every view of it.
    if (bytes.buffer !== exports.memory.buffer) bytes = new Uint8Array(exports.memory.buffer)
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), pointer)
    return pointer
  }
  return { ...exports, write: put, writeIntegers: put }
}
