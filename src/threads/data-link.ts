/** The connections of an HTTP process to the data process, which has the store and reads the chains. */
import { connect, type Socket } from 'node:net'
import type { MessagePort } from 'node:worker_threads'
import type { Hello, RelayStateMessage } from '../wire/process-messages.ts'
import type { RelayState } from '../wire/relay-messages.ts'
import { SocketPort } from '../wire/socket-port.ts'
import type { StoreReply, StoreRequest } from '../wire/store-messages.ts'
import type { ChainReply, ChainRequest } from '../wire/sync-messages.ts'
import type { RelayClient } from './relay-client.ts'
import type { HostedThread } from './thread-host.ts'

const UNKNOWN: RelayState = { state: 'unknown', reason: 'the data process has not reported yet' }

/** A connection that its client treats as a thread: it ends when the connection does, and is then opened again. */
class RemoteThread<Request extends { readonly type: string }, Reply> implements HostedThread<Request, Reply> {
  readonly #socket: Socket
  readonly #port: SocketPort

  constructor(path: string, to: Hello['to']) {
    this.#socket = connect(path)
    this.#port = new SocketPort(this.#socket)
    this.#port.postMessage({ type: 'hello', to } satisfies Hello)
  }

  postMessage(message: Request): void {
    // The request to close is for this connection, not for the thread at its other end.
    if (message.type === 'close') this.#port.close()
    else this.#port.postMessage(message)
  }

  async terminate(): Promise<void> {
    this.#port.destroy()
  }

  on(event: 'message', listener: (reply: Reply) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'message' | 'error', listener: ((reply: Reply) => void) | ((error: Error) => void)): unknown {
    if (event === 'message') this.#port.on('message', listener as (reply: Reply) => void)
    else this.#socket.on('error', listener as (error: Error) => void)
    return this
  }

  once(_event: 'exit', listener: (code: number) => void): unknown {
    this.#socket.once('close', (hadError) => listener(hadError ? 1 : 0))
    return this
  }
}

/** The sync thread of the data process. A port cannot be sent there, so the port of the signer gets a connection. */
class ChainThread extends RemoteThread<ChainRequest, ChainReply> {
  readonly #link: DataLink

  constructor(link: DataLink) {
    super(link.path, 'chains')
    this.#link = link
  }

  override postMessage(message: ChainRequest): void {
    if (message.type === 'nonces') joinPorts(message.port, this.#link.port('nonces'))
    else super.postMessage(message)
  }
}

/** Passes every message of each port to the other, until one of them closes. */
export function joinPorts(port: MessagePort, socketPort: SocketPort): void {
  port.on('message', (message) => socketPort.postMessage(message))
  port.on('close', () => socketPort.close())
  socketPort.on('message', (message) => port.postMessage(message))
  socketPort.on('close', () => port.close())
}

/** Opens connections to the data process at the path of its Unix socket. */
export class DataLink {
  readonly path: string
  readonly #relayStates = new Map<number, RelayState>()

  constructor(path: string) {
    this.path = path
  }

  store(): HostedThread<StoreRequest, StoreReply> {
    return new RemoteThread(this.path, 'store')
  }

  chains(): HostedThread<ChainRequest, ChainReply> {
    const thread = new ChainThread(this)
    thread.on('message', (message: ChainReply | RelayStateMessage) => {
      if (message.type === 'relay') this.#relayStates.set(message.chainId, message.state)
    })
    thread.once('exit', () => this.#relayStates.clear())
    return thread
  }

  /** Returns what this process knows of the relay, which runs in the data process. */
  relay(chainIds: readonly number[]): RelayClient {
    return {
      state: (chainId) => (chainIds.includes(chainId) ? (this.#relayStates.get(chainId) ?? UNKNOWN) : undefined),
      // The data process counts them.
      events: () => [],
      chainIds,
    }
  }

  /** Opens a connection. */
  port(to: Hello['to']): SocketPort {
    const port = new SocketPort(connect(this.path))
    port.postMessage({ type: 'hello', to } satisfies Hello)
    return port
  }
}
