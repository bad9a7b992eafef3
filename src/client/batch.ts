import type { BatchResponse, BatchResult } from '../types/generated.ts'
import { type InputLike, requireChain, submissionCall, toInput } from './forms.ts'
import { readJsonLines } from './lines.ts'
import type { CallOptions, Transport } from './transport.ts'
import { ConnectionError } from './transport.ts'

/** One operation of a batch. Inputs are as in single calls. */
export type BatchOperation = (
  | { readonly op: 'distance' | 'nearest'; readonly from: InputLike; readonly to: InputLike }
  | { readonly op: 'area' | 'length' | 'repair'; readonly geometry: InputLike }
  | {
      readonly op: 'contains'
      readonly container: InputLike
      readonly containee: InputLike
      /** By default, edges are straight lines in longitude and latitude. */
      readonly edges?: 'geodesic'
    }
  | {
      readonly op: 'intersects'
      readonly geometry1: InputLike
      readonly geometry2: InputLike
      /** As of `contains`. */
      readonly edges?: 'geodesic'
    }
  | { readonly op: 'within'; readonly geometry: InputLike; readonly target: InputLike; readonly radius: number }
  | {
      readonly op: 'equals' | 'disjoint' | 'touches' | 'crosses' | 'overlaps' | 'covers' | 'coveredBy'
      readonly geometry1: InputLike
      readonly geometry2: InputLike
    }
  | {
      readonly op: 'relate'
      readonly geometry1: InputLike
      readonly geometry2: InputLike
      /** Without it, the result is the matrix, which is not signed. */
      readonly pattern?: string
    }
  | {
      readonly op: 'direct'
      readonly from: InputLike
      /** Degrees clockwise from north. */
      readonly azimuthDegrees: number
      readonly distanceMeters: number
    }
  | { readonly op: 'waypoints'; readonly from: InputLike; readonly to: InputLike; readonly everyMeters: number }
  | { readonly op: 'buffer'; readonly geometry: InputLike; readonly radius: number; readonly toleranceMeters?: number }
) & {
  /** Returned with the result, unchanged. */
  readonly id?: string | number
  readonly chainId?: number
  readonly schema?: string
  readonly recipient?: string
}

export interface BatchOptions extends CallOptions {
  readonly chainId?: number | undefined
  readonly recipient?: string | undefined
  /** `each` (one signature per result), `merkle` (one signature for all results) or `none`. */
  readonly attest?: 'each' | 'merkle' | 'none' | undefined
  /** `consecutive` gives up to 40 results consecutive nonces, so that they can be submitted together. */
  readonly sequence?: 'same' | 'consecutive' | undefined
  /** Inputs that the items name: `{ named: 'zone' }` in an item stands for `geometries.zone`, which is sent once. At most 64. */
  readonly geometries?: Readonly<Record<string, InputLike>> | undefined
  /**
   * Asks the service to submit each result to the chain or, with `merkle`, their root; its operator must have enabled this. Without an
   * `idempotencyKey`, the call is not retried after 503 or a broken connection.
   */
  readonly submitOnchain?: boolean | undefined
  /** With `submitOnchain`: the same key stands for the same attestations, so a repeated call is paid for once. */
  readonly idempotencyKey?: string | undefined
}

export interface StreamOptions extends Pick<BatchOptions, 'chainId' | 'recipient' | keyof CallOptions> {
  /** A stream cannot use `merkle`: the root needs all items before the first result. */
  readonly attest?: 'each' | 'none' | undefined
  /** Items per request; default 256. */
  readonly chunkItems?: number | undefined
  /** Concurrent requests; default 2. */
  readonly concurrency?: number | undefined
}

export interface Batch {
  /** Sends up to 10,000 operations in one request. An item that is rejected has `error` instead of a result. */
  run(items: readonly BatchOperation[], options?: BatchOptions): Promise<BatchResponse>
  /**
   * Sends any number of operations and yields the results in the order of the items, as they arrive.
   *
   * Items are sent as lines, `chunkItems` per request, so memory use does not grow with their number. When a connection breaks,
   * nothing is lost: items without a result are sent again.
   */
  stream(
    items: Iterable<BatchOperation> | AsyncIterable<BatchOperation>,
    options?: StreamOptions,
  ): AsyncGenerator<BatchResult, void, undefined>
}

const INPUT_MEMBERS = ['from', 'to', 'geometry', 'container', 'containee', 'target', 'geometry1', 'geometry2']
const DEFAULT_CHUNK_ITEMS = 256
const DEFAULT_CONCURRENCY = 2
/** Maximum number of characters of the lines of one request. A longer line is sent in a request with no others. */
const MAX_CHUNK_CHARACTERS = 512 * 1024

