import type { Kernel } from '../wasm/loader.ts'
import { GEOMETRY_TYPES, type GeometryType } from './flat.ts'

/** A text in a kernel's memory. */
interface Place {
  readonly pointer: number
  readonly length: number
}

/** The texts of canonical GeoJSON around the coordinates, where a kernel can hash them. */
export interface OwnTexts {
  readonly beforeCoordinates: Place
  readonly afterCoordinates: Readonly<Record<GeometryType, Place>>
  readonly beforeMembers: Place
  readonly betweenMembers: Place
  readonly afterMembers: Place
}

const known = new WeakMap<Kernel, OwnTexts>()

/**
 * The first time they are put into the kernel's memory, which voids all pointers into the arena.
 *
 * @throws {RangeError} when the memory cannot grow
 */
export function ownTextsOf(kernel: Kernel): OwnTexts {
  let texts = known.get(kernel)
  if (texts === undefined) {
    texts = putOwnTexts(kernel)
    known.set(kernel, texts)
  }
  return texts
}

function putOwnTexts(kernel: Kernel): OwnTexts {
  const put = (text: string): Place => {
    const pointer = kernel.setAside(text.length) >>> 0
    if (pointer === 0) throw new RangeError('the kernel is out of memory')
    kernel.views().bytes.write(text, pointer, 'latin1')
    return { pointer, length: text.length }
  }
  const afterCoordinates = GEOMETRY_TYPES.map((type) => [type, put(`,"type":"${type}"}`)])
  return {
    beforeCoordinates: put('{"coordinates":'),
    afterCoordinates: Object.fromEntries(afterCoordinates),
    beforeMembers: put('{"geometries":['),
    betweenMembers: put(','),
    afterMembers: put('],"type":"GeometryCollection"}'),
  }
}
