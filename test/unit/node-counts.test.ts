/** Hourly limits of one node, with a database that the tests play. `test/store/node-counts.test.ts` has a real one. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { HourTable } from '../../src/base/hour-table.ts'
import { NodeCounts } from '../../src/http/access/node-counts.ts'
import { RateLimiter, takeQuota } from '../../src/http/access/rate-limit.ts'
import type { HourChange } from '../../src/wire/process-messages.ts'

const WAIT_MS = 250
const LIMIT = 1000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Passes time in small steps, and lets what is due run in between. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    vi.advanceTimersByTime(50)
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
}

function startNode() {
  const database = {
    nodes: 3,
    answersReads: true,
    acceptsWrites: true,
    /** Duration of a change. */
    changeMs: 0,
    async countNodes() {
      if (!database.answersReads) throw new Error('the server is away')
      return database.nodes
    },
    async change(changes: readonly HourChange[]) {
      if (database.changeMs > 0) await new Promise((resolve) => setTimeout(resolve, database.changeMs))
      if (!database.answersReads || !database.acceptsWrites) throw new Error('cannot write in a read-only transaction')
      return changes.map(({ kind, subject, want, amounts }) => ({
        kind,
        subject,
        granted: Math.max(0, want),
        amounts: [Math.max(0, want), amounts[1] ?? 0, amounts[2] ?? 0],
        secondsLeft: 3000,
      }))
    },
  }
  const states: boolean[] = []
  const counts = new NodeCounts({
    hours: database,
    now: Date.now,
    waitMs: WAIT_MS,
    excessPercent: 10,
    onChange: (isAway) => states.push(isAway),
  })
  const limiter = new RateLimiter(new HourTable(1_000_000), counts)
  const take = (subject: string) => takeQuota(limiter.open(subject, Date.now()), LIMIT, 1)
  return { database, counts, states, take }
}

it('stays in one state while the database counts nodes but refuses changes', async () => {
  const { database, counts, states, take } = startNode()
  await pass(1100)
  database.acceptsWrites = false
  void take('a')
  await pass(5000)
  expect(counts.isAway).toBe(true)
  expect(states).toEqual([true])
  database.acceptsWrites = true
  await pass(2000)
  expect(counts.isAway).toBe(false)
  expect(states).toEqual([true, false])
  await counts.close()
})

it('keeps its share of a limit when the database has restarted and counts only this node', async () => {
  const { database, counts } = startNode()
  await pass(1100)
  const share = counts.shareAway(LIMIT)
  expect(share).toBe(33)
  database.answersReads = false
  await pass(5000)
  expect(counts.isAway).toBe(true)
  Object.assign(database, { answersReads: true, nodes: 1 })
  await pass(5000)
  expect(counts.isAway).toBe(false)
  expect(counts.shareAway(LIMIT)).toBe(share)
  // The other nodes do not come back: they were stopped.
  await pass(60_000)
  expect(counts.shareAway(LIMIT)).toBe(LIMIT)
  database.nodes = 4
  await pass(1100)
  expect(counts.shareAway(LIMIT)).toBe(25)
  await counts.close()
})

it('answers every request within the longest wait, however many clients wait for the database', async () => {
  const { database, counts, take } = startNode()
  await pass(1100)
  database.changeMs = 200
  let answered = 0
  const clients = 1500
  for (let client = 0; client < clients; client++) void Promise.resolve(take(`client ${client}`)).then(() => answered++)
  await pass(WAIT_MS)
  expect(answered).toBe(clients)
  expect(counts.isAway).toBe(false)
  database.changeMs = 0
  await pass(1000)
  await counts.close()
})

it('grants a request whose client has an older window that was forgotten with unused requests', async () => {
  const { database, counts } = startNode()
  const granted: number[] = []
  const returned: number[] = []
  const { change } = database
  database.change = async (changes) => {
    for (const { subject, want } of changes) if (subject === 'a') (want < 0 ? returned : granted).push(want)
    return change(changes)
  }
  // Room for one client: each other client makes it forget the one before.
  const limiter = new RateLimiter(new HourTable(1), counts)
  const take = (subject: string) => takeQuota(limiter.open(subject, Date.now()), LIMIT, 1)
  const first = take('a')
  await pass(50)
  expect(await first).toBe(1)
  await pass(900)
  // A change runs while the request waits and the older window becomes idle.
  database.changeMs = 100
  const others = take('c')
  await new Promise((resolve) => setImmediate(resolve))
  const second = take('a')
  await pass(1000)
  expect(await others).toBe(1)
  expect(await second).toBe(1)
  expect(counts.answeredAway).toBe(0)
  database.changeMs = 0
  await pass(3000)
  expect(granted).toHaveLength(2)
  // Both windows have returned what they did not use.
  expect(returned.reduce((sum, want) => sum - want, 0)).toBe(granted.reduce((sum, want) => sum + want, 0) - 2)
  await counts.close()
})
