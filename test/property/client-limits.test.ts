/**
 * Hours of many clients of all tiers, through the code that limits them: in one process, in three processes of a machine, and on three
 * nodes. A third of the clients are accounts of wallets, which share network addresses. Only the clock and the database are played.
 */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { Metrics } from '../../src/base/metrics.ts'
import { readConfig } from '../../src/config/config.ts'
import { ClientLimits, type LimitedClient } from '../../src/http/access/client-limits.ts'
import { NodeCounts } from '../../src/http/access/node-counts.ts'
import { walletAddressSubject } from '../../src/http/access/rate-limit.ts'
import { type CountSharing, SharedCounts } from '../../src/http/access/shared-counts.ts'
import { CountTotals } from '../../src/processes/count-totals.ts'
import type { ClientHours, CountReport, HourChange, HourState } from '../../src/wire/process-messages.ts'
import { seededRandom } from '../random-geometry.ts'
import { scaled } from '../scale.ts'
import { SEED } from '../seeded.ts'

const NOON_MS = Date.UTC(2026, 0, 1, 12)
const HOUR_SECONDS = 3600
/** Of each of three tiers. `npm run test:long` tries 100,000. */
const CLIENTS = scaled(10_000)
/** Accounts of wallets at one network address. They could use 1.6 times the limit of the address. */
const ACCOUNTS_PER_ADDRESS = 16
const TIERS = ['public', 'developer', 'internal'] as const
const CONFIG = readConfig({}, 2)
const ADDRESS_LIMIT = CONFIG.walletAddress.requestsPerHour

/** The clients with their numbers: 0 to `CLIENTS - 1` are public, then come the accounts of wallets, then internal keys. */
function createClients({ budgets }: ClientLimits): LimitedClient[] {
  return TIERS.flatMap((tier, place) =>
    Array.from({ length: CLIENTS }, (_, index) => ({
      subject: tier === 'public' ? index : `${tier === 'developer' ? 'account' : 'key'}:${index}`,
      limit: CONFIG.requestsPerHour[tier],
      budget: budgets[tier],
      walletAddress: place === 1 ? walletAddressSubject(Math.floor(index / ACCOUNTS_PER_ADDRESS)) : undefined,
    })),
  )
}

/** What a limit allows, counted without the code under test. */
class Hours {
  readonly used: Float64Array
  readonly endSeconds: Float64Array
  /** What processes granted with their first request of the hour, when they had not heard of the others. */
  readonly unheard: Float64Array
  /** One bit for each process that has granted something in the hour. */
  readonly #seen: Uint8Array

  constructor(size: number) {
    this.used = new Float64Array(size)
    this.unheard = new Float64Array(size)
    this.#seen = new Uint8Array(size)
    this.endSeconds = new Float64Array(size)
  }

  /** Begins the hour of an entry if it has none. @returns what was used in it */
  open(index: number, nowMs: number): number {
    if (this.endSeconds[index]! * 1000 <= nowMs) {
      this.endSeconds[index] = Math.floor(nowMs / 1000) + HOUR_SECONDS
      this.used[index] = 0
      this.unheard[index] = 0
      this.#seen[index] = 0
    }
    return this.used[index]!
  }

