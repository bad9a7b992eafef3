import type { Hex } from '../wire/values.ts'

/* Parses and writes values of JSON-RPC. */

/** Formats an integer as JSON-RPC writes it. */
export function toQuantity(number: number): string {
  return `0x${number.toString(16)}`
}

/**
 * Parses an integer below 2⁵³.
 *
 * @throws {RpcError} on anything else
 */
export function parseQuantity(value: unknown): number {
  const number = Number(parseBigQuantity(value))
  if (Number.isSafeInteger(number)) return number
  throw new RpcError('the JSON-RPC quantity is too large')
}

/**
 * Parses an integer of at most 256 bits.
 *
 * @throws {RpcError} on anything else
 */
export function parseBigQuantity(value: unknown): bigint {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value)
  throw new RpcError('not a JSON-RPC quantity')
}

/**
 * Parses 32 bytes.
 *
 * @returns lower case
 * @throws {RpcError} on anything else
 */
export function parseBytes32(value: unknown): Hex {
  if (typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value)) return value.toLowerCase() as Hex
  throw new RpcError('not 32 bytes of JSON-RPC data')
}

/**
 * How a request to an endpoint failed. `silent`: no connection. `late`: it timed out. `status`: an HTTP status without JSON, or
 * too many requests. `too-large`: the response exceeds the limit. `malformed`: not a usable JSON-RPC response. `error`: the
 * endpoint returned a JSON-RPC error.
 */
export type RpcFailure = 'silent' | 'late' | 'status' | 'too-large' | 'malformed' | 'error'

/** Thrown when an endpoint gives no usable response. Messages never contain its URL, because that may contain an API key. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  /** Code of the JSON-RPC error; 3 means that a call reverted. */
  readonly code: number | undefined
  readonly failure: RpcFailure
  /** The endpoint's message of a JSON-RPC error. Only the program may read it: never log it, it may repeat the URL. */
  readonly endpointMessage: string

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly code?: number
      readonly failure?: RpcFailure
      readonly endpointMessage?: string
    } = {},
  ) {
    super(message, options)
    this.code = options.code
    this.failure = options.failure ?? (options.code === undefined ? 'malformed' : 'error')
    this.endpointMessage = options.endpointMessage ?? ''
  }
}

/**
 * Tells whether an endpoint's response cannot be true: another chain, no contract where one must be, other data than was
 * requested, or no JSON-RPC. An error that the endpoint reports itself, such as an exceeded quota, does not count.
 */
export function isInvalidResponse({ failure, code, endpointMessage }: RpcError): boolean {
  return failure === 'malformed' || (code === 3 && endpointMessage === '')
}

interface RpcOptions {
  /** http or https. */
  readonly url: string
  readonly timeoutMs: number
  readonly maxResponseBytes: number
}

/** Something that handles JSON-RPC requests. */
export interface Rpc {
  /**
   * Sends a request and returns its result.
   *
   * @throws {RpcError} when the response is late, malformed or an error
   */
  request(method: string, params: readonly unknown[]): Promise<unknown>
}

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export type RpcResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: RpcError }

/** An `Rpc` that can send several calls in one message. */
export interface RpcClient extends Rpc {
  /**
   * Sends several calls in one message.
   *
   * @returns the results in the order of the calls; a call that failed has its error instead of a value
   * @throws {RpcError} when the whole message fails
   */
  requestAll(calls: readonly RpcCall[]): Promise<readonly RpcResult[]>
}

/** One of several endpoints of a chain, for calls that must all go to the same endpoint. */
export interface RpcEndpoint extends RpcClient {
  /** Counts from 1 in the order of the configuration. Messages use it because addresses may be secret. */
  readonly index: number
}

/** Error texts of a temporary limit, as opposed to an endpoint that does not support batches. */
const RATE_LIMIT_ERROR = /\brate\b|too many|quota|credits|throttl/i
/** Calls sent concurrently to an endpoint that does not support batches. */
const MAX_CONCURRENT_CALLS = 10

/** A client of one JSON-RPC endpoint over HTTP. */
export class HttpRpc implements RpcClient {
  readonly #options: RpcOptions
  readonly #url: URL | string
  readonly #headers: Record<string, string> = { 'content-type': 'application/json' }
  #nextId = 1
  #supportsBatches = true

