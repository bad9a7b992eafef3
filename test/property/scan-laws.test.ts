import { describe, expect, it } from 'vitest'
import { canonicalGeometry } from '../../src/crypto/canonical.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import { scanText } from '../../src/geometry/scan.ts'
import { hashScannedGeometry, readScannedGeometry, scannedCanonicalText } from '../../src/geometry/scanned-geometry.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { scalarBase64 } from '../../src/wasm/generated/scalar.ts'
import { compileModule, instantiateKernel, loadKernel } from '../../src/wasm/loader.ts'
import { type Random, seededRandom, TYPES } from '../random-geometry.ts'
import { scaled } from '../scale.ts'

const LIMITS = { maxVertices: 50_000, maxParts: 10_000, maxCollectionDepth: 8, maxJsonDepth: 32 }

/** How a JSON text is written. `decimals` undefined means the shortest exact form; `foreign` adds members that are not GeoJSON. */
interface Style {
  readonly decimals: number | undefined
  readonly trailingZeros: boolean
  readonly spaces: boolean
  readonly altitudes: boolean
  readonly foreign: boolean
}

function randomText(random: Random, style: Style, type: (typeof TYPES)[number], depth = 0): string {
  const integerBelow = (count: number) => Math.floor(random() * count)
  const space = () => (style.spaces ? ' \n\t\r'.slice(integerBelow(4), 4) : '')
  const number = (limit: number) => {
    const x = (2 * random() - 1) * limit
    if (style.decimals === undefined) return String(x)
    return style.trailingZeros ? x.toFixed(style.decimals) : String(Number(x.toFixed(style.decimals)))
  }
  const list = (items: string[]) => `[${space()}${items.join(`${space()},${space()}`)}${space()}]`
  const position = () => {
    const altitudes = style.altitudes ? integerBelow(3) : 0
    return list([number(180), number(90), ...Array.from({ length: altitudes }, () => number(5000))])
  }
  const repeat = (count: number, make: () => string) => Array.from({ length: count }, make)
  const ring = () => {
    const positions = repeat(3 + integerBelow(5), position)
    return list([...positions, positions[0]!])
  }
  const coordinates = () => {
    switch (type) {
      case 'Point':
        return position()
      case 'MultiPoint':
        return list(repeat(1 + integerBelow(5), position))
      case 'LineString':
        return list(repeat(2 + integerBelow(5), position))
      case 'MultiLineString':
        return list(repeat(1 + integerBelow(3), () => list(repeat(2 + integerBelow(3), position))))
      case 'Polygon':
        return list(repeat(1 + integerBelow(3), ring))
      default:
        return list(repeat(1 + integerBelow(3), () => list(repeat(1 + integerBelow(3), ring))))
    }
  }
  const members = [`"type"${space()}:${space()}"${type}"`]
  if (type === 'GeometryCollection') {
    const child = () => randomText(random, style, TYPES[integerBelow(depth < 3 ? 7 : 6)]!, depth + 1)
    members.push(`"geometries":${list(repeat(1 + integerBelow(4), child))}`)
  } else {
    members.push(`"coordinates"${space()}:${space()}${coordinates()}`)
  }
  if (style.foreign) {
    members.push(`"bbox":[1,2,3,4],"properties":{"coordinates":[[[${number(10)},5]]],"name":"Zürich \\u00e9 ]}"}`)
  }
  if (integerBelow(2)) members.reverse()
  return `{${space()}${members.join(`${space()},`)}${space()}}`
}

describe.each([
  ['with SIMD', loadKernel()],
  ['without SIMD', instantiateKernel(compileModule(scalarBase64))],
])('a geometry scanned by the kernel %s', (_, kernel) => {
  it('has the same vertices and reference as the parsed one, for all types and styles of text', async () => {
    const keccak = await createKeccak()
    const random = seededRandom(11)
    const count = scaled(3000)
    const hashed = { inPlace: 0, formatted: 0 }
    for (let index = 0; index < count; index++) {
      const flag = (bit: number) => (index & (1 << bit)) !== 0
      const style: Style = {
        decimals: flag(0) ? undefined : Math.floor(random() * 17),
        trailingZeros: flag(1),
        spaces: flag(2),
        altitudes: flag(3),
        foreign: flag(4),
      }
      const text = randomText(random, style, TYPES[index % TYPES.length]!)
      const geometry = JSON.parse(text) as Geometry
      kernel.release()
      const scanned = scanText(kernel, Buffer.from(text), LIMITS)!
      expect(readScannedGeometry(scanned, scanned.skeleton, LIMITS)).toEqual(readGeometry(geometry, [], LIMITS))
      const canonical = canonicalGeometry(geometry)
      expect(scannedCanonicalText(kernel, scanned, scanned.skeleton)).toBe(canonical)
      const hash = hashScannedGeometry(kernel, scanned, scanned.skeleton)
      if (hash !== undefined) expect(`0x${hash}`).toBe(keccak.hashHex(Buffer.from(canonical)))
      hashed[hash === undefined ? 'formatted' : 'inPlace']++
    }
    // Most texts are hashed in place, but some have to be formatted first.
    expect(hashed.inPlace).toBeGreaterThan(0.6 * count)
    expect(hashed.formatted).toBeGreaterThan(count / 300)
  })
})
