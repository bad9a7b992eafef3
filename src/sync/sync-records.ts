/** The part of the sync thread that reads the chains and stores their records. */
import { randomBytes } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'
import { type Chain, chainTable } from '../attest/chains.ts'
import { locationSchemas } from '../attest/schemas.ts'
import { MAX_EQUAL_ATTESTATIONS } from '../attest/uid.ts'
import type { ChainAccessConfig } from '../config/config.ts'
import type { LocationLayout } from '../config/signer.ts'
import type { Keccak } from '../crypto/primitives.ts'
import { Requester } from '../wire/request-port.ts'
import { type RecordStore, type StoreOperations, storeFault } from '../wire/store-messages.ts'
import type { SyncAction, SyncEvent, SyncOutcome } from '../wire/sync-messages.ts'
import type { Hex } from '../wire/values.ts'
import { Audit } from './audit.ts'
import { ChainPosition, type SyncStore } from './chain-position.ts'
import { ChainReader } from './chain-reader.ts'
import { ChainSync, type SyncLimits } from './chain-sync.ts'
import { AttestationReader } from './eas-attestations.ts'
import { Gatherer } from './gather.ts'
import { HeadComparison } from './head-comparison.ts'
import { LogWitnesses } from './log-witnesses.ts'
import { HttpRpc } from './rpc.ts'
import { RpcList } from './rpc-list.ts'
import { Sweep } from './sweep.ts'
import { type ChainTasks, type SyncedChain, SyncWorker } from './sync-worker.ts'

/** A connection to the store from another thread, over ports that `StoreClient.connect` makes. */
export class StoreConnection {
  readonly #requests = new Requester<StoreOperations>({
    notConnected: 'the store is not open',
    ended: 'the store is restarting',
    toError: storeFault,
  })
  #wasConnected = false

  /** The operations. Calls are rejected as `unavailable` while there is no connection. */
  readonly store: RecordStore = new Proxy({} as RecordStore, {
    // The operations exist only as a type. Every property is a method that sends a request of its name.
    get: (_, operation) => (argument: never) => this.#requests.ask(operation as keyof StoreOperations, argument),
  })

  /** Whether the store has been connected at least once. */
  get wasConnected(): boolean {
    return this.#wasConnected
  }

  /** Uses this port from now on; called again each time the store restarts. */
  connect(port: MessagePort): void {
    this.#wasConnected = true
    this.#requests.connect(port)
  }
}

const LOCAL_CHAIN = 'local'

/** Reads records from the chains, from the moment the store is connected. */
export class RecordSync {
  readonly #config: ChainAccessConfig
  readonly #keccak: Keccak
  readonly #store: RecordStore
  readonly #onEvent: (event: SyncEvent) => void
  #worker: SyncWorker | undefined

  constructor(config: ChainAccessConfig, keccak: Keccak, store: RecordStore, onEvent: (event: SyncEvent) => void) {
    this.#config = config
    this.#keccak = keccak
    this.#store = store
    this.#onEvent = onEvent
  }

