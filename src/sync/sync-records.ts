/** The part of the sync thread that reads the chains and stores their records. */
import { randomBytes } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'
import { chainTable } from '../attest/chains.ts'
import { locationSchemas } from '../attest/schemas.ts'
import type { ChainAccessConfig } from '../config/config.ts'
import { createKeccak } from '../crypto/keccak.ts'
import { RecordLine } from '../store/record-line.ts'
import type { SyncAction, SyncEvent, SyncOutcome } from '../wire/sync-messages.ts'
import { openChainSync, type SyncedChain } from './chain-runs.ts'
import { createRpc } from './rpc.ts'
import { createRpcList } from './rpc-list.ts'
import { createSyncWorker, type SyncWorker } from './sync-worker.ts'

export interface RecordSync {
  /** Connects to the store; called again each time the store restarts. */
  connect(port: MessagePort): void
  act(action: SyncAction): Promise<SyncOutcome>
  close(): Promise<void>
}

const LOCAL_CHAIN = 'local'

/** Opens the part that reads records. Reading begins once the store is connected. */
export async function openRecordSync(
  config: ChainAccessConfig,
  onEvent: (event: SyncEvent) => void,
): Promise<RecordSync> {
  let worker: SyncWorker | undefined
  const keccak = await createKeccak()
  const line = new RecordLine()
  const { limits } = config

  return {
    connect(port) {
      line.connect(port)
      if (config.sync) worker ??= start()
    },
    async act(action) {
      const notReading: SyncOutcome = {
        state: 'failed',
        reason: 'the store is not open yet, or the chains are not read (SYNC=0)',
      }
      try {
        return (await worker?.act(action)) ?? notReading
      } catch (error) {
        return { state: 'failed', reason: (error as Error).message }
      }
    },
    close: async () => worker?.close(),
  }

  function start(): SyncWorker {
    return createSyncWorker({
      chains: openChains(),
      store: line.store,
      owner: randomBytes(8).toString('hex'),
      now: Date.now,
      limits: {
        stepsPerPass: limits.syncStepsPerPass,
        leaseMs: limits.syncLeaseMs,
        auditMs: limits.syncAuditMs,
        sweepMs: limits.syncSweepMs,
      },
      onEvent,
    })
  }

  function openChains(): SyncedChain[] {
    const schemas = locationSchemas(config)
    return [...chainTable(config).values()]
      .filter(({ rpcUrls }) => rpcUrls.length > 0)
      .map((chain) => {
        let problems: string[] = []
        const rpcs = createRpcList({
          chainId: chain.id,
          clients: chain.rpcUrls.map((url) =>
            createRpc({ url, timeoutMs: limits.syncRpcTimeoutMs, maxResponseBytes: limits.maxSyncResponseBytes }),
          ),
          now: () => performance.now(),
          random: Math.random,
          maxSuspensionMs: limits.maxRpcSuspensionMs,
          onSuspend: (index, reason) => problems.push(`RPC ${index} is suspended for a while: ${reason}`),
        })
        const opened = openChainSync({
          chain,
          schemas,
          limits: {
            maxRangeBlocks: limits.syncRangeBlocks,
            blocksAtOnce: limits.syncBlocksAtOnce,
            logsAtOnce: limits.syncLogsAtOnce,
            maxDataBytes: limits.maxAttestationBytes,
            maxBumps: limits.maxEqualAttestations,
          },
          rpcs,
          store: line.store,
          keccak,
          nowSeconds: () => Math.floor(Date.now() / 1000),
          onProblem: (message) => problems.push(message),
        })
        return {
          ...opened,
          chainId: chain.id,
          pollMs: chain.name === LOCAL_CHAIN ? limits.syncLocalPollMs : limits.syncPollMs,
          rpcs,
          takeProblems() {
            const taken = problems
            problems = []
            return taken
          },
        }
      })
  }
}