  /** Counts what a process granted. @returns the share of the limit that was granted knowingly */
  grant(index: number, process: number, granted: number, limit: number): number {
    this.used[index]! += granted
    if ((this.#seen[index]! & (1 << process)) === 0 && this.#seen[index] !== 0) this.unheard[index]! += granted
    this.#seen[index]! |= 1 << process
    return (this.used[index]! - this.unheard[index]!) / limit
  }
}

const addressOf = (client: number) =>
  client >= CLIENTS && client < 2 * CLIENTS ? Math.floor((client - CLIENTS) / ACCOUNTS_PER_ADDRESS) : undefined
const newHours = () => ({ own: new Hours(3 * CLIENTS), address: new Hours(Math.ceil(CLIENTS / ACCOUNTS_PER_ADDRESS)) })

afterEach(() => {
  vi.useRealTimers()
})

it('grants exactly the limits in one process', () => {
  const random = seededRandom(SEED)
  const limits = new ClientLimits(CONFIG, new Metrics(), () => NOON_MS)
  const clients = createClients(limits)
  const hours = newHours()
  let nowMs = NOON_MS
  let wrong = 0
  let rejected = { own: 0, address: 0 }
  // Three hours and more: each client sends about twice its limit in each.
  const steps = 3 * CLIENTS * 24
  const stepMs = (3.5 * HOUR_SECONDS * 1000) / steps
  for (let step = 0; step < steps; step++) {
    nowMs += 2 * random() * stepMs
    const index = Math.floor(random() * clients.length)
    const client = clients[index]!
    const wanted = 1 + Math.floor((random() * client.limit) / 2)
    const at = Math.floor(nowMs)
    const address = addressOf(index)
    const room = client.limit - hours.own.open(index, at)
    const addressRoom =
      address === undefined ? Number.POSITIVE_INFINITY : ADDRESS_LIMIT - hours.address.open(address, at)
    const expected = Math.min(wanted, room, addressRoom)
    if (limits.take(client, wanted, at) !== expected) wrong++
    if (expected < wanted)
      rejected =
        room <= addressRoom ? { ...rejected, own: rejected.own + 1 } : { ...rejected, address: rejected.address + 1 }
    hours.own.used[index]! += expected
    if (address !== undefined) hours.address.used[address]! += expected
    // The headers tell what is left.
    if (step % 97 === 0) {
      const rate = limits.rate(client, at)
      if (rate.remaining !== Math.min(room, addressRoom) - expected) wrong++
      if (rate.resetSeconds * 1000 <= at) wrong++
    }
  }
  expect(wrong).toBe(0)
  expect(rejected.own).toBeGreaterThan(CLIENTS)
  expect(rejected.address).toBeGreaterThan(CLIENTS / 100)
})

/** Runs groups of requests whose clients and addresses differ, so that no two requests of a client are answered at the same time. */
async function runGroups(
  groups: number,
  nowOf: (group: number) => number,
  pause: () => Promise<void>,
  take: (client: number, wanted: number, nowMs: number) => Promise<void>,
): Promise<void> {
  const random = seededRandom(SEED + 7)
  const size = Math.max(1, Math.floor(CLIENTS / ACCOUNTS_PER_ADDRESS))
  for (let group = 0; group < groups; group++) {
    const nowMs = nowOf(group)
    const account = Math.floor(random() * ACCOUNTS_PER_ADDRESS)
    const taken: Promise<void>[] = []
    for (let place = 0; place < size; place++) {
      for (const [tier, name] of TIERS.entries()) {
        const index = tier * CLIENTS + Math.min(CLIENTS - 1, place * ACCOUNTS_PER_ADDRESS + account)
        const wanted = 1 + Math.floor((random() * CONFIG.requestsPerHour[name]) / 3)
        taken.push(take(index, wanted, nowMs))
      }
    }
    await pause()
    await Promise.all(taken)
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('grants at most a hundredth more for each further process, and rejects nobody too early', async () => {
  const totals = new CountTotals(1_000_000)
  let nowMs = NOON_MS
  const now = () => nowMs
  const copy = ({ type, counts }: CountReport): CountReport => ({
    type,
    counts: counts.map((entry) => ({ ...entry, amounts: [...entry.amounts] })),
  })
  /** Connects a process with the data process. Messages are copies, as over a socket. */
  const connect = () => {
    const listeners: ((message: never) => void)[] = []
    const back: ((message: never) => void)[] = []
    const toData = {
      on: (event: string, listener: (message: never) => void) => event === 'message' && listeners.push(listener),
      postMessage: (message: CountReport) => {
        for (const listener of back) listener(copy(message) as never)
      },
    }
    totals.serve(toData as never, now)
    return {
      on: (event: string, listener: (message: never) => void) => event === 'message' && back.push(listener),
      postMessage: (message: CountReport) => {
        for (const listener of listeners) listener(copy(message) as never)
      },
    }
  }
  const processes = Array.from(
    { length: 3 },
    () => new ClientLimits(CONFIG, new Metrics(), now, new SharedCounts(connect as never)),
  )
  const clients = createClients(processes[0]!)
  const hours = newHours()
  const most = { own: 0, address: 0 }
  let early = 0
  let rejected = 0
  const random = seededRandom(SEED + 11)
  await runGroups(
    3 * 75,
    (group) => {
      nowMs = NOON_MS + group * 55_000
      return nowMs
    },
    async () => {
      await turn()
      await turn()
    },
    async (index, wanted) => {
      const client = clients[index]!
      const address = addressOf(index)
      const used = hours.own.open(index, nowMs)
      const addressUsed = address === undefined ? 0 : hours.address.open(address, nowMs)
      const chosen = Math.floor(random() * 3)
      const granted = await processes[chosen]!.take(client, wanted, nowMs)
      most.own = Math.max(most.own, hours.own.grant(index, chosen, granted, client.limit))
      if (address !== undefined)
        most.address = Math.max(most.address, hours.address.grant(address, chosen, granted, ADDRESS_LIMIT))
      if (granted === wanted) return
      rejected++
      const isReached = used + granted >= client.limit || addressUsed + granted >= ADDRESS_LIMIT
      if (address === undefined ? used + granted < client.limit : !isReached) early++
    },
  )
  expect(rejected).toBeGreaterThan(CLIENTS / 100)
  expect(early).toBe(0)
  // docs/scaling.md#limits: a hundredth for each of two further processes, besides what is answered during a report.
  expect(most.own).toBeLessThanOrEqual(1.02)
  expect(most.address).toBeLessThanOrEqual(1.02)
})

/** The table `client_hour`, as the statement in `src/store/client-hours.ts` changes it. `test/store/node-counts.test.ts` has the real one. */
class PlayedHours implements ClientHours {
  readonly #rows = new Map<string, { ends: number; used: number }>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  async countNodes(): Promise<number> {
    return 3
  }

  async change(changes: readonly HourChange[]): Promise<readonly HourState[]> {
    const seconds = Math.floor(this.#now() / 1000)
    return changes.map(({ kind, subject, limit, want, amounts }) => {
      const key = `${kind} ${subject}`
      const known = this.#rows.get(key)
      const isLive = known !== undefined && known.ends > seconds
      const row = isLive ? known : { ends: seconds + HOUR_SECONDS, used: 0 }
      const before = row.used + amounts[0]!
      const fit = want < 0 ? (isLive ? want : 0) : Math.max(0, Math.min(want, limit - before))
      row.used = Math.max(0, before + fit)
      this.#rows.set(key, row)
      return { kind, subject, granted: fit, amounts: [row.used, 0, 0], secondsLeft: row.ends - seconds }
    })
  }
}

describe('three nodes', () => {
  it('grant exactly the limits together, once their unused blocks are back', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    let nowMs = NOON_MS
    const now = () => nowMs
    const hoursOfAll = new PlayedHours(now)
    const counts = Array.from(
      { length: 3 },
      () => new NodeCounts({ hours: hoursOfAll, now, waitMs: 60_000, excessPercent: 10 }),
    )
    const nodes = counts.map((shares) => new ClientLimits(CONFIG, new Metrics(), now, shares as CountSharing))
    const clients = createClients(nodes[0]!)
    const hours = newHours()
    const random = seededRandom(SEED + 13)
    let over = 0
    const take = async (index: number, wanted: number) => {
      const client = clients[index]!
      const address = addressOf(index)
      hours.own.open(index, nowMs)
      if (address !== undefined) hours.address.open(address, nowMs)
      const granted = await nodes[Math.floor(random() * 3)]!.take(client, wanted, nowMs)
      hours.own.used[index]! += granted
      if (hours.own.used[index]! > client.limit) over++
      if (address === undefined) return
      hours.address.used[address]! += granted
      if (hours.address.used[address]! > ADDRESS_LIMIT) over++
    }
    /** Lets the nodes ask the database until nobody waits. Each statement has up to 1,000 clients. */
    const settle = async () => {
      for (let turns = 0; turns < 8 + CLIENTS / 200; turns++) await turn()
    }
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 1000) {
        nowMs += 1000
        vi.advanceTimersByTime(1000)
        await settle()
      }
    }
    for (let hour = 0; hour < 2; hour++) {
      await runGroups(20, () => nowMs, settle, take)
      // What nodes hold and do not use comes back within two seconds. Then the rest of each limit can be had, and no more.
      for (let round = 0; round < 4; round++) {
        await pass(3000)
        const rest = Array.from({ length: Math.min(clients.length, 300) }, (_, place) =>
          take(Math.floor((place * clients.length) / Math.min(clients.length, 300)), 10_000),
        )
        await settle()
        await Promise.all(rest)
      }
      let short = 0
      for (let place = 0; place < Math.min(clients.length, 300); place++) {
        const index = Math.floor((place * clients.length) / Math.min(clients.length, 300))
        const address = addressOf(index)
        const isFull = hours.own.used[index] === clients[index]!.limit
        const isAddressFull = address !== undefined && hours.address.used[address] === ADDRESS_LIMIT
        if (!isFull && !isAddressFull) short++
      }
      expect(short).toBe(0)
      nowMs += HOUR_SECONDS * 1000
    }
    expect(over).toBe(0)
    await Promise.all(counts.map((one) => one.close()))
  })
})
