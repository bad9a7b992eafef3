import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { readConfig } from '../../src/config/config.ts'
import { createGraphqlService } from '../../src/service/records/graphql.ts'
import type { ListResponse } from '../../src/service/records/record-services.ts'
import { eventually } from '../eventually.ts'

const LIST = { json: Buffer.from('{"data":[],"count":7,"limit":1,"offset":0}') }
const QUERY = new TextEncoder().encode('{"query":"{ locationRecords(limit: 1) { count } }"}')

/** A service whose lists are held back until `answer` is called. */
function startService() {
  const waiting: ((list: ListResponse) => void)[] = []
  const unused = () => {
    throw new RangeError('not part of these queries')
  }
  const records = {
    config: unused,
    record: unused,
    stats: unused,
    list: () => new Promise<ListResponse>((resolve) => waiting.push(resolve)),
  }
  let nowMs = 0
  const { post } = createGraphqlService({ config: readConfig({}, 2), records, now: () => nowMs })
  return {
    waiting,
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

  it('are rejected if their deadline has passed before their turn, and the next one runs', async () => {
    const { send, waiting, answer, passTime } = startService()
    const [first, late, next] = [send('busy'), send('busy', 100), send('busy')]
    const rejected = expect(late).rejects.toThrow(ProblemError)
    await eventually(() => expect(waiting).toHaveLength(1))
    passTime(500)
    answer()
    await first
    await rejected
    await eventually(() => expect(waiting).toHaveLength(1))
    answer()
    expect((await next).status).toBe(200)
  })
})
