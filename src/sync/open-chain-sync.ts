import type { Chain } from '../attest/chains.ts'
import type { LocationLayout } from '../config/config.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { Hex } from '../wire/messages.ts'
import { type Audit, createAudit } from './audit.ts'
import { createChainPosition, type SyncStore } from './chain-position.ts'
import { createChainReader } from './chain-reader.ts'
import { type ChainSync, createChainSync, type SyncLimits } from './chain-sync.ts'
import { createAttestationReader } from './eas-attestations.ts'
import { createGatherer } from './gather.ts'
import type { RpcList } from './rpc-list.ts'
import { createSweep, type Sweep } from './sweep.ts'

export interface OpenChainSyncParts {
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
}

/** The tasks that read one chain. They share one position, so only one of them may run at a time. */
export interface OpenChainSync {
  readonly sync: ChainSync
  readonly audit: Audit
  readonly sweep: Sweep
}

export function openChainSync(options: OpenChainSyncParts): OpenChainSync {
  const { chain, schemas, limits, rpcs, store, keccak, nowSeconds, onProblem } = options
  const source = { easAddress: chain.easAddress, schemas }
  const { startBlock } = chain
  const chainId = chain.id
  const reader = createChainReader(source, chain.finalityDepth)
  const attestations = createAttestationReader({ source, keccak, maxBumps: limits.maxBumps })
  const position = createChainPosition(store, chainId)
  const gatherer = createGatherer({
    chainId,
    chain: chain.name,
    startBlock,
    maxDataBytes: limits.maxDataBytes,
    maxFailedReads: Math.max(2, rpcs.size),
    reader,
    attestations,
    store,
    nowSeconds,
    onProblem,
  })
  const parts = { chainId, startBlock, rpcs, reader, attestations, gatherer, position, store, onProblem }
  return {
    sync: createChainSync({ ...parts, nowSeconds, limits }),
    audit: createAudit({ ...parts, maxRangeBlocks: limits.maxRangeBlocks }),
    sweep: createSweep(parts),
  }
}
