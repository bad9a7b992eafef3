/** How a question to an endpoint came to nothing. `error`: the endpoint answered with an error of JSON-RPC. */
export type RpcFailure = 'silent' | 'late' | 'status' | 'too-large' | 'malformed' | 'error'

/** Why an RPC gave no usable answer. Messages never hold its URL, for that may hold a key of the operator's. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  /** Code of a JSON-RPC error; 3 is a revert. */
  readonly code: number | undefined
  readonly failure: RpcFailure
  /** What the endpoint said of a JSON-RPC error. To be read by the program alone: it may repeat the URL. */
  readonly said: string

  constructor(
    message: string,
    options: ErrorOptions & { readonly code?: number; readonly failure?: RpcFailure; readonly said?: string } = {},
  ) {
    super(message, options)
    this.code = options.code
    this.failure = options.failure ?? (options.code === undefined ? 'malformed' : 'error')
    this.said = options.said ?? ''
  }
}

/**
 * True when an endpoint answered and the answer cannot be true: another chain, no contract where one must be, other data than was
 * asked for, no JSON-RPC. An error that the endpoint names itself, such as a quota, is not one.
 */
export function isWrongAnswer({ failure, code, said }: RpcError): boolean {
  return failure === 'malformed' || (code === 3 && said === '')
}

export interface RpcOptions {
  /** http or https. */
  readonly url: string
  readonly timeoutMs: number
  readonly maxResponseBytes: number
}

/** Who answers questions of JSON-RPC. */
export interface Rpc {
  /** @throws {RpcError} when there is no answer in time, none of the right form, or an error */
  request(method: string, params: readonly unknown[]): Promise<unknown>
}

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export type RpcAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: RpcError }

/** The same, with several questions in one message. */
export interface RpcClient extends Rpc {
  /**
   * @returns the answers in the order of the questions; one that was refused has its error in its place
   * @throws {RpcError} when the message as a whole came to nothing
   */
  requestAll(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]>
}

/** One of several endpoints of a chain, for questions whose answers must come from the same one. */
export interface RpcEndpoint extends RpcClient {
  /** Counts from 1 in the order of the configuration: names and addresses may be secrets. */
  readonly place: number
}

/** Refusals of one moment, not of arrays. */
const TOO_MANY = /\brate\b|too many|quota|credits|throttl/i
/** Questions asked at one time of an endpoint that takes no arrays of them. */
const SINGLE_AT_ONCE = 10

/** One JSON-RPC endpoint over HTTP. */
export function createRpc({ url, timeoutMs, maxResponseBytes }: RpcOptions): RpcClient {
  let nextId = 1
  let takesArrays = true
  // `fetch` takes no name and password in an address.
  const address = URL.canParse(url) ? new URL(url) : undefined
  const user = [address?.username ?? '', address?.password ?? ''].map(unescaped).join(':')
  if (address !== undefined) Object.assign(address, { username: '', password: '' })
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (user !== ':') headers['authorization'] = `Basic ${Buffer.from(user).toString('base64')}`
  return { request, requestAll }

  async function request(method: string, params: readonly unknown[]): Promise<unknown> {
    const id = nextId++
    const reply = await exchange(method, { jsonrpc: '2.0', id, method, params })
    const answer = answerOf(method, id, reply)
    if (!answer.ok) throw answer.error
    return answer.value
  }

  async function requestAll(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]> {
    if (calls.length === 0) return []
    if (!takesArrays || calls.length === 1) return oneByOne(calls)
    const firstId = nextId
    nextId += calls.length
    const name = `${calls.length} × ${calls[0]!.method}`
    const replies = await exchange(
      name,
      calls.map(({ method, params }, index) => ({ jsonrpc: '2.0', id: firstId + index, method, params })),
    )
    if (!Array.isArray(replies)) {
      const { error } = (replies ?? {}) as { error?: { code?: unknown; message?: unknown } }
      if (TOO_MANY.test(String(error?.message)))
        throw new RpcError(`${name}: too many questions`, { failure: 'status' })
      // An error for all of them: this endpoint, or its tariff, knows no arrays.
      takesArrays = false
      return oneByOne(calls)
    }
    const byId = new Map(replies.map((reply: { id?: unknown } | null) => [reply?.id, reply]))
    return calls.map(({ method }, index) => answerOf(method, firstId + index, byId.get(firstId + index)))
  }

  async function oneByOne(calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]> {
    const answers: RpcAnswer[] = []
    for (let start = 0; start < calls.length; start += SINGLE_AT_ONCE) {
      const some = calls.slice(start, start + SINGLE_AT_ONCE).map(async ({ method, params }): Promise<RpcAnswer> => {
        try {
          return { ok: true, value: await request(method, params) }
        } catch (error) {
          if (error instanceof RpcError && error.failure === 'error') return { ok: false, error }
          throw error
        }
      })
      answers.push(...(await Promise.all(some)))
    }
    return answers
  }

  async function exchange(name: string, message: unknown): Promise<unknown> {
    let text: string
    try {
      const response = await fetch(address ?? url, {
        method: 'POST',
        headers,
        body: JSON.stringify(message),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      })
      text = await readText(response, maxResponseBytes)
      // Some nodes answer a JSON-RPC error with a status of 4xx, and the error says more.
      if (!response.ok && !/^\s*[{[]/.test(text)) {
        throw new RpcError(`${name}: status ${response.status}`, { failure: 'status' })
      }
    } catch (error) {
      if (error instanceof RpcError) throw error
      const isLate = (error as Error).name === 'TimeoutError'
      const why = isLate ? `no answer in ${timeoutMs} ms` : 'no connection'
      throw new RpcError(`${name}: ${why}`, { failure: isLate ? 'late' : 'silent' })
    }
    try {
      return JSON.parse(text)
    } catch {
      throw new RpcError(`${name}: not JSON`)
    }
  }
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a percent sign that is one
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new RpcError(`answer of more than ${maxBytes} bytes`, { failure: 'too-large' })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** One reply of JSON-RPC as an answer to the question with this id. */
function answerOf(method: string, id: number, reply: unknown): RpcAnswer {
  const { error, result, ...rest } = (reply ?? {}) as {
    id?: unknown
    result?: unknown
    error?: { code?: unknown; message?: unknown }
  }
  const code = error?.code
  if (typeof code === 'number') {
    const said = typeof error?.message === 'string' ? error.message.slice(0, 1000) : ''
    return { ok: false, error: new RpcError(`${method}: error ${code}`, { code, said }) }
  }
  if (rest.id !== id || result === undefined) throw new RpcError(`${method}: not an answer of JSON-RPC`)
  return { ok: true, value: result }
}
