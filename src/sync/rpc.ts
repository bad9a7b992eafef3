/** Why an RPC gave no usable answer. Messages never hold its URL, for that may hold a key of the operator's. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  /** Code of a JSON-RPC error; 3 is a revert. */
  readonly code: number | undefined

  constructor(message: string, options: ErrorOptions & { readonly code?: number } = {}) {
    super(message, options)
    this.code = options.code
  }
}

export interface RpcOptions {
  /** http or https. */
  readonly url: string
  readonly timeoutMs: number
  readonly maxResponseBytes: number
}

/** One JSON-RPC endpoint. */
export interface Rpc {
  /** @throws {RpcError} when there is no answer in time, none of the right form, or an error */
  request(method: string, params: readonly unknown[]): Promise<unknown>
}

export function createRpc({ url, timeoutMs, maxResponseBytes }: RpcOptions): Rpc {
  let nextId = 1
  return {
    async request(method, params) {
      const id = nextId++
      let text: string
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
          redirect: 'error',
          signal: AbortSignal.timeout(timeoutMs),
        })
        text = await readText(response, maxResponseBytes)
        // Some nodes answer a JSON-RPC error with a status of 4xx, and the error says more.
        if (!response.ok && !text.startsWith('{')) throw new RpcError(`${method}: status ${response.status}`)
      } catch (error) {
        if (error instanceof RpcError) throw error
        const why = (error as Error).name === 'TimeoutError' ? `no answer in ${timeoutMs} ms` : 'no connection'
        throw new RpcError(`${method}: ${why}`)
      }
      return resultOf(method, id, text)
    },
  }
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw new RpcError(`answer of more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function resultOf(method: string, id: number, text: string): unknown {
  let reply: { id?: unknown; result?: unknown; error?: { code?: unknown } } | null
  try {
    reply = JSON.parse(text)
  } catch {
    throw new RpcError(`${method}: not JSON`)
  }
  const code = reply?.error?.code
  if (typeof code === 'number') throw new RpcError(`${method}: error ${code}`, { code })
  if (reply?.id !== id || reply.result === undefined) throw new RpcError(`${method}: not an answer of JSON-RPC`)
  return reply.result
}
