/** Sends the items of a batch to a service in chunks, several at once, and keeps every result that the service computed. */
import { ApiError } from '../../client/transport.ts'
import type { ProblemDetails } from '../../types/generated.ts'
import { type AnswerLine, type Entry, type Feeder, toItemResult } from './feeder.ts'

export interface SendOptions<Item> {
  /** Number of concurrent requests. */
  readonly concurrency: number
  /** Items per request. */
  readonly chunkItems: number
  /** Sends one chunk. @returns the results in the order of the items */
  readonly send: (items: readonly Item[]) => AsyncIterable<AnswerLine>
  /** Writes the results at the front of the feeder; called after each chunk, and after items that are not sent. */
  readonly flush: () => Promise<void>
}

/** A longer item is sent in a chunk of its own, which bounds the memory of the chunks in flight. */
const MAX_CHUNK_CHARACTERS = 512 * 1024

/**
 * Sends all items that have no result yet. After a failure it sends no more, but waits for the requests in flight: their items
 * count towards the limit, so their results are kept.
 *
 * @returns the problem of an item that failed temporarily; undefined if every item has a result
 * @throws what a request or the input threw, after the results in flight were written
 */
export async function sendItems<Item>(
  feeder: Feeder<Item>,
  options: SendOptions<Item>,
): Promise<ProblemDetails | undefined> {
  const { concurrency, chunkItems, send, flush } = options
  const chunks = cutChunks(feeder.unanswered(), chunkItems)
  const inFlight: Promise<void>[] = []
  let failure: { readonly problem: ProblemDetails } | { readonly error: unknown } | undefined
  const fail = (error: unknown) => {
    const isLimit = error instanceof ApiError && error.status === 429
    failure ??= isLimit ? { problem: error.problem } : { error }
  }
  const sendChunk = async (entries: readonly Entry<Item>[]) => {
    let index = 0
    for await (const result of send(entries.map(({ item }) => item!))) {
      const entry = entries[index++]
      if (entry === undefined) throw new RangeError('received more results than items')
      if (result.error !== undefined && isTemporary(result.error.status)) failure ??= { problem: result.error }
      else entry.result = toItemResult(result)
    }
  }
  try {
    for (let isExhausted = false; failure === undefined; ) {
      while (!isExhausted && inFlight.length < concurrency) {
        const { done, value } = await chunks.next()
        isExhausted = done === true
        if (done === true) break
        if (value.length === 0) await flush()
        else inFlight.push(sendChunk(value).catch(fail))
      }
      const oldest = inFlight.shift()
      if (oldest === undefined) break
      await oldest
      await flush()
    }
  } catch (error) {
    fail(error)
  }
  await Promise.all(inFlight)
  await flush()
  await chunks.return()
  if (failure !== undefined && 'error' in failure) throw failure.error
  return failure?.problem
}

/** Tells whether a status is temporary and says nothing about the item. */
function isTemporary(status: number): boolean {
  return status === 429 || status >= 500
}

/** Yields chunks, and an empty one for a group without items to be sent. */
async function* cutChunks<Item>(
  groups: AsyncIterable<readonly Entry<Item>[]>,
  chunkItems: number,
): AsyncGenerator<Entry<Item>[], void, undefined> {
  let chunk: Entry<Item>[] = []
  let characters = 0
  for await (const entries of groups) {
    if (entries.length === 0) yield []
    for (const entry of entries) {
      chunk.push(entry)
      characters += JSON.stringify(entry.item).length
      if (chunk.length < chunkItems && characters < MAX_CHUNK_CHARACTERS) continue
      yield chunk
      chunk = []
      characters = 0
    }
  }
  if (chunk.length > 0) yield chunk
}
