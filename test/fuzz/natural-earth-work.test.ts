import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { countWork, Work } from '../../src/base/work.ts'
import { kernelKeccak } from '../../src/compute/engine.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { runOperation } from '../../src/compute/run.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import type { OperationName } from '../../src/wire/values.ts'
import { asLines } from '../costly-shapes.ts'

const MAX_WORK = 250_000
const limits = { maxVertices: 50_000, maxParts: 10_000, maxWork: 1e9 }
const kernel = loadKernel()
const engine = { kernel, keccak: kernelKeccak(kernel), limits }
/** topojson-client has no type declarations. */
const { feature } = createRequire(import.meta.url)('topojson-client') as {
  feature: (topology: object, object: object) => { readonly features: readonly { readonly geometry: Geometry }[] }
}
const PAIRS: readonly OperationName[] = ['distance', 'contains', 'within', 'intersects']

/** The polygons of a file of world-atlas that have at most this number of vertices. */
function polygonsOf(file: string, maxVertices: number): Geometry[] {
  const text = readFileSync(new URL(`../../node_modules/world-atlas/${file}`, import.meta.url), 'utf8')
  const topology = JSON.parse(text)
  const { features } = feature(topology, topology.objects.countries)
  return features.map(({ geometry }) => geometry).filter((geometry) => countVertices(geometry) <= maxVertices)
}

const countVertices = (geometry: Geometry): number => JSON.stringify(geometry).split('],[').length

/** The work of one operation. Natural Earth has a few polygons that are not valid; their check counts too. */
function workOf(name: OperationName, geometries: readonly Geometry[]): number {
  const row = OPERATIONS[name]
  const operands = geometries.map((geometry, index) => ({ path: [row.inputs[index]!], geometry, ref: undefined }))
  const work = new Work(Number.POSITIVE_INFINITY)
  try {
    countWork(work, () => runOperation(row, operands, name === 'within' ? 100_000 : undefined, engine))
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ProblemError') throw error
  }
  return work.units
}

describe('countries of Natural Earth', () => {
  it.each([
    ['countries-110m.json', 30],
    ['countries-50m.json', 12],
    ['countries-10m.json', 5],
  ] as const)('of %s are never rejected for their work', (file, most) => {
    const all = polygonsOf(file, 49_000)
    const largest = [...all].sort((a, b) => countVertices(b) - countVertices(a)).slice(0, most)
    let [highest, which] = [0, '']
    const note = (name: OperationName, geometries: readonly Geometry[]) => {
      const units = workOf(name, geometries)
      if (units > highest)
        [highest, which] = [units, `${name} of ${geometries.map(countVertices).join(' and ')} vertices`]
    }
    for (const geometry of all) {
      note('area', [geometry])
      note('length', [asLines(geometry)!])
    }
    for (const a of largest) {
      for (const b of largest) {
        // A country cut at the antimeridian and itself are the one case that may be rejected.
        if (a === b || countVertices(a) + countVertices(b) > 49_000) continue
        for (const name of PAIRS) note(name, [a, b])
      }
    }
    console.log(`${file}: at most ${highest} units (${((100 * highest) / MAX_WORK).toFixed(1)} %): ${which}`)
    expect(highest).toBeLessThan(MAX_WORK)
  })
})
