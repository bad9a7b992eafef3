import type { Kernel } from '../wasm/loader.ts'
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
