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
import { stride } from '../scale.ts'

const MAX_WORK = 200_000
const MAX_VERTICES = 50_000
const limits = { maxVertices: MAX_VERTICES, maxParts: 10_000, maxWork: 1e9 }
const kernel = loadKernel()
const engine = { kernel, keccak: kernelKeccak(kernel), limits }
/** topojson-client has no type declarations. */
const { feature, neighbors } = createRequire(import.meta.url)('topojson-client') as {
  feature: (topology: object, object: object) => { readonly features: readonly { readonly geometry: Geometry }[] }
  neighbors: (objects: readonly object[]) => readonly (readonly number[])[]
}
const PAIRS: readonly OperationName[] = ['distance', 'contains', 'within', 'intersects', 'relate']

interface Country {
  readonly geometry: Geometry
  readonly vertices: number
  /** Countries with which it shares a part of its boundary. */
  readonly neighbors: readonly Country[]
}

/** The countries of a file of world-atlas. */
function countriesOf(file: string): Country[] {
  const text = readFileSync(new URL(`../../node_modules/world-atlas/${file}`, import.meta.url), 'utf8')
  const topology = JSON.parse(text)
  const { features } = feature(topology, topology.objects.countries)
  const countries = features.map(({ geometry }) => ({
    geometry,
    vertices: countVertices(geometry),
    neighbors: [] as Country[],
  }))
  neighbors(topology.objects.countries.geometries).forEach((indices, i) => {
    countries[i]!.neighbors.push(...indices.map((index) => countries[index]!))
  })
  return countries
}

const countVertices = (geometry: Geometry): number =>
  (geometry as { readonly coordinates: readonly unknown[] }).coordinates.flat(geometry.type === 'Polygon' ? 1 : 2)
    .length

/** The work of one operation. Natural Earth has a few polygons that are not valid; their check counts too. */
function workOf(name: OperationName, geometries: readonly Geometry[]): number {
  const row = OPERATIONS[name]
  const operands = geometries.map((geometry, index) => ({ path: [row.inputs[index]!], geometry, ref: undefined }))
  const work = new Work(Number.POSITIVE_INFINITY)
  try {
    countWork(work, () => runOperation(row, operands, name === 'within' ? { radiusMeters: 100_000 } : {}, engine))
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
  ] as const)('of %s need less than half of the work that a request may do', (file, most) => {
    const all = countriesOf(file).filter(({ vertices }) => vertices <= MAX_VERTICES)
    const largest = [...all].sort((a, b) => b.vertices - a.vertices).slice(0, most)
    let [highest, which, pairs] = [0, '', 0]
    const note = (
      name: OperationName,
      countries: readonly Country[],
      geometries = countries.map((c) => c.geometry),
    ) => {
      const units = workOf(name, geometries)
      if (units > highest)
        [highest, which] = [units, `${name} of ${countries.map((c) => c.vertices).join(' and ')} vertices`]
    }
    const tried = all.filter((country, index) => index % stride === 0 || largest.includes(country))
    for (const country of tried) {
      note('area', [country])
      note('length', [country], [asLines(country.geometry)!])
      const others = largest.includes(country) ? largest : []
      for (const other of new Set([country, ...country.neighbors, ...others])) {
        if (country.vertices + other.vertices > MAX_VERTICES) continue
        pairs++
        for (const name of PAIRS) note(name, [country, other])
      }
    }
    console.log(
      `${file}, ${pairs} pairs: at most ${highest} units (${((100 * highest) / MAX_WORK).toFixed(1)} %): ${which}`,
    )
    expect(pairs).toBeGreaterThan(tried.length)
    expect(highest).toBeLessThan(MAX_WORK / 2)
  })
})
