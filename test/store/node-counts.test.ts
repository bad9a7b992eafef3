/** Hourly limits that nodes share over a real PostgreSQL server. Each node is a limiter with its own connection. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { POSTGRES, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { HourTable } from '../../src/base/hour-table.ts'
import { Metrics } from '../../src/base/metrics.ts'
import { readConfig } from '../../src/config/config.ts'
import { CostLimiter, createBudgets } from '../../src/http/access/cost-limit.ts'
import { NodeCounts } from '../../src/http/access/node-counts.ts'
import { RateLimiter, takeQuota } from '../../src/http/access/rate-limit.ts'
import { openClientHours } from '../../src/store/client-hours.ts'
import { migrate } from '../../src/store/migrations.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { eventually } from '../eventually.ts'

const NODES = 10
const LIMIT = 100

describe.skipIf(POSTGRES === undefined)('nodes that share hourly limits in PostgreSQL', () => {
  let cluster: PostgresCluster
  let nodes: Node[] = []
  const options = (timeoutMs: number) => ({
    url: cluster.url,
    connectTimeoutMs: 10_000,
    writeTimeoutMs: timeoutMs,
    onLost: () => {},
  })
  const open = () => openPostgres({ ...options(60_000), readers: 1, writers: 1, readTimeoutMs: 60_000 })
  const query = async (statement: string) => {
    const database = await open()
    try {
      return await database.transaction((session) => session.query(statement))
    } finally {
      await database.close()
    }
  }
  const storedRequests = async (subject: string) =>
    (await query(`select used from client_hour where kind = 'requests' and subject = '${subject}'`))[0]?.['used']

  /** @param waitMs long by default, so that a busy machine does not count as a database that is away */
  function startNodes(count: number, { waitMs = 60_000, clockErrorMs = 0 } = {}): Node[] {
    nodes = Array.from({ length: count }, (_, index) => new Node(options, waitMs, index === 0 ? clockErrorMs : 0))
    return nodes
  }

  beforeAll(async () => {
    cluster = await startCluster({ fsync: 'off' })
    const database = await open()
    await migrate(database)
    await database.close()
  })
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.counts.close()))
    nodes = []
  })
  afterAll(() => cluster?.remove())

  it('answer exactly the limit together, however the requests fall, and whatever the clock of one of them says', async () => {
    const running = startNodes(NODES, { clockErrorMs: 600_000 })
    const takeEverywhere = async (each: number) => {
      const taken = await Promise.all(running.flatMap((node) => Array.from({ length: each }, () => node.take('a'))))
      return taken.reduce((sum, one) => sum + one, 0)
    }
    let answered = 0
    // The first round leaves something, and the blocks of nodes that are idle come back.
    for (const each of [3, 1, 2, 40]) answered += await takeEverywhere(each)
    await eventually(async () => {
      answered += await takeEverywhere(1)
      expect(answered).toBeGreaterThanOrEqual(LIMIT)
    })
    answered += await takeEverywhere(50)
    expect(answered).toBe(LIMIT)
    expect(await storedRequests('a')).toBe(LIMIT)
    const endSeconds = running.map((node) => node.limiter.open('a', node.now()).endSeconds - node.now() / 1000)
    for (const seconds of endSeconds) expect(Math.abs(seconds - endSeconds[1]!)).toBeLessThan(120)
  })

  it('return what they did not use, at the latest when they stop', async () => {
    const [one, other] = startNodes(2) as [Node, Node]
    expect(await one.take('b')).toBe(1)
    await eventually(async () => expect(await storedRequests('b')).toBe(1))
    expect(one.wanted).toEqual([LIMIT / 20, 1 - LIMIT / 20])
    expect(await other.take('b')).toBe(1)
    await Promise.all(nodes.map((node) => node.counts.close()))
    nodes = []
    expect(await storedRequests('b')).toBe(2)
  })

  it('take the items of batches as one, and grant what is left', async () => {
    const [one, other] = startNodes(2) as [Node, Node]
    expect(await Promise.all([one.take('c', 70), other.take('c', 20)])).toEqual([70, 20])
    expect((await one.take('c', 8)) + (await other.take('c', 8))).toBe(10)
  })

  it('lose the hours that have ended without waiting for those that a node changes', async () => {
    const database = await open()
    try {
      await database.transaction(async (session) => {
        await session.query(`insert into client_hour (kind, subject, ends, cap, used, vertices, cpu_ms, granted)
          select 'requests', 'ended ' || number, 1, 100, 1, 0, 0, 0 from generate_series(1, 30000) as number`)
      })
      const other = await open()
      await other.transaction(async (session) => {
        await session.query("update client_hour set used = 2 where subject = 'ended 7'")
        await createRecordStore(database, () => '').maintain(undefined)
        expect(await query("select subject from client_hour where subject like 'ended %'")).toEqual([
          { subject: 'ended 7' },
        ])
      })
      await other.close()
    } finally {
      await database.close()
    }
  })

  it('begin an hour again when it has ended by the clock of the database', async () => {
    const [one, other] = startNodes(2) as [Node, Node]
    expect(await one.take('d', LIMIT)).toBe(LIMIT)
    expect(await other.take('d')).toBe(0)
    await query('update client_hour set ends = ends - 3600')
    await eventually(async () => expect(await other.take('d', LIMIT)).toBe(LIMIT))
  })

  it('answer at most a tenth more while the database is away, and tell it afterwards', async () => {
    const running = startNodes(NODES, { waitMs: 5000 })
    await eventually(() => expect(running.map((node) => node.counts.shareAway(LIMIT))).toEqual(Array(NODES).fill(1)))
    const before = await Promise.all(running.map((node) => node.take('e', 10)))
    const grantedBefore = before.reduce((sum, one) => sum + one, 0)
    await cluster.stop()
    await eventually(() => expect(running.every((node) => node.counts.isAway)).toBe(true))
    const away = await Promise.all(running.flatMap((node) => Array.from({ length: 50 }, () => node.take('e'))))
    const answered = grantedBefore + away.reduce((sum, one) => sum + one, 0)
    expect(answered).toBeGreaterThan(grantedBefore)
    expect(answered).toBeLessThanOrEqual(LIMIT * 1.1)
    await cluster.start()
    await eventually(async () => expect(await storedRequests('e')).toBeGreaterThanOrEqual(answered))
    await eventually(() => expect(running.some((node) => node.counts.isAway)).toBe(false))
  })

  it('report costs, so that a budget is one budget for all', async () => {
    const [one, other] = startNodes(2) as [Node, Node]
    one.cost('f').charge('vertices', 600)
    other.cost('f').charge('vertices', 500)
    // Both have told what they charged; a later report also returns what the others have told.
    let own = 500
    await eventually(() => {
      own += 10
      other.cost('f').charge('vertices', 10)
      expect(other.cost('f').used('vertices')).toBeGreaterThanOrEqual(600 + own)
    })
    expect(other.cost('f').usedUp()?.resource).toBe('vertices')
    await eventually(() => {
      one.cost('f').charge('vertices', 10)
      expect(one.cost('f').usedUp()?.resource).toBe('vertices')
    })
  })
})

