import { describe, expect, it } from 'vitest'
import { pack } from '../../src/base/bytes.ts'
import { countWork, Work } from '../../src/base/work.ts'
import { runComputeChunk } from '../../src/compute/chunk.ts'
import { kernelKeccak } from '../../src/compute/engine.ts'
import { PreparedGeometries } from '../../src/compute/prepared-geometries.ts'
import type { ComputeContext } from '../../src/compute/run.ts'
import { runComputeTask } from '../../src/compute/task.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { scalarBase64 } from '../../src/wasm/generated/scalar.ts'
import { compileModule, instantiateKernel, loadKernel } from '../../src/wasm/loader.ts'
import type { OperationName } from '../../src/wire/values.ts'
import { polygon } from '../adversarial-shapes.ts'
import { SCHEMAS } from '../chunk-runner.ts'
import { COSTLY_OPERATIONS, COSTLY_SHAPES, costlyPair, fractalCoast, requestOf } from '../costly-shapes.ts'
import { scaled, stride } from '../scale.ts'

/** Vertices of each pair: 2,000, and fewer when fewer cases are tried. */
const VERTICES = Math.min(2000, scaled(2000))
/** Shapes that are tried with the most vertices. */
const LARGEST = ['interlocking combs', 'rings near the antipode', 'points among long lines', 'polar caps']
const CHAIN_ID = 84532
const limits = {
  maxVertices: 50_000,
  maxParts: 10_000,
  maxCollectionDepth: 8,
  maxJsonDepth: 32,
  maxWork: 200_000,
  maxPreparedBytes: 16_000_000,
  chainIds: [CHAIN_ID],
}

const simd = loadKernel()
const engine: ComputeContext = { kernel: simd, keccak: kernelKeccak(simd), limits }
const scalar = instantiateKernel(compileModule(scalarBase64))
const scalarEngine: ComputeContext = { kernel: scalar, keccak: kernelKeccak(scalar), limits }
const cached = loadKernel()
const cachingEngine = {
  kernel: cached,
  keccak: kernelKeccak(cached),
  limits,
  prepared: new PreparedGeometries(cached, limits.maxPreparedBytes),
}

/** A request's work, and what a client gets: the members of the result, or the problem. */
interface Answer {
  readonly units: number
  readonly members: string | undefined
  readonly problem: { readonly type: string; readonly detail: string } | undefined
}

function answer(operation: OperationName, request: object, by: ComputeContext, maxWork = limits.maxWork): Answer {
  const body = Buffer.from(JSON.stringify({ chainId: CHAIN_ID, ...request }))
  const work = new Work(Number.POSITIVE_INFINITY)
  const task = { operation, body, resolved: [], timestampSeconds: 1 }
  const own = { ...limits, maxWork }
  const result = countWork(work, () => runComputeTask(task, { ...by, limits: own }, own))
  if (result.type === 'unresolved') throw new Error('the request has no input to resolve')
  const { type, detail } = result.type === 'problem' ? result.problem : { type: undefined, detail: '' }
  return {
    units: work.units,
    members: result.type === 'problem' ? undefined : result.members,
    problem: type && { type, detail },
  }
}

/** Runs the request as the only item of a batch. */
function answerInBatch(operation: OperationName, request: object): Pick<Answer, 'members' | 'problem'> {
  const item = Buffer.from(JSON.stringify({ op: operation, chainId: CHAIN_ID, ...request }))
  const chunk = {
    type: 'chunk' as const,
    items: pack([item]),
    attest: 'none' as const,
    attester: undefined,
    returnsObjects: false,
    schemas: SCHEMAS,
    chainId: CHAIN_ID,
    recipient: undefined,
    timestampSeconds: 1,
    itemsInQuota: 1,
    quotaProblem: { type: 'rate-limited' as const, detail: '' },
    firstIndex: 0,
    maxItemBytes: 2_000_000,
    resolved: [],
  }
  const { texts, unfinished } = runComputeChunk(chunk, engine, limits)
  const result = unfinished.get(0)?.result
  if (result?.type === 'problem') {
    const { type, detail } = result.problem
    return { members: undefined, problem: { type, detail: detail.replace(/^items\[0\](: |\.)/, '') } }
  }
  const text = Buffer.from(texts.buffer).toString('utf8', texts.offsets[0], texts.offsets[1])
  return { members: text.slice(1, text.lastIndexOf('}')), problem: undefined }
}

function requestsOf(a: Geometry, b: Geometry): (readonly [OperationName, object])[] {
  return COSTLY_OPERATIONS.flatMap((operation) => {
    const request = requestOf(operation, a, b)
    return request === undefined ? [] : [[operation, request] as const]
  })
}

