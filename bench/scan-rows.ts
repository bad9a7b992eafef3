/** Reading the bytes of a request into coordinates, without and with the computation that follows. */
import turfContains from '@turf/boolean-point-in-polygon'
import { keccak256 } from 'viem'
import { kernelPoleResolver } from '../src/compute/validity.ts'
import { canonicalGeometry } from '../src/crypto/canonical.ts'
import { areaSquareMeters } from '../src/geodesy/area.ts'
import { readGeometry } from '../src/geometry/read.ts'
import { scanText } from '../src/geometry/scan.ts'
import { hashScannedGeometry, readScannedGeometry } from '../src/geometry/scanned-geometry.ts'
import { contains } from '../src/topology/contains.ts'
import type { Geometry } from '../src/types/generated.ts'
import { type Kernel, loadKernel } from '../src/wasm/loader.ts'
import { jtsGeometry } from '../test/jts.ts'
import { planimeter } from './geodesy-rows.ts'
import { point, wavyCircle } from './inputs.ts'
import type { TopologyLibraries } from './predicate-rows.ts'
import { inProcess, type Row } from './rounds.ts'

const LIMITS = { maxVertices: 200_000, maxParts: 10_000, maxJsonDepth: 20, maxCollectionDepth: 4 }
type Polygon = Extract<Geometry, { type: 'Polygon' }>

export function scanRows({ kernel }: TopologyLibraries): Row[] {
  return [100, 10_000, 100_000].flatMap((count) =>
    ([7, undefined] as const).map((decimals) => {
      const text = toCanonicalBytes(wavyCircle(count, 0.5, 10, 45, decimals))
      const numbers = decimals === undefined ? 'full doubles' : `${decimals} decimals`
      return {
        name: `reading ${count.toLocaleString('en')} vertices, ${numbers}, ${Math.ceil(text.length / 1024)} KB`,
        items: count,
        item: 'vertex',
        unit: 'answers',
        contenders: [
          inProcess('Trigpoint, to flat arrays', () => scan(kernel, text).flat.vertices.length),
          inProcess('JSON.parse alone', () => 2 * parse(text).coordinates[0]!.length),
          inProcess('JSON.parse, to flat arrays', () => readGeometry(parse(text), [], LIMITS).vertices.length),
        ],
      } satisfies Row
    }),
  )
}

export function wholeRows({ kernel, geos }: TopologyLibraries): Row[] {
  const pole = kernelPoleResolver(kernel)
  const text = toCanonicalBytes(wavyCircle(10_000, 0.5, 10, 45))
  const position = point(10.1, 45.1)
  const flatPosition = readGeometry(position, [], LIMITS)
  const [jtsPosition, geosPosition] = [jtsGeometry(position), geos.read(position)]
  return [
    {
      name: 'bytes of 10,000 vertices to area',
      items: 1,
      item: 'call',
      unit: 'm²',
      contenders: [
        inProcess('Trigpoint', () => areaSquareMeters(kernel, scan(kernel, text).flat)),
        inProcess('JSON.parse and geographiclib-geodesic', () =>
          Math.abs(planimeter(parse(text).coordinates[0]!, false).area!),
        ),
      ],
    },
    {
      name: 'bytes of 10,000 vertices to contains(point)',
      items: 1,
      item: 'call',
      unit: 'answers',
      contenders: [
        inProcess('Trigpoint', () => Number(contains(scan(kernel, text).flat, flatPosition, pole, kernel))),
        inProcess('JSON.parse and turf', () => Number(turfContains([10.1, 45.1], parse(text)))),
        inProcess('JSON.parse and jsts', () => Number(jtsGeometry(parse(text)).contains(jtsPosition))),
        inProcess('JSON.parse and geos-wasm', () => {
          const pointer = geos.read(parse(text))
          const result = geos.contains(pointer, geosPosition)
          geos.free(pointer)
          return Number(result)
        }),
      ],
    },
    {
      name: 'canonical hash of 10,000 vertices, scanned before',
      items: 1,
      item: 'call',
      unit: 'answers',
      contenders: [hashContender(text), viemHashContender(text)],
    },
  ]
}

/** Uses a separate kernel, because the text has to stay in its memory. */
function hashContender(text: Buffer) {
  const kernel = loadKernel()
  const { scanned } = scan(kernel, text)
  return inProcess('Trigpoint', () => {
    const hash = hashScannedGeometry(kernel, scanned, scanned.skeleton)
    if (hash === undefined) throw new Error('the text is not canonical')
    return checksum(hash)
  })
}

function viemHashContender(text: Buffer) {
  const geometry = parse(text)
  return inProcess('JSON.stringify and viem keccak256', () =>
    checksum(keccak256(Buffer.from(canonicalGeometry(geometry))).slice(2)),
  )
}

/** The first 48 bits of a hash as a number, so that results can be compared. */
function checksum(hash: string): number {
  return Number.parseInt(hash.slice(0, 12), 16)
}

function scan(kernel: Kernel, text: Buffer) {
  kernel.release()
  const scanned = scanText(kernel, text, LIMITS)
  if (scanned === undefined) throw new Error('the scanner rejected an ordinary polygon')
  const flat = readScannedGeometry(scanned, scanned.skeleton, LIMITS)
  if (flat === undefined) throw new Error('the scanned polygon was rejected')
  return { scanned, flat }
}

function toCanonicalBytes(geometry: Geometry): Buffer {
  return Buffer.from(canonicalGeometry(geometry))
}

function parse(text: Buffer): Polygon {
  return JSON.parse(text.toString('utf8')) as Polygon
}
