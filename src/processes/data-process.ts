/** The data process runs what a machine with several HTTP processes has only once: the store, the sync and the relay. */
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { chainTable } from '../attest/chains.ts'
import type { Log } from '../base/log.ts'
import { Metrics } from '../base/metrics.ts'
import type { Config } from '../config/config.ts'
import {
  type Build,
  registerDataMetrics,
  registerProcessMetrics,
  startDataCounts,
  storeSampleRecords,
} from '../start.ts'
import { type ChainClient, startChainAccess } from '../threads/chain-client.ts'
import { joinPorts } from '../threads/data-link.ts'
import { startRelay } from '../threads/relay-client.ts'
import { startSigner } from '../threads/signer-client.ts'
import { StoreClient, type StoreState } from '../threads/store-client.ts'
import type { Hello, RelayStateMessage } from '../wire/process-messages.ts'
import type { RelayState } from '../wire/relay-messages.ts'
import { serve } from '../wire/request-port.ts'
import { SocketPort } from '../wire/socket-port.ts'
import type { StoreReply } from '../wire/store-messages.ts'
import type { ChainOperations, ChainReply } from '../wire/sync-messages.ts'
import { CountTotals } from './count-totals.ts'

export interface DataProcess {
  readonly metrics: Metrics
  /** Resolves with the reason when the relay can no longer sign. */
  readonly lost: Promise<Error> | undefined
  stop(): Promise<void>
}

interface DataProcessParts {
  readonly config: Config
  readonly log: Log
  readonly build: Build
  readonly socketPath: string
  /** Only for the relay, which signs transactions. */
  readonly keyDescriptor: number | undefined
}

/** Starts the threads of the data process, and answers the HTTP processes. */
export async function startDataProcess(parts: DataProcessParts): Promise<DataProcess> {
  const { config, log, build, socketPath, keyDescriptor } = parts
  const chains = chainTable(config)
  const signer = keyDescriptor === undefined ? undefined : await startSigner(config, log, keyDescriptor)
  const store = config.records ? new StoreClient(config, log) : undefined
  const chainClient = await startChainAccess(config, log, signer, store)
  const server = new DataServer(store, chainClient, new CountTotals(config.limits.maxRateLimitSubjects))
  const onState = (chainId: number, state: RelayState) => server.setRelayState(chainId, state)
  const canRelay = config.role !== 'api' && signer && chainClient && store
  const relay = canRelay ? startRelay({ chainClient, signer, log, onState }) : undefined
  const counts = startDataCounts(config, { signer, store, relay })
  const metrics = new Metrics()
  registerProcessMetrics(metrics, build)
  registerDataMetrics(metrics, { store, relay, chainClient, counts })
  await server.listen(socketPath)
  store?.open()
  if (store !== undefined && config.sampleRecords) storeSampleRecords(store, { config, log, chains })
  return {
    metrics,
    lost: signer?.lost,
    async stop() {
      counts.close()
      server.close()
      // The sync thread returns its lease to the store before the store closes.
      await Promise.all([signer?.close(), chainClient?.close()])
      await store?.close()
    },
  }
}

/** A connection to the store: whether the store is open for it, and the states of the disk and the columns that were last sent. */
interface StorePortState {
  isConnected: boolean
  fullReason: string | undefined
  isWarming: boolean
}

/** Answers the connections of the HTTP processes (`DataLink`). */
class DataServer {
  readonly #store: StoreClient | undefined
  readonly #chainClient: ChainClient | undefined
  readonly #server: Server
  readonly #totals: CountTotals
  readonly #sockets = new Set<Socket>()
  readonly #storePorts = new Map<SocketPort, StorePortState>()
  readonly #chainPorts = new Set<SocketPort>()
  readonly #relayStates = new Map<number, RelayState>()
  #path = ''