  /** Starts reading, unless the settings say that chains are not read. Does nothing when called again. */
  start(): void {
    if (!this.#config.sync) return
    const { limits } = this.#config
    this.#worker ??= new SyncWorker({
      chains: this.#openChains(),
      store: this.#store,
      owner: randomBytes(8).toString('hex'),
      now: Date.now,
      limits: {
        stepsPerPass: limits.syncStepsPerPass,
        leaseMs: limits.syncLeaseMs,
        auditMs: limits.syncAuditMs,
        sweepMs: limits.syncSweepMs,
      },
      onEvent: this.#onEvent,
    })
  }

  /** Never rejects. */
  async act(action: SyncAction): Promise<SyncOutcome> {
    if (this.#worker === undefined)
      return { state: 'failed', reason: 'the store is not open yet, or the chains are not read (SYNC=0)' }
    try {
      return await this.#worker.act(action)
    } catch (error) {
      return { state: 'failed', reason: (error as Error).message }
    }
  }

  async close(): Promise<void> {
    await this.#worker?.close()
  }

  #openChains(): SyncedChain[] {
    const schemas = locationSchemas(this.#config)
    return [...chainTable(this.#config).values()]
      .filter(({ rpcUrls }) => rpcUrls.length > 0)
      .map((chain) => this.#openChain(chain, schemas))
  }

  #openChain(chain: Chain, schemas: ReadonlyMap<Hex, LocationLayout>): SyncedChain {
    const { limits } = this.#config
    let problems: string[] = []
    const rpcs = new RpcList({
      chainId: chain.id,
      clients: chain.rpcUrls.map(
        (url) =>
          new HttpRpc({ url, timeoutMs: limits.syncRpcTimeoutMs, maxResponseBytes: limits.maxSyncResponseBytes }),
      ),
      now: () => performance.now(),
      random: Math.random,
      maxSuspensionMs: limits.maxRpcSuspensionMs,
      onSuspend: (index, reason) => problems.push(`RPC ${index} is suspended for a while: ${reason}`),
    })
    const tasks = createChainTasks({
      chain,
      schemas,
      limits: {
        maxRangeBlocks: limits.syncRangeBlocks,
        blocksAtOnce: limits.syncBlocksAtOnce,
        logsAtOnce: limits.syncLogsAtOnce,
        maxDataBytes: limits.maxAttestationBytes,
        maxBumps: MAX_EQUAL_ATTESTATIONS,
      },
      rpcs,
      store: this.#store,
      keccak: this.#keccak,
      nowSeconds: () => Math.floor(Date.now() / 1000),
      onProblem: (message) => problems.push(message),
      onContradictions: (logs) => this.#onEvent({ type: 'contradictions', chainId: chain.id, logs }),
      leaseGeneration: () => this.#worker!.leaseGeneration(chain.id),
    })
    return {
      ...tasks,
      chainId: chain.id,
      pollMs: chain.name === LOCAL_CHAIN ? limits.syncLocalPollMs : limits.syncPollMs,
      rpcs,
      takeProblems() {
        const taken = problems
        problems = []
        return taken
      },
    }
  }
}

interface ChainTasksParts {
  readonly chain: Pick<Chain, 'id' | 'name' | 'easAddress' | 'startBlock' | 'finalityDepth'>
  /** Schemas of location attestations: UIDs in lower case with their layouts. */
  readonly schemas: ReadonlyMap<Hex, LocationLayout>
  readonly limits: SyncLimits & {
    /** Limit of an attestation's data; larger ones are quarantined. */
    readonly maxDataBytes: number
    /** The most equal attestations of one block that can be distinguished. */
    readonly maxBumps: number
  }
  readonly rpcs: RpcList
  readonly store: SyncStore
  readonly keccak: Keccak
  readonly nowSeconds: () => number
  /** Reports something to the operator. Messages contain no secrets. */
  readonly onProblem: (message: string) => void
  /** Receives, at every audit, the number of logs on which the endpoints disagree without a majority. */
  readonly onContradictions: (logs: number) => void
  /** Returns the generation of this process's lease of the chain; omitted when no other process reads it. */
  readonly leaseGeneration?: () => number
}

/** Makes the tasks that read one chain. */
export function createChainTasks(options: ChainTasksParts): ChainTasks {
  const { chain, schemas, limits, rpcs, store, keccak, nowSeconds, onProblem, onContradictions } = options
  const source = { easAddress: chain.easAddress, schemas }
  const { startBlock } = chain
  const chainId = chain.id
  const reader = new ChainReader(source, chain.finalityDepth)
  const attestations = new AttestationReader({ source, keccak, maxBumps: limits.maxBumps })
  const position = new ChainPosition(store, chainId, options.leaseGeneration)
  const witnesses = new LogWitnesses({ rpcs, reader, attestations })
  const gatherer = new Gatherer({
    chainId,
    chain: chain.name,
    startBlock,
    maxDataBytes: limits.maxDataBytes,
    maxFailedReads: Math.max(2, rpcs.size),
    reader,
    attestations,
    witnesses,
    store,
    nowSeconds,
    onProblem,
  })
  const parts = { chainId, startBlock, rpcs, reader, attestations, witnesses, gatherer, position, store, onProblem }
  const { maxRangeBlocks } = limits
  const comparison = new HeadComparison({ ...parts, maxRangeBlocks })
  return {
    sync: new ChainSync({ ...parts, comparison, nowSeconds, limits }),
    comparison,
    audit: new Audit({ ...parts, maxRangeBlocks, onContradictions }),
    sweep: new Sweep(parts),
  }
}