/** The limiters of one node. */
class Node {
  readonly counts: NodeCounts
  readonly limiter: RateLimiter
  readonly #costs: CostLimiter
  readonly now: () => number
  /** What the node has asked for; negative: returned. */
  readonly wanted: number[] = []

  constructor(
    options: (timeoutMs: number) => Parameters<typeof openClientHours>[0],
    waitMs: number,
    clockErrorMs: number,
  ) {
    this.now = () => Date.now() + clockErrorMs
    const connection = openClientHours(options(waitMs))
    const hours: typeof connection = {
      ...connection,
      change: (changes) => {
        this.wanted.push(...changes.map(({ want }) => want))
        return connection.change(changes)
      },
    }
    this.counts = new NodeCounts({ hours, now: this.now, waitMs, excessPercent: 10 })
    this.limiter = new RateLimiter(new HourTable(1000), this.counts)
    this.#costs = new CostLimiter(new HourTable(1000), this.counts)
    this.counts.listen((counts) => this.#costs.receive(counts, this.now()))
  }

  async take(subject: string, requests = 1): Promise<number> {
    return takeQuota(this.limiter.open(subject, this.now()), LIMIT, requests)
  }

  cost(subject: string) {
    return this.#costs.open(subject, BUDGET, this.now())
  }
}

const BUDGET = createBudgets(readConfig({ COST_LIMIT_PUBLIC: 'vertices=1000' }, 1), new Metrics()).public
