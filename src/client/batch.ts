import type { BatchResponse, BatchResult } from '../types/generated.ts'
import { ConnectionError } from './api-error.ts'
import { requireChain } from './compute.ts'
import { type InputLike, toInput } from './inputs.ts'
import { valuesOf } from './lines.ts'
import type { CallOptions, Transport } from './transport.ts'

/** One operation of a batch, inputs as in single calls. */
export type BatchOperation = (
  | { readonly op: 'distance'; readonly from: InputLike; readonly to: InputLike }
  | { readonly op: 'area' | 'length'; readonly geometry: InputLike }
  | { readonly op: 'contains'; readonly container: InputLike; readonly containee: InputLike }
  | { readonly op: 'within'; readonly geometry: InputLike; readonly target: InputLike; readonly radius: number }
  | { readonly op: 'intersects'; readonly geometry1: InputLike; readonly geometry2: InputLike }
) & {
  /** Comes back with the result. */
  readonly id?: string | number
  readonly chainId?: number
  readonly schema?: string
  readonly recipient?: string
}

export interface BatchOptions extends CallOptions {
  readonly chainId?: number | undefined
  readonly recipient?: string | undefined
  /** `each` (one signature a result), `merkle` (one for all) or `none`. */
  readonly attest?: 'each' | 'merkle' | 'none' | undefined
  /** `consecutive`: nonces for up to 40 results that are submitted together. */
  readonly sequence?: 'same' | 'consecutive' | undefined
}

export interface StreamOptions extends Pick<BatchOptions, 'chainId' | 'recipient' | keyof CallOptions> {
  /** A stream has no root over all: that needs all items before the first answer. */
  readonly attest?: 'each' | 'none' | undefined
  /** Items in one request; 256. */
  readonly chunkItems?: number | undefined
  /** Requests under way at once; 2. */
  readonly concurrency?: number | undefined
}

export interface Batch {
  /** Up to 10,000 operations in one request; what is refused has `error` in its place. */
  run(items: readonly BatchOperation[], options?: BatchOptions): Promise<BatchResponse>
  /**
   * Any number of operations, results in their order as they come.
   *
   * The items travel as lines, `chunkItems` a request, so what is held at once does not grow with their number, and a
   * connection that breaks loses nothing: items without an answer are sent again.
   */
  stream(
    items: Iterable<BatchOperation> | AsyncIterable<BatchOperation>,
    options?: StreamOptions,
  ): AsyncGenerator<BatchResult, void, undefined>
}

const INPUT_MEMBERS = ['from', 'to', 'geometry', 'container', 'containee', 'target', 'geometry1', 'geometry2']
const DEFAULT_CHUNK_ITEMS = 256
const DEFAULT_CONCURRENCY = 2
/** A request is closed before its lines have more characters; one longer line still goes alone. */
const MAX_CHUNK_CHARACTERS = 512 * 1024

export function createBatch(transport: Transport, clientChainId: number | undefined): Batch {
  return {
    async run(items, options = {}) {
      const { recipient, attest, sequence } = options
      const chainId = requireChain(options.chainId ?? clientChainId)
      const body = JSON.stringify({ chainId, recipient, attest, sequence, items: items.map(toItem) })
      return transport.json<BatchResponse>({ method: 'POST', path: '/compute/v0/batch', body }, options)
    },
    async *stream(items, options = {}) {
      const path = `/compute/v0/batch?${queryOf(options, clientChainId)}`
      const stopper = new AbortController()
      const signal = options.signal === undefined ? stopper.signal : AbortSignal.any([options.signal, stopper.signal])
      const chunks = chunksOf(items, options.chunkItems ?? DEFAULT_CHUNK_ITEMS)
      const underWay: Promise<BatchResult[]>[] = []
      let isExhausted = false
      try {
        while (true) {
          while (!isExhausted && underWay.length < (options.concurrency ?? DEFAULT_CONCURRENCY)) {
            const { done, value: lines } = await chunks.next()
            isExhausted = done === true
            if (done === true) break
            const results = sendChunk(path, lines, { ...options, signal })
            results.catch(() => {}) // it is awaited below, perhaps after one before it has failed
            underWay.push(results)
          }
          const results = underWay.shift()
          if (results === undefined) return
          yield* await results
        }
      } finally {
        stopper.abort(new ConnectionError('the stream was left'))
        await chunks.return()
      }
    },
  }

  /** Every line's answer. What a broken connection leaves without one is sent again, as long as there is progress. */
  async function sendChunk(path: string, lines: readonly string[], options: CallOptions): Promise<BatchResult[]> {
    const results: BatchResult[] = []
    const most = transport.retriesOf(options)
    for (let failures = 0; results.length < lines.length; ) {
      const before = results.length
      try {
        const body = `${lines.slice(before).join('\n')}\n`
        const call = { method: 'POST', path, body, contentType: 'application/x-ndjson' } as const
        const answer = await transport.open(call, options)
        for await (const result of valuesOf<BatchResult>(answer.pieces())) results.push(result)
        if (results.length > lines.length) throw new RangeError('the service answered more lines than it was sent')
        if (results.length < lines.length) throw new ConnectionError('the stream ended before its last answer')
      } catch (error) {
        if (options.signal?.aborted === true) throw options.signal.reason
        if (!(error instanceof ConnectionError)) throw error
        failures = results.length > before ? 0 : failures + 1
        if (failures > most) throw error
        await transport.pause(failures, options)
      }
    }
    return results
  }
}

function toItem(item: BatchOperation): object {
  const members = Object.entries(item).map(([name, value]) => {
    return [name, INPUT_MEMBERS.includes(name) ? toInput(value as InputLike) : value] as const
  })
  return Object.fromEntries(members)
}

async function* chunksOf(
  items: Iterable<BatchOperation> | AsyncIterable<BatchOperation>,
  chunkItems: number,
): AsyncGenerator<string[], void, undefined> {
  if (!Number.isInteger(chunkItems) || chunkItems < 1) throw new RangeError('chunkItems is a whole number from 1 on')
  let lines: string[] = []
  let characters = 0
  for await (const item of items) {
    const line = JSON.stringify(toItem(item))
    if (lines.length > 0 && characters + line.length > MAX_CHUNK_CHARACTERS) {
      yield lines
      lines = []
      characters = 0
    }
    lines.push(line)
    characters += line.length
    if (lines.length === chunkItems) {
      yield lines
      lines = []
      characters = 0
    }
  }
  if (lines.length > 0) yield lines
}

function queryOf({ chainId, recipient, attest }: StreamOptions, clientChainId: number | undefined): string {
  const query = new URLSearchParams()
  const chain = chainId ?? clientChainId
  if (chain !== undefined) query.set('chainId', String(chain)) // without it each line names its own
  if (recipient !== undefined) query.set('recipient', recipient)
  if (attest !== undefined) query.set('attest', attest)
  return query.toString()
}
