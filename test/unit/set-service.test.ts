import { afterEach, describe, expect, it, vi } from 'vitest'
import { createEngine } from '../../src/compute/engine.ts'
import { runSetTask } from '../../src/compute/sets.ts'
import { readConfig } from '../../src/config/config.ts'
import { pack } from '../../src/service/jobs/packing.ts'
import type { BatchContext } from '../../src/service/request.ts'
import { createSetService, type SetParts } from '../../src/service/stored/sets.ts'
import type { ChunkJob, ComputePool } from '../../src/threads/compute-pool.ts'
import type { StoreClient } from '../../src/threads/store-client.ts'

const config = readConfig({}, 2)
const engine = createEngine({ ...config.limits, chainIds: [84532] })
const FEATURE = '{"type":"Feature","id":"Paris","properties":{},"geometry":{"type":"Point","coordinates":[2,48]}}'
const LINE = Buffer.from('{"type":"Point","coordinates":[2,48]}\n')
const SET = {
  id: 'id',
  name: 'zones',
  count: 1,
  vertices: 1,
  bytes: 100,
  createdMs: 0,
  expiresMs: Number.MAX_SAFE_INTEGER,
}
const client = { client: 'a', aborted: false, deadlineMs: Number.POSITIVE_INFINITY }

/** A service whose store has one set of one point, which it returns only when `release` is called. */
async function makeService() {
  const asked: { operation: string; argument: Record<string, unknown> }[] = []
  const state = { nowMs: 1_800_000_000_000, matches: 0, release: () => {} }
  const released = new Promise<void>((resolve) => {
    state.release = resolve
  })
  const stored = await pack(Buffer.from(`${FEATURE}\n`))
  const store = {
    untilOpen: async () => {},
    async ask(operation: string, argument: Record<string, unknown>) {
      asked.push({ operation, argument })
      if (operation === 'useSet') return SET
      if (operation === 'createSet') return true
      if (operation === 'publishSet') return SET
      if (operation === 'appendSet') return { outcome: 'stored' }
      if (operation !== 'readSetChunk') return undefined
      await released
      return { count: 1, stored }
    },
  } as unknown as StoreClient
  const run = async ({ chunk }: ChunkJob<Parameters<typeof runSetTask>[0]>) => {
    if (chunk.type === 'match') state.matches++
    return runSetTask(chunk, engine, { ...config.limits, chainIds: [84532] })
  }
  const pool = { runFeatures: run, runIndex: run, runMatch: run } as unknown as ComputePool
  const parts = { config, pool, now: () => state.nowMs } as unknown as SetParts
  const countOf = (operation: string) => asked.filter((each) => each.operation === operation).length
  return { sets: createSetService(parts, store), asked, countOf, state }
}

/** Sends a point, and returns what is written. */
function match({ sets }: Awaited<ReturnType<typeof makeService>>) {
  const written: string[] = []
  const context: BatchContext = {
    ...client,
    account: 'a',
    takeQuota: (items) => items,
    costProblem: () => undefined,
    countItems: () => {},
    quotaProblem: { type: 'rate-limited', detail: '' },
    report: () => {},
    problemJson: ({ detail }) => JSON.stringify(detail),
  }
  const sink = {
    addHeaders() {},
    write: (piece: string | Uint8Array) => void written.push(Buffer.from(piece).toString()),
  }
  const stream = sets.openMatch('zones', '', context, sink, () => {})
  stream.take(LINE)
  return { stream, written }
}

afterEach(() => void vi.useRealTimers())

describe('a match whose set is being read', () => {
  it('is 503 before its time limit, and the next one finds the set that was read on', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const service = await makeService()
    const first = match(service)
    const outcome = first.stream.answered.catch((error) => error.data)
    first.stream.end(false)
    await vi.advanceTimersByTimeAsync(config.limits.requestDeadlineMs - 1)
    expect(await outcome).toMatchObject({
      type: 'overloaded',
      detail: expect.stringContaining('being read'),
      retryAfterSeconds: 1,
    })
    // It joins the reading of the first one.
    const second = match(service)
    second.stream.end(false)
    service.state.release()
    await second.stream.answered
    expect(second.written).toEqual(['{"matches":[{"feature":"Paris"}]}\n'])
    expect([service.countOf('readSetChunk'), first.written, service.state.matches]).toEqual([1, [], 1])
  })

  it('waits while the client still sends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const service = await makeService()
    const { stream, written } = match(service)
    await vi.advanceTimersByTimeAsync(10 * config.limits.requestDeadlineMs)
    service.state.release()
    stream.end(false)
    await stream.answered
    expect(written).toEqual(['{"matches":[{"feature":"Paris"}]}\n'])
  })
})

describe('the upload of a set', () => {
  it('is held while the client sends slowly, for an hour', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const service = await makeService()
    const { asked, countOf, state } = service
    const beginMs = state.nowMs
    const upload = service.sets.openUpload('zones', { account: 'a' }, client, () => {})
    await vi.waitFor(() => expect(countOf('createSet')).toBe(1))
    let expiresMs = asked.find(({ operation }) => operation === 'createSet')!.argument['expiresMs'] as number
    const minuteMs = 60_000
    expect(expiresMs).toBe(beginMs + minuteMs)
    while (state.nowMs < beginMs + 59 * minuteMs) {
      state.nowMs += minuteMs / 4
      await vi.advanceTimersByTimeAsync(minuteMs / 4)
      expiresMs = asked.at(-1)!.argument['expiresMs'] as number
      expect(expiresMs).toBe(state.nowMs + minuteMs)
    }
    state.nowMs += minuteMs / 2
    await vi.advanceTimersByTimeAsync(minuteMs / 2)
    expect(asked.at(-1)!.argument['expiresMs']).toBe(beginMs + 60 * minuteMs)
    upload.take(Buffer.from(`${FEATURE}\n`))
    upload.end(false)
    await upload.response
    const held = countOf('holdSet')
    await vi.advanceTimersByTimeAsync(10 * minuteMs)
    expect(countOf('holdSet')).toBe(held)
    state.release()
  })

  it('ends when its connection breaks', async () => {
    const service = await makeService()
    const upload = service.sets.openUpload('zones', { account: 'a' }, client, () => {})
    upload.take(Buffer.from(`${FEATURE}\n`))
    upload.end(true)
    await expect(upload.response).rejects.toMatchObject({ data: { detail: 'the upload of the set broke off' } })
    expect([service.countOf('dropSet'), service.countOf('publishSet')]).toEqual([1, 0])
  })
})