describe('a costly request', () => {
  it.each(COSTLY_SHAPES.map((shape) => [shape.name, shape] as const))('of %s has one result', (_, shape) => {
    for (const [operation, request] of requestsOf(...costlyPair(shape, VERTICES))) {
      const first = answer(operation, request, engine)
      expect(first.problem?.type ?? 'computed', operation).toMatch(/^(computed|invalid-input|too-complex)$/)
      expect(answer(operation, request, scalarEngine), `${operation} without SIMD`).toEqual(first)
      // The first run of the three is without a cached geometry, the second adds it, the third uses it.
      for (const run of ['first', 'second', 'third']) {
        expect(answer(operation, request, cachingEngine), `${operation}, ${run} run with a cache`).toEqual(first)
      }
      const { units: __, ...result } = first
      expect(answerInBatch(operation, request), `${operation} in a batch`).toEqual(result)
    }
  })

  it('has this work, which is the same on every machine', () => {
    const work = (name: string, operation: OperationName, vertices: number): number => {
      const shape = COSTLY_SHAPES.find((candidate) => candidate.name === name)!
      return answer(operation, requestOf(operation, ...costlyPair(shape, vertices))!, engine, 1e9).units
    }
    expect(work('interlocking combs', 'distance', 2000)).toMatchInlineSnapshot(`7444`)
    expect(work('rings near the antipode', 'distance', 500)).toMatchInlineSnapshot(`2510`)
    expect(work('slanting combs', 'intersects', 2000)).toMatchInlineSnapshot(`12936`)
    expect(work('stars', 'area', 2000)).toMatchInlineSnapshot(`12899`)
    expect(work('zigzags that cross 10,000 times', 'contains', 2000)).toMatchInlineSnapshot(`1256`)
  })

  it('is rejected with its work and a remedy, and the limit decides', () => {
    const request = requestOf('distance', ...costlyPair(COSTLY_SHAPES[0]!, 2000))!
    const { units } = answer('distance', request, engine, 1e9)
    expect(answer('distance', request, engine, units + 1).problem).toBeUndefined()
    const { problem } = answer('distance', request, engine, 1000)
    expect(problem?.type).toBe('too-complex')
    expect(problem?.detail).toMatch(
      /^distance needs too much work: \d+ units of work were counted, and the limit is 1000$/,
    )
  })

  it('of the largest size needs little more work than the limit before it is rejected', () => {
    for (const name of LARGEST.filter((_, index) => index % stride === 0)) {
      const shape = COSTLY_SHAPES.find((candidate) => candidate.name === name)!
      for (const [operation, request] of requestsOf(...costlyPair(shape, 20_000))) {
        expect(answer(operation, request, engine).units, `${operation} of ${name}`).toBeLessThan(1.5 * limits.maxWork)
      }
    }
  })
})

describe('a request of ordinary shape', () => {
  it('needs less than half of the limit, whatever its size', () => {
    const coast = (count: number, seed: number, lon: number): Geometry => polygon(fractalCoast(count, seed, lon, 40))
    const pairs: readonly (readonly [string, Geometry, Geometry])[] = [
      ['apart', coast(24_990, 1, 0), coast(24_990, 2, 14)],
      ['far apart', coast(24_990, 1, -90), coast(24_990, 2, 80)],
      ['that overlap', coast(24_990, 1, 0), coast(24_990, 2, 4)],
      ['one in the other', coast(24_990, 1, 0), polygon(fractalCoast(24_990, 2, 0, 40, 1))],
      ['of 49,980 vertices and a point', coast(49_980, 3, 0), { type: 'Point', coordinates: [20, 40] }],
      ['and itself', coast(24_990, 5, 0), coast(24_990, 5, 0)],
      ['moved by a millionth of a degree', coast(24_990, 4, 0), coast(24_990, 4, 1e-6)],
    ]
    let [highest, which] = [0, '']
    for (const [name, a, b] of pairs) {
      for (const [operation, request] of requestsOf(a, b)) {
        const { units, problem } = answer(operation, request, engine)
        expect(problem, `${operation} of coastlines ${name}`).toBeUndefined()
        if (units > highest) [highest, which] = [units, `${operation} of coastlines ${name}`]
      }
    }
    console.log(
      `coastlines of 50,000 vertices need at most ${((100 * highest) / limits.maxWork).toFixed(1)} % of the limit: ${which}`,
    )
    expect(highest).toBeLessThan(limits.maxWork / 2)
  })
})
