import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Feeder, operationComposer } from '../../src/cli/batch/feeder.ts'
import { JSON_LINES } from '../../src/cli/batch/output-format.ts'
import { sendItems } from '../../src/cli/batch/sender.ts'
import { FileWriter } from '../../src/cli/batch/writer.ts'
import type { BatchOperation } from '../../src/client/batch.ts'
import { ApiError } from '../../src/client/transport.ts'
import type { BatchResult } from '../../src/types/generated.ts'

const LIMIT = { type: 'about:blank', title: 'Rate Limited', status: 429, detail: 'the limit is reached' }
const AREAS = operationComposer({ operation: 'area', fixed: {}, radius: undefined })
const RING = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 0],
]

async function* source(count: number) {
  for (let number = 1; number <= count; number++) {
    yield [{ place: `line ${number}`, value: { type: 'Polygon', coordinates: [RING] } }]
  }
}

const resultOf = ({ id }: BatchOperation) => ({ id, result: Number(id) }) as unknown as BatchResult

/** Runs a batch of ten items in chunks of two, `concurrency` at once, whose chunks the service answers with `answers`. */
async function run(
  output: string,
  answers: (items: readonly BatchOperation[]) => AsyncIterable<BatchResult>,
  concurrency = 5,
) {
  const identity = { request: 'r', inputBytes: 1, inputHead: 'h' }
  const files = { output, errors: `${output}.errors`, format: JSON_LINES }
  const writer = new FileWriter(
    files,
    identity,
    false,
    () => 0,
    () => undefined,
  )
  const feeder = new Feeder(source(10), AREAS, () => {}, new Map(writer.from.ahead))
  await feeder.skip(writer.from.items)
  const sent: (string | number | undefined)[] = []
  const send = (items: readonly BatchOperation[]) => {
    sent.push(...items.map(({ id }) => id))
    return answers(items)
  }
  const flush = async () => {
    for (let entry = feeder.first; entry?.result !== undefined; entry = feeder.first) {
      if ('json' in entry.result) writer.result(entry, entry.result.json)
      feeder.settle()
    }
  }
  const outcome = await sendItems(feeder, { concurrency, chunkItems: 2, send, flush }).catch((error) => error)
  writer.saveAhead(feeder.answeredAhead)
  writer.close(outcome === undefined)
  const ids = readFileSync(output, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).id)
  return { outcome, sent, ids }
}

describe('chunks that race for the rest of the limit', () => {
  it.each([
    ['the whole first chunk is refused', new ApiError(LIMIT)],
    ['the connection of the first chunk breaks', new Error('broken')],
  ])('keep the results of later chunks when %s', async (_what, error) => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-sender-'))
    const output = join(folder, 'out.ndjson')
    const first = await run(output, async function* (items) {
      const number = Number(items[0]!.id)
      if (number === 1) throw error
      for (const item of items) yield item.id === 6 ? { id: 6, error: LIMIT } : resultOf(item)
    })
    expect(first.outcome).toEqual(error instanceof ApiError ? LIMIT : error)
    expect([first.ids, first.sent.length]).toEqual([[], 10])
    const second = await run(output, async function* (items) {
      yield* items.map(resultOf)
    })
    // Only the items without a result are sent again, and the output has the order of the input.
    expect(second).toEqual({ outcome: undefined, sent: [1, 2, 6], ids: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] })
    rmSync(folder, { recursive: true })
  })

  // Regression: a second interrupted run that had not read as far as the first lost the results that were farther ahead.
  it('keep the results of an earlier run that a second interrupted run has not read up to', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-sender-'))
    const output = join(folder, 'out.ndjson')
    await run(output, async function* (items) {
      if (Number(items[0]!.id) <= 3) throw new Error('broken')
      yield* items.map(resultOf)
    })
    // Two requests at once: the second run has read two chunks, items 1 to 4, when the first one fails.
    const second = await run(
      output,
      async function* (items) {
        if (items[0]!.id === 1) throw new Error('broken again')
        yield* items.map(resultOf)
      },
      2,
    )
    expect([second.ids, second.sent]).toEqual([[], [1, 2, 3, 4]])
    const third = await run(output, async function* (items) {
      yield* items.map(resultOf)
    })
    expect(third).toEqual({ outcome: undefined, sent: [1, 2], ids: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] })
    rmSync(folder, { recursive: true })
  })

  it('send no new chunk after a failure', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-sender-'))
    let calls = 0
    const { sent, outcome } = await run(join(folder, 'out.ndjson'), async function* (items) {
      if (++calls === 1) throw new ApiError(LIMIT)
      yield* items.map(resultOf)
    })
    expect([outcome, sent.length]).toEqual([LIMIT, 10])
    rmSync(folder, { recursive: true })
  })
})

// Regression: the text of all rejected items of a table was held in memory until an item was valid.
it('writes between groups of invalid items, of which none is sent', async () => {
  async function* invalid() {
    for (let number = 1; number <= 3; number++) yield [{ place: `line ${number}`, fault: 'is invalid' }]
  }
  let waiting = 0
  const written: number[] = []
  const feeder = new Feeder(invalid(), AREAS, () => waiting++)
  const flush = async () => {
    written.push(waiting)
    waiting = 0
  }
  const send = () => {
    throw new Error('nothing is sent')
  }
  await sendItems(feeder, { concurrency: 2, chunkItems: 2, send, flush })
  expect(written.filter((count) => count > 0)).toEqual([1, 1, 1])
})