export function createBatch(transport: Transport, defaultChainId: number | undefined): Batch {
  return {
    async run(items, options = {}) {
      const { recipient, attest, sequence, submitOnchain } = options
      const chainId = requireChain(options.chainId ?? defaultChainId)
      const { members, ...call } = submitOnchain === true ? submissionCall(options) : {}
      const geometries = options.geometries && toNamedInputs(options.geometries)
      const envelope = { chainId, recipient, attest, sequence, ...members, geometries }
      const body = JSON.stringify({ ...envelope, items: items.map(toItem) })
      return transport.json<BatchResponse>({ method: 'POST', path: '/compute/v0/batch', body, ...call }, options)
    },
    async *stream(items, options = {}) {
      const path = `/compute/v0/batch?${buildQuery(options, defaultChainId)}`
      const aborter = new AbortController()
      const signal = options.signal === undefined ? aborter.signal : AbortSignal.any([options.signal, aborter.signal])
      const chunks = cutChunks(items, options.chunkItems ?? DEFAULT_CHUNK_ITEMS)
      const pending: Promise<BatchResult[]>[] = []
      let isExhausted = false
      try {
        while (true) {
          while (!isExhausted && pending.length < (options.concurrency ?? DEFAULT_CONCURRENCY)) {
            const { done, value: lines } = await chunks.next()
            isExhausted = done === true
            if (done === true) break
            const results = sendChunk(path, lines, { ...options, signal })
            results.catch(() => {}) // awaited below, but an earlier one may fail first
            pending.push(results)
          }
          const results = pending.shift()
          if (results === undefined) return
          yield* await results
        }
      } finally {
        aborter.abort(new ConnectionError('the stream was closed by its reader'))
        await chunks.return()
      }
    },
  }

  async function sendChunk(path: string, lines: readonly string[], options: CallOptions): Promise<BatchResult[]> {
    const results: BatchResult[] = []
    await sendLines(transport, { path, lines, take: (result) => results.push(result) }, options)
    return results
  }
}

/**
 * Sends lines of a stream and takes a result for every line, in order. When a connection breaks, the lines without a result are
 * sent again; only attempts that bring no new result count as failures.
 *
 * @throws {ApiError} when the service rejects the whole request
 * @throws {ConnectionError} when the attempts are used up
 * @throws the signal's reason when the signal aborted the call
 */
export async function sendLines<Result = BatchResult>(
  transport: Transport,
  { path, lines, take }: { path: string; lines: readonly string[]; take: (result: Result) => void },
  options: CallOptions,
): Promise<void> {
  const maxFailures = transport.maxRetries(options)
  let received = 0
  for (let failures = 0; received < lines.length; ) {
    const before = received
    try {
      const body = `${lines.slice(before).join('\n')}\n`
      const call = { method: 'POST', path, body, contentType: 'application/x-ndjson' } as const
      const response = await transport.open(call, options)
      for await (const result of readJsonLines<Result>(response.pieces())) {
        if (received++ === lines.length) throw new RangeError('the service returned more lines than it was sent')
        take(result)
      }
      if (received < lines.length) throw new ConnectionError('the stream ended before its last result')
    } catch (error) {
      if (options.signal?.aborted === true) throw options.signal.reason
      if (!(error instanceof ConnectionError)) throw error
      failures = received > before ? 0 : failures + 1
      if (failures > maxFailures) throw error
      await transport.pause(failures, options)
    }
  }
}

function toNamedInputs(geometries: Readonly<Record<string, InputLike>>): object {
  return Object.fromEntries(Object.entries(geometries).map(([name, input]) => [name, toInput(input)]))
}

/** Returns the item as it is sent. */
export function toItem(item: BatchOperation): object {
  const members = Object.entries(item).map(([name, value]) => {
    return [name, INPUT_MEMBERS.includes(name) ? toInput(value as InputLike) : value] as const
  })
  return Object.fromEntries(members)
}

async function* cutChunks(
  items: Iterable<BatchOperation> | AsyncIterable<BatchOperation>,
  chunkItems: number,
): AsyncGenerator<string[], void, undefined> {
  if (!Number.isInteger(chunkItems) || chunkItems < 1)
    throw new RangeError('chunkItems must be a whole number of at least 1')
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

function buildQuery({ chainId, recipient, attest }: StreamOptions, defaultChainId: number | undefined): string {
  const query = new URLSearchParams()
  const chain = chainId ?? defaultChainId
  if (chain !== undefined) query.set('chainId', String(chain)) // without it, each line must have its own
  if (recipient !== undefined) query.set('recipient', recipient)
  if (attest !== undefined) query.set('attest', attest)
  return query.toString()
}
