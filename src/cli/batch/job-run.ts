/** Computes the items of a file as a job of the service, which goes on when this program is interrupted. */
import type { Client } from '../../client/client.ts'
import type { JobOptions } from '../../client/jobs.ts'
import { CommandError, EXIT } from '../exit-codes.ts'
import { formatCount, type Terminal } from '../terminal.ts'
import { type Feeder, toItemResult } from './feeder.ts'

interface JobRun {
  readonly client: Client
  readonly call: JobOptions
  /** Returns the items of the file from the first one on. */
  readonly openItems: () => Feeder
  /** Items whose results are in the output already. */
  readonly skippedItems: number
  readonly terminal: Terminal
}

/**
 * Uploads the operations of the file that the job does not have yet, and writes the results as they are computed.
 *
 * @param feeder the items without a result
 * @param flush writes the results at the front of the feeder
 */
export async function computeInJob(feeder: Feeder, flush: () => Promise<void>, run: JobRun): Promise<void> {
  const { client, call, openItems, skippedItems, terminal } = run
  const from = await countOperations(openItems(), skippedItems)
  const job = await client.jobs.create(operationsOf(openItems()), call)
  terminal.err(`job ${job.id} has ${formatCount(job.received, 'operation')}; it goes on if this command ends\n`)
  const results = client.jobs.results(job.id, { from, signal: call.signal })
  try {
    for await (const entries of feeder.unanswered()) {
      for (const entry of entries) {
        const { done, value } = await results.next()
        if (done === true) {
          const { state } = await client.jobs.state(job.id)
          const text = `job ${job.id} is ${state} and has no further results: --restart begins another one`
          throw new CommandError(EXIT.failed, text)
        }
        entry.result = toItemResult(value)
      }
      await flush()
    }
  } finally {
    await results.return()
  }
}

/** Yields the operations of the items, without invalid items. */
async function* operationsOf(items: Feeder) {
  try {
    for await (const entries of items.unanswered())
      for (const entry of entries) {
        yield entry.item!
        items.settle()
      }
  } finally {
    await items.close()
  }
}

/** Counts the operations among the first items of the file. */
async function countOperations(items: Feeder, count: number): Promise<number> {
  let operations = 0
  try {
    if (count === 0) return 0
    for await (const entries of items.unanswered())
      for (const entry of entries) {
        if (entry.number > count) return operations
        operations++
        items.settle()
      }
    return operations
  } finally {
    await items.close()
  }
}
