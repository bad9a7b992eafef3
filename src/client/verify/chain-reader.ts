import type { Hex } from '../../wire/values.ts'

/** Reads from a chain; each call is one request. */
export interface ChainReader {
  chainId(): Promise<number>
  /** Calls a contract. @returns its return data. @throws {RpcError} when the call reverts or the RPC fails */
  call(to: string, data: Hex): Promise<Hex>
}

/** Thrown when an RPC call fails or reverts. */
export class RpcError extends Error {
  /** True when the contract reverted. */
  readonly isRevert: boolean
  /** The contract's error: its selector and arguments; undefined if the endpoint does not return them. */
  readonly revertData: string | undefined

  constructor(message: string, isRevert: boolean, revertData?: string) {
    super(message)
    this.name = 'RpcError'
    this.isRevert = isRevert
    this.revertData = revertData
  }
}

/** Creates a reader that speaks JSON-RPC 2.0 over HTTP. */
export function createChainReader(url: string, timeoutMs: number, send: typeof fetch): ChainReader {
  async function request(method: string, params: readonly unknown[]): Promise<Hex> {
    let reply: { result?: unknown; error?: { code?: number; message?: string; data?: unknown } }
    try {
      const response = await send(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      reply = ((await response.json()) ?? {}) as typeof reply
    } catch {
      throw new RpcError(`${method}: the RPC does not answer`, false) // the URL is not shown, because it may contain a key
    }
    const { result, error } = reply
    if (typeof result === 'string' && /^0x[0-9a-fA-F]*$/.test(result)) return result as Hex
    const revertData = revertDataIn(error)
    // Code 3 means a revert with data. Some endpoints return −32000 and mention the revert only in the message.
    const isRevert = error?.code === 3 || typeof error?.data === 'string' || /revert/i.test(error?.message ?? '')
    throw new RpcError(`${method}: ${error?.message ?? 'no result'}`, isRevert, revertData)
  }
  return {
    chainId: async () => Number(await request('eth_chainId', [])),
    call: (to, data) => request('eth_call', [{ to, data }, 'latest']),
  }
}

/** Returns a reader that makes each call once, so that the results of a batch share the calls that are the same for all. */
export function rememberCalls(reader: ChainReader): ChainReader {
  const made = new Map<string, Promise<Hex>>()
  let id: Promise<number> | undefined
  return {
    chainId: () => {
      id ??= reader.chainId()
      return id
    },
    call(to, data) {
      const key = `${to} ${data}`
      const call = made.get(key) ?? reader.call(to, data)
      made.set(key, call)
      return call
    },
  }
}

function revertDataIn(error: { readonly data?: unknown } | undefined): string | undefined {
  return typeof error?.data === 'string' && /^0x[0-9a-fA-F]{8}/.test(error.data) ? error.data : undefined
}
