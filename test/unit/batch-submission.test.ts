import { describe, expect, it, vi } from 'vitest'
import { pack } from '../../src/base/bytes.ts'
import { ProblemError } from '../../src/base/problem.ts'
import { readConfig } from '../../src/config/config.ts'
import { BatchRun } from '../../src/service/batch/batch.ts'
import { type BatchServiceParts, createBatchService, shareLimits } from '../../src/service/batch/batches.ts'
import { submitEach } from '../../src/service/batch/submit.ts'
import type { BatchContext } from '../../src/service/request.ts'
import { NO_STORED_GEOMETRIES } from '../../src/service/stored/geometries.ts'
import type { ComputeChunk } from '../../src/wire/batch-messages.ts'
import { runChunk, SCHEMAS } from '../chunk-runner.ts'

const CHAIN_ID = 84532
const point = (lon: number) => ({ type: 'Point', coordinates: [lon, 0] })
const itemsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ op: 'distance', id: index, from: point(0), to: point(index + 1) }))
const batchOf = (count: number) =>
  Buffer.from(
    JSON.stringify({
      chainId: CHAIN_ID,
      attest: 'merkle',
      options: { submitOnchain: true },
      items: itemsOf(count),
    }),
  )

/** @param changes of the parts that a test looks at */
function createParts(changes: object = {}): BatchServiceParts {
  return {
    config: readConfig({}, 1),
    chains: {
      defaultSchema: (kind: keyof typeof SCHEMAS) => SCHEMAS[kind],
      require: () => ({ id: CHAIN_ID }),
      requireForBatch: () => {},
    },
    signer: { address: `0x${'11'.repeat(20)}` },
    storedShapes: NO_STORED_GEOMETRIES,
    pool: { runChunk: async ({ chunk }: { chunk: ComputeChunk }) => runChunk([], chunk) },
    now: Date.now,
    ...changes,
  } as unknown as BatchServiceParts
}

const createContext = (changes: Partial<BatchContext> = {}): BatchContext => ({
  client: 'one',
  aborted: false,
  deadlineMs: Number.POSITIVE_INFINITY,
  takeQuota: (items) => items,
  countItems: () => {},
  costProblem: () => undefined,
  quotaProblem: { type: 'rate-limited', detail: 'the limit is reached' },
  problemJson: (problem) => JSON.stringify(problem),
  report: () => {},
  ...changes,
})

describe('results that are submitted one by one', () => {
  // Regression: the response was 500, and the client could not know the submissions of the other items.
  it('are answered even if one of them fails with an unexpected error, which is logged', async () => {
    const broken = new TypeError('a bug')
    const report = vi.fn()
    const parts = createParts({
      answers: {
        sign: async (
          _computed: unknown,
          _proofs: unknown,
          id: string,
          { submit }: { submit: (p: object) => Promise<object> },
        ) => ({
          json: `{${id}"submission":${JSON.stringify(await submit({}))}}`,
        }),
      },
      submissions: {
        submit: async (_payload: unknown, _caller: unknown, _context: unknown, index: number) => {
          if (index === 1) throw broken
          return { id: `s${index}` }
        },
      },
    })
    const options = {
      chainId: CHAIN_ID,
      recipient: undefined,
      attest: 'each',
      sequence: 'same',
      submitOnchain: true,
    } as const
    const run = new BatchRun(parts, options, createContext({ report }))
    const items = pack(itemsOf(3).map((item) => Buffer.from(JSON.stringify(item))))
    const unused = async () => {
      throw new Error('nothing is repeated')
    }
    const results = (await submitEach(run, [await run.compute(items, 0)], unused, parts)).map((json) =>
      JSON.parse(json),
    )
    expect(results).toEqual([
      { id: 0, submission: { id: 's0' } },
      {
        id: 1,
        error: {
          type: 'internal',
          detail: expect.stringMatching(/^items\[1\]: something failed on our side/),
          invalidParts: [{ pointer: '#/items/1', detail: expect.any(String) }],
        },
      },
      { id: 2, submission: { id: 's2' } },
    ])
    expect(run.tally.failed).toBe(1)
    expect(report.mock.calls).toEqual([[broken]])
  })
})

describe('a batch whose root is submitted', () => {
  /** Runs a batch until its tree would be built. @returns the steps that were done, and the problem of the batch */
  async function answer(count: number, context: BatchContext, runSecond: (chunk: ComputeChunk) => unknown) {
    const steps: string[] = []
    const parts = createParts({
      pool: {
        runChunk: async ({ chunk }: { chunk: ComputeChunk }) => {
          steps.push('chunk')
          return chunk.firstIndex === 0 ? runChunk([], chunk) : runSecond(chunk)
        },
        runTree: async () => {
          steps.push('tree')
          throw new ProblemError({ type: 'overloaded', detail: 'the end of this test' })
        },
      },
      submissions: { require: () => {}, maxBatchItems: 100 },
    })
    const sink = { write: () => {}, addHeaders: () => {} }
    const ended = createBatchService(shareLimits(parts)).batch(batchOf(count), context, sink)
    const error = await ended.catch((error: unknown) => error)
    if (!(error instanceof ProblemError)) throw error
    return { steps, problem: error.data }
  }

  it('is refused before anything is computed if the quota does not cover all items', async () => {
    const asked: unknown[] = []
    const takeQuota = (items: number, isWhole?: boolean) => {
      asked.push([items, isWhole])
      return 2
    }
    const { steps, problem } = await answer(3, createContext({ takeQuota }), (chunk) => runChunk([], chunk))
    expect(asked).toEqual([[3, true]])
    expect(steps).toEqual([])
    expect(problem).toMatchObject({
      type: 'rate-limited',
      detail: expect.stringContaining('items: has 3 items'),
      invalidParts: [{ pointer: '#/items', code: 'limit' }],
    })
  })

  it.each([
    ['has a full queue', () => new ProblemError({ type: 'overloaded', detail: 'the queue is full' }), 'overloaded'],
    ['dies', () => new Error('the thread died'), 'internal'],
  ] as const)(
    'is refused if the thread of some items %s: repeated, it would have another root',
    async (_, error, type) => {
      const { steps, problem } = await answer(300, createContext(), () => {
        throw error()
      })
      expect(steps).not.toContain('tree')
      expect(problem).toMatchObject({
        type,
        detail: expect.stringMatching(
          /^items\[\d+\]: .*; the root was not submitted: send the same request again later$/,
        ),
      })
    },
  )

  it('is refused if its client uses up a budget in the middle', async () => {
    const used = { type: 'rate-limited', detail: 'the budget is used up' } as const
    let chunks = 0
    const costProblem = () => (chunks++ === 0 ? undefined : used)
    const { steps, problem } = await answer(300, createContext({ costProblem }), (chunk) => runChunk([], chunk))
    expect(steps).not.toContain('tree')
    expect(problem).toMatchObject({
      type: 'rate-limited',
      detail: expect.stringContaining('the root was not submitted'),
    })
  })

  it('has a tree if all items are computed', async () => {
    const { steps } = await answer(300, createContext(), (chunk) => runChunk([], chunk))
    expect(steps.at(-1)).toBe('tree')
  })
})
