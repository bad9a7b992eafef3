import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { readConfig } from '../../src/config/config.ts'
import { createGraphqlService } from '../../src/service/records/graphql.ts'
import type { ListResponse } from '../../src/service/records/record-services.ts'
import { eventually } from '../eventually.ts'

const LIST = { json: Buffer.from('{"data":[],"count":7,"limit":1,"offset":0}') }
const QUERY = new TextEncoder().encode('{"query":"{ locationRecords(limit: 1) { count } }"}')

/** A service whose lists are held back until `answer` is called. */
function startService(environment: Readonly<Record<string, string>> = {}) {
  const waiting: ((list: ListResponse) => void)[] = []
  /** The largest number of bytes that each list may have. */
  const sizes: unknown[] = []
  const unused = () => {
    throw new RangeError('not part of these queries')
  }
  const records = {
    config: unused,
    record: unused,
    stats: unused,
    list: (...[, , , , , maxBytes]: unknown[]) => {
      sizes.push(maxBytes)
      return new Promise<ListResponse>((resolve) => waiting.push(resolve))
    },
  }
  let nowMs = 0
  const { post } = createGraphqlService({ config: readConfig(environment, 2), records, now: () => nowMs })
  return {
    waiting,
    sizes,
    post,
    send: (client: string, deadlineMs = 1000) => post(QUERY, { client, aborted: false, deadlineMs }),
    answer: () => waiting.shift()!(LIST),
    passTime: (ms: number) => {
      nowMs += ms
    },
  }
}

describe('the GraphQL queries of a client', () => {
  it('run one after another, and do not delay those of another client', async () => {
    const { send, waiting, answer } = startService()
    const answers = ['busy', 'busy', 'busy', 'other'].map((client) => send(client))
    await eventually(() => expect(waiting).toHaveLength(2))
    answer() // the first one of the busy client, whose second one then starts
    expect((await answers[0]!).json).toContain('"count":7')
    await eventually(() => expect(waiting).toHaveLength(2))
    answer()
    expect((await answers[3]!).json).toContain('"count":7')
    await eventually(() => expect(waiting).toHaveLength(1))
    answer()
    await answers[1]
    await eventually(() => expect(waiting).toHaveLength(1))
    answer()
    expect((await answers[2]!).status).toBe(200)
  })

  it('let other requests have their turn between them, even if all are rejected, and are charged', async () => {
    let chargedMs = 0
    const costs = {
      charge(_resource: string, amount: number) {
        chargedMs += amount
      },
    }
    const { post } = startService()
    const fields = 'locationRecordStats{total} '.repeat(100)
    const body = new TextEncoder().encode(JSON.stringify({ query: `{${fields}}` }))
    const context = { client: 'busy', aborted: false, deadlineMs: 1000, costs }
    let turns = 0
    let isDone = false
    const countTurns = () => {
      turns++
      if (!isDone) setImmediate(countTurns)
    }
    setImmediate(countTurns)
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(body, context)))
    isDone = true
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(400))
    expect(turns).toBeGreaterThanOrEqual(20)
    expect(chargedMs).toBeGreaterThan(0)
  })

  it('read no more bytes together than a query may, whatever its lists are called', async () => {
    const { post, waiting, sizes } = startService()
    const names = Array.from({ length: 5 }, (_, index) => `list${index}: locationRecords(limit: 1) { count }`)
    const query = new TextEncoder().encode(JSON.stringify({ query: `{${names.join(' ')}}` }))
    const answer = post(query, { client: 'one', aborted: false, deadlineMs: 1000 })
    const bytes = 1_000_000
    const list = { json: Buffer.from(`{"data":[],"count":7${' '.repeat(bytes - 21)}}`) }
    for (let index = 0; index < 5; index++) {
      await eventually(() => expect(waiting).toHaveLength(1))
      waiting.shift()!(list)
    }
    const { data, errors } = JSON.parse((await answer).json)
    expect(data).toBeNull()
    expect(errors).toMatchObject([{ message: expect.stringContaining('Page too large'), path: ['list4'] }])
    const left = 4 * 1_048_576 - 4 * bytes
    expect(sizes).toEqual([1_048_576, 1_048_576, 1_048_576, 1_048_576, left])
  })

  it('are rejected if their deadline has passed before their turn, and the next one runs', async () => {
    const { send, waiting, answer, passTime } = startService()
    const [first, late, next] = [send('busy'), send('busy', 100), send('busy')]
    const rejected = expect(late).rejects.toThrow(ProblemError)
    await eventually(() => expect(waiting).toHaveLength(1))
    passTime(150)
    answer()
    await first
    await rejected
    await eventually(() => expect(waiting).toHaveLength(1))
    answer()
    expect((await next).status).toBe(200)
  })

  it('are refused if they have waited too long at their turn, and the next one runs', async () => {
    const { send, waiting, answer, passTime } = startService({ MAX_QUEUE_MS: '200' })
    const outcomes = Array.from({ length: 20 }, () =>
      send('busy', 10_000).then(
        ({ status }) => status,
        ({ data }) => data.type,
      ),
    )
    // Each takes 100 ms. The fourth has waited for 300 ms, and 16 others wait. From then on 100 ms are too long.
    for (let count = 0; count < 3; count++) {
      await eventually(() => expect(waiting).toHaveLength(1))
      passTime(100)
      answer()
      await outcomes[count]
    }
    expect(await Promise.all(outcomes)).toEqual([...Array(3).fill(200), ...Array(17).fill('overloaded')])
    const next = send('busy', 10_000)
    await eventually(() => expect(waiting).toHaveLength(1))
    answer()
    expect((await next).status).toBe(200)
  })
})