  constructor(options: RpcOptions) {
    this.#options = options
    const url = URL.canParse(options.url) ? new URL(options.url) : undefined
    // `fetch` rejects credentials in a URL, so they go into a header.
    const credentials = [url?.username ?? '', url?.password ?? ''].map(decodePercent).join(':')
    if (url !== undefined) Object.assign(url, { username: '', password: '' })
    if (credentials !== ':') this.#headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`
    this.#url = url ?? options.url
  }

  async request(method: string, params: readonly unknown[]): Promise<unknown> {
    const id = this.#nextId++
    const response = await this.#exchange(method, { jsonrpc: '2.0', id, method, params })
    const outcome = readResponse(method, id, response)
    if (!outcome.ok) throw outcome.error
    return outcome.value
  }

  async requestAll(calls: readonly RpcCall[]): Promise<readonly RpcResult[]> {
    if (calls.length === 0) return []
    if (!this.#supportsBatches || calls.length === 1) return this.#sendSeparately(calls)
    const firstId = this.#nextId
    this.#nextId += calls.length
    const name = `${calls.length} × ${calls[0]!.method}`
    const responses = await this.#exchange(
      name,
      calls.map(({ method, params }, index) => ({ jsonrpc: '2.0', id: firstId + index, method, params })),
    )
    if (!Array.isArray(responses)) {
      const { error } = (responses ?? {}) as { error?: { code?: unknown; message?: unknown } }
      if (RATE_LIMIT_ERROR.test(String(error?.message)))
        throw new RpcError(`${name}: too many requests`, { failure: 'status' })
      // One error for the whole array: this endpoint, or its pricing plan, does not support batches.
      this.#supportsBatches = false
      return this.#sendSeparately(calls)
    }
    const byId = new Map(responses.map((response: { id?: unknown } | null) => [response?.id, response]))
    return calls.map(({ method }, index) => readResponse(method, firstId + index, byId.get(firstId + index)))
  }

  async #sendSeparately(calls: readonly RpcCall[]): Promise<readonly RpcResult[]> {
    const results: RpcResult[] = []
    for (let start = 0; start < calls.length; start += MAX_CONCURRENT_CALLS) {
      const batch = calls
        .slice(start, start + MAX_CONCURRENT_CALLS)
        .map(async ({ method, params }): Promise<RpcResult> => {
          try {
            return { ok: true, value: await this.request(method, params) }
          } catch (error) {
            if (error instanceof RpcError && error.failure === 'error') return { ok: false, error }
            throw error
          }
        })
      results.push(...(await Promise.all(batch)))
    }
    return results
  }

  async #exchange(name: string, message: unknown): Promise<unknown> {
    const { timeoutMs, maxResponseBytes } = this.#options
    let text: string
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(message),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      })
      text = await readText(response, maxResponseBytes)
      // Some nodes send a JSON-RPC error with a 4xx status. The error says more than the status.
      if (!response.ok && !/^\s*[{[]/.test(text)) {
        throw new RpcError(`${name}: status ${response.status}`, { failure: 'status' })
      }
    } catch (error) {
      if (error instanceof RpcError) throw error
      const isLate = (error as Error).name === 'TimeoutError'
      const reason = isLate ? `no response within ${timeoutMs} ms` : 'no connection'
      throw new RpcError(`${name}: ${reason}`, { failure: isLate ? 'late' : 'silent' })
    }
    try {
      return JSON.parse(text)
    } catch {
      throw new RpcError(`${name}: not JSON`)
    }
  }
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // the percent sign is literal
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new RpcError(`the response exceeds ${maxBytes} bytes`, { failure: 'too-large' })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Reads a JSON-RPC response to the call with this id.
 *
 * @throws {RpcError} when it is not one
 */
function readResponse(method: string, id: number, response: unknown): RpcResult {
  const { error, result, ...envelope } = (response ?? {}) as {
    id?: unknown
    result?: unknown
    error?: { code?: unknown; message?: unknown }
  }
  const code = error?.code
  if (typeof code === 'number') {
    const endpointMessage = typeof error?.message === 'string' ? error.message.slice(0, 1000) : ''
    return { ok: false, error: new RpcError(`${method}: error ${code}`, { code, endpointMessage }) }
  }
  if (envelope.id !== id || result === undefined) throw new RpcError(`${method}: not a JSON-RPC response`)
  return { ok: true, value: result }
}