  constructor(store: StoreClient | undefined, chainClient: ChainClient | undefined, totals: CountTotals) {
    this.#totals = totals
    this.#store = store
    this.#chainClient = chainClient
    this.#server = createServer((socket) => this.#accept(socket))
    store?.onState((state) => {
      for (const port of this.#storePorts.keys()) this.#sendState(port, state)
    })
    chainClient?.onState((chainId, state) => this.#sendToChains({ type: 'state', chainId, state }))
    // Called when the sync thread has started again. The HTTP processes connect again, because their nonce ports ended with it.
    chainClient?.connect(() => {
      this.#relayStates.clear()
      for (const port of this.#chainPorts) port.close()
    })
  }

  /** @param path only this user may connect to it */
  listen(path: string): Promise<void> {
    this.#path = path
    rmSync(path, { force: true }) // left by a data process that was killed
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      // Exclusive, because node:cluster would otherwise let the supervisor listen.
      this.#server.listen({ path, exclusive: true }, () => {
        chmodSync(path, 0o600)
        resolve()
      })
    })
  }

  close(): void {
    this.#server.close()
    rmSync(this.#path, { force: true })
    for (const socket of this.#sockets) socket.destroy()
  }

  setRelayState(chainId: number, state: RelayState): void {
    this.#relayStates.set(chainId, state)
    this.#sendToChains({ type: 'relay', chainId, state })
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    const port = new SocketPort(socket)
    let isKnown = false
    port.on('message', (message: Hello) => {
      if (isKnown) return
      isKnown = true
      if (message.to === 'store' && this.#store !== undefined) this.#serveStore(port, this.#store)
      else if (message.to === 'chains' && this.#chainClient !== undefined) this.#serveChains(port, this.#chainClient)
      else if (message.to === 'limits') this.#totals.serve(port, Date.now)
      else if (message.to === 'nonces' && this.#chainClient !== undefined)
        joinPorts(this.#chainClient.noncePort(), port)
      else port.close()
    })
  }

  #serveStore(port: SocketPort, store: StoreClient): void {
    const known: StorePortState = { isConnected: false, fullReason: undefined, isWarming: false }
    this.#storePorts.set(port, known)
    const leave = store.connect((threadPort) => {
      // Deferred, because the state of a store that has just opened changes later in this tick.
      queueMicrotask(() => {
        const { state } = store
        if (!state.isOpen || known.isConnected) return threadPort.close()
        const { engine, version } = state
        port.postMessage({ type: 'open', engine, version } satisfies StoreReply)
        known.isConnected = true
        this.#sendState(port, state)
        // When the store ends, so does the connection, and the HTTP process opens another one.
        joinPorts(threadPort, port)
      })
    })
    port.on('close', () => {
      leave()
      this.#storePorts.delete(port)
    })
    this.#sendState(port, store.state)
  }

  #sendState(port: SocketPort, state: StoreState): void {
    const known = this.#storePorts.get(port)
    if (known?.isConnected === true) {
      if (!state.isOpen) return
      const { fullReason, isWarming = false } = state
      if (fullReason !== known.fullReason) port.postMessage({ type: 'room', fullReason } satisfies StoreReply)
      if (isWarming !== known.isWarming) port.postMessage({ type: 'columns', isWarming } satisfies StoreReply)
      Object.assign(known, { fullReason, isWarming })
    } else if (!state.isOpen && state.condition !== 'opening' && state.condition !== 'slow') {
      const { reason, condition } = state
      port.postMessage({ type: 'refused', reason, condition } satisfies StoreReply)
      port.close()
    }
  }

  #serveChains(port: SocketPort, chainClient: ChainClient): void {
    const post = (reply: ChainReply | RelayStateMessage) => port.postMessage(reply)
    for (const [chainId, state] of chainClient.states()) post({ type: 'state', chainId, state })
    for (const [chainId, state] of this.#relayStates) post({ type: 'relay', chainId, state })
    post({ type: 'ready' })
    this.#chainPorts.add(port)
    port.on('close', () => this.#chainPorts.delete(port))
    serve<ChainOperations>(port, {
      attestation: ({ chainId, uid }) => chainClient.attestation(chainId, uid),
      schema: ({ chainId, uid }) => chainClient.schemaString(chainId, uid),
      accountSignature: ({ chainId, ...signature }) => chainClient.accountSignature(chainId, signature),
      offchainRevocation: ({ chainId, attester, uid }) => chainClient.offchainRevocation(chainId, attester, uid),
      tokenBalance: ({ chainId, token, holder }) => chainClient.tokenBalance(chainId, token, holder),
      sync: (action) => chainClient.sync(action),
    })
  }

  #sendToChains(message: ChainReply | RelayStateMessage): void {
    for (const port of this.#chainPorts) port.postMessage(message)
  }
}
