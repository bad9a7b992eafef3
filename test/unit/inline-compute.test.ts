import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/compute/engine.ts'
import { runComputeTask } from '../../src/compute/task.ts'
import { readConfig } from '../../src/config/config.ts'
import { startComputePool } from '../../src/threads/compute-pool.ts'
import type { ComputeBatch } from '../../src/wire/compute-messages.ts'
import { createInlineCompute } from '../../workers/inline.ts'
import { mutate, SEEDS } from '../mutated-bodies.ts'

const limits = {
  maxVertices: 50_000,
  maxParts: 10_000,
  maxCollectionDepth: 8,
  maxJsonDepth: 32,
  maxWork: 20_000,
  maxPreparedBytes: 1_048_576,
  chainIds: [84532],
}
const inlineLimits = { ...limits, maxVertices: 16, maxParts: 4, maxWork: 64 }
const timestampSeconds = 1_700_000_000
const toBody = (value: object) => Buffer.from(JSON.stringify(value))
const line = (vertices: number, lat: number) => ({
  type: 'LineString',
  coordinates: Array.from({ length: vertices }, (_, index) => [index, lat + (index % 2)]),
})

describe('computing on the main thread', () => {
  it('gives the same result as a compute thread, or none', () => {
    const compute = createInlineCompute(inlineLimits)
    const engine = createEngine(limits)
    let computedCount = 0
    for (let index = 0; index < 6000; index++) {
      const [operation, seed] = SEEDS[index % SEEDS.length]!
      const task = {
        operation,
        body: index < SEEDS.length ? Buffer.from(seed) : mutate(seed),
        resolved: [],
        timestampSeconds,
      }
      const inlineResult = compute(task)
      if (inlineResult === undefined) continue
      computedCount++
      expect(inlineResult).toEqual(runComputeTask(task, engine, limits))
    }
    expect(computedCount).toBeGreaterThan(500)
  })

  it.each([
    ['more vertices than its own limit', 'length', { geometry: line(17, 0) }],
    ['more exact solutions than its own limit', 'distance', { from: line(12, -60), to: line(12, 60) }],
    [
      'an area whose long edges pass near many vertices',
      'area',
      {
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [0, 40],
              [60, 40.01],
              [1, 40.02],
              [59, 40.03],
              [2, 40.04],
              [58, 40.05],
              [3, 40.06],
              [57, 40.07],
              [4, 40.08],
              [70, 41],
              [70, 39],
              [0, 40],
            ],
          ],
        },
      },
    ],
    [
      'an invalid request',
      'length',
      {
        geometry: {
          type: 'LineString',
          coordinates: [
            [0, 91],
            [0, 0],
          ],
        },
      },
    ],
  ] as const)('leaves this to the compute threads: %s', (_, operation, body) => {
    const compute = createInlineCompute(inlineLimits)
    const task = { operation, body: toBody({ chainId: 84532, ...body }), resolved: [], timestampSeconds }
    expect(compute(task)).toBeUndefined()
    const distance = { from: { type: 'Point', coordinates: [0, 0] }, to: { type: 'Point', coordinates: [0, 1] } }
    expect(compute({ ...task, operation: 'distance', body: toBody({ chainId: 84532, ...distance }) })?.type).toBe(
      'computed',
    )
  })
})

describe('a service without compute threads', () => {
  it('computes with a new kernel after a failure that may have broken the last one', async () => {
    let runners = 0
    const runWork = async (runner: unknown, work: unknown) => {
      // The first runner of either lane fails.
      if ((runner as number) <= 2) throw new Error('the kernel aborted')
      const result = (work as ComputeBatch).heads.map(
        () => ({ type: 'unresolved', chainId: runner as number, inputs: [] }) as const,
      )
      return { result, costs: [0, 0] }
    }
    const pool = await startComputePool(readConfig({ COMPUTE_THREADS: '0' }, 1), {
      chainIds: [84532],
      evidence: { pluginUrls: [] } as never,
      modules: {
        compute: async () => ({ createComputeRunner: async () => ++runners, runWork }),
        inline: () => import('../../workers/inline.ts'),
      },
    })
    const task = { operation: 'distance', body: toBody({}), resolved: [], timestampSeconds } as const
    const charged: string[] = []
    const costs = { charge: (resource: string, amount: number) => void charged.push(amount > 0 ? resource : '') }
    const job = { task, client: undefined, costs, deadlineMs: Number.POSITIVE_INFINITY, isAborted: () => false }
    expect(runners).toBe(2)
    // The failed task is sent again.
    expect(await pool.runSmall(job)).toMatchObject({ chainId: 3 })
    expect(await pool.runSmall(job)).toMatchObject({ chainId: 3 })
    expect(await pool.runLarge(job)).toMatchObject({ chainId: 4 })
    // The time of the failed tasks is charged. The others report what they cost: here nothing.
    expect(charged).toEqual(['cpu-ms', '', '', '', '', '', 'cpu-ms', '', '', ''])
    await pool.close()
  })
})
