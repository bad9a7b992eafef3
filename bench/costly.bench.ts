/**
 * Searches for the requests that cost most: processor time of one request for a catalogue of adversarial shapes and all
 * operations, at the largest size that a body may have. Prints the milliseconds, the units of work that were counted, and how
 * many units were counted per microsecond, which shows whether the weights of the counters fit.
 *
 * Then it changes the most costly requests at random and keeps what costs more. `BENCH_COSTLY` with a part of a shape's name runs
 * only these shapes; `BENCH_COSTLY_STEPS` is the number of random changes.
 */

import { countWork, Work } from '../src/base/work.ts'
import { createEngine } from '../src/compute/engine.ts'
import { runComputeTask } from '../src/compute/task.ts'
import { readConfig } from '../src/config/config.ts'
import type { Geometry } from '../src/types/generated.ts'
import type { OperationName } from '../src/wire/values.ts'
import { COSTLY_OPERATIONS, COSTLY_SHAPES, type CostlyShape, costlyPair, requestOf } from '../test/costly-shapes.ts'
import { seededNumbers } from '../test/near-touch-cases.ts'

const CHAIN_ID = 84532
const config = readConfig({}, 1)
const limits = { ...config.limits, chainIds: [CHAIN_ID] }
const { kernel, keccak } = createEngine(limits)
/** Without a cache of prepared geometries, so that every run does all of the work. */
const engine = { kernel, keccak, limits }

export interface CostlyResult {
  readonly shape: string
  readonly operation: OperationName
  readonly bytes: number
  readonly milliseconds: number
  readonly units: number
  readonly outcome: string
}

/** Prints and returns the cost of every shape and operation. */
export function run(): object {
  const selected = COSTLY_SHAPES.filter(({ name }) => name.includes(process.env['BENCH_COSTLY'] ?? ''))
  const results = selected.flatMap((shape) => COSTLY_OPERATIONS.flatMap((operation) => measureShape(shape, operation)))
  results.sort((a, b) => b.milliseconds - a.milliseconds)
  console.log('\nThe most costly:\n')
  for (const result of results.slice(0, 20)) print(result)
  return { results, climbed: climb(results) }
}

/** Steps of the search that changes the most costly requests at random and keeps what costs more. */
const STEPS = Number(process.env['BENCH_COSTLY_STEPS'] ?? 40)

/** Searches for requests that cost more than the catalogue's, by scaling, shearing and moving its most costly shapes. */
function climb(results: readonly CostlyResult[]): readonly CostlyResult[] {
  const random = seededNumbers(11)
  const best = results.slice(0, 6).map((result) => ({ result, matrix: [1, 0, 0, 1, 0, 0] }))
  console.log(`\nAfter ${STEPS} random changes:\n`)
  for (let step = 0; step < STEPS && best.length > 0; step++) {
    const entry = best[step % best.length]!
    const matrix = entry.matrix.map((value, i) =>
      i < 4 ? value + (random() - 0.5) / 2 : value + 40 * (random() - 0.5),
    )
    const shape = COSTLY_SHAPES.find(({ name }) => name === entry.result.shape)!
    const pair = (vertices: number) => {
      const [a, b] = shape.pair(vertices)
      return [transform(a, matrix), transform(b, matrix)] as const
    }
    const body = largestBody({ ...shape, pair }, entry.result.operation)
    const result = measure(entry.result.shape, entry.result.operation, body!)
    if (result.milliseconds > entry.result.milliseconds) Object.assign(entry, { result, matrix })
  }
  for (const { result } of best) print(result)
  return best.map(({ result }) => result)
}

/** Moves every position by an affine map; positions that leave the globe end at its edge. */
function transform(geometry: Geometry, [a, b, c, d, lon, lat]: readonly number[]): Geometry {
  const clamp = (value: number, most: number) => Math.max(-most, Math.min(most, value))
  return JSON.parse(JSON.stringify(geometry), (_, value) => {
    if (!Array.isArray(value) || typeof value[0] !== 'number') return value
    const [x, y] = value as [number, number]
    return [clamp(a! * x + b! * y + lon!, 180), clamp(c! * x + d! * y + lat!, 90)]
  })
}

function measureShape(shape: CostlyShape, operation: OperationName): CostlyResult[] {
  const body = largestBody(shape, operation)
  if (body === undefined) return []
  const small = bodyOf(shape, operation, 1000)!
  for (let i = 0; i < 3; i++) runBody(operation, small)
  const result = measure(shape.name, operation, body)
  print(result)
  return [result]
}

function print({ shape, operation, bytes, milliseconds, units, outcome }: CostlyResult): void {
  const cost = `${milliseconds.toFixed(0).padStart(6)} ms ${String(units).padStart(9)} units ${((1000 * milliseconds) / units).toFixed(2)} µs each`
  console.log(`${cost} ${Math.round(bytes / 1024)} KiB  ${operation.padEnd(10)} ${shape}: ${outcome}`)
}

function measure(shape: string, operation: OperationName, body: Uint8Array): CostlyResult {
  let milliseconds = Number.POSITIVE_INFINITY
  let outcome = ''
  let units = 0
  for (let i = 0; i < 2; i++) {
    const before = process.cpuUsage()
    const work = new Work(Number.POSITIVE_INFINITY)
    outcome = countWork(work, () => runBody(operation, body))
    units = work.units
    const { user, system } = process.cpuUsage(before)
    milliseconds = Math.min(milliseconds, (user + system) / 1000)
    if (milliseconds > 1000) break
  }
  return { shape, operation, bytes: body.byteLength, milliseconds, units, outcome }
}

function runBody(operation: OperationName, body: Uint8Array): string {
  const task = { operation, body: body.slice(), resolved: [], timestampSeconds: 1_760_000_000 }
  const result = runComputeTask(task, engine, limits)
  if (result.type === 'problem') return `${result.problem.type} ${result.problem.detail.slice(0, 90)}`
  return result.type === 'computed' ? result.members.slice(0, 40) : result.type
}

function bodyOf(shape: CostlyShape, operation: OperationName, vertices: number): Uint8Array | undefined {
  const isSingle = operation === 'area' || operation === 'length'
  const [a, b] = costlyPair(shape, isSingle ? vertices : vertices / 2)
  const request = requestOf(operation, a, b)
  return request === undefined ? undefined : Buffer.from(JSON.stringify({ chainId: CHAIN_ID, ...request }))
}

/** The largest body of a shape within the limits. */
function largestBody(shape: CostlyShape, operation: OperationName): Uint8Array | undefined {
  const most = Math.min(shape.mostVertices ?? limits.maxVertices, limits.maxVertices) - 40
  let vertices = most
  for (;;) {
    const body = bodyOf(shape, operation, vertices)
    if (body === undefined || body.byteLength <= limits.maxBodyBytes) return body
    vertices = Math.floor((vertices * limits.maxBodyBytes * 0.995) / body.byteLength)
  }
}
