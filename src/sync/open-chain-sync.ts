import type { Chain } from '../attest/chains.ts'
import type { SyncConfig } from '../config.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { Hex } from '../messages.ts'
import { createChainPosition, type SyncStore } from './chain-position.ts'
import { createChainReader } from './chain-reader.ts'
import { type ChainSync, createChainSync } from './chain-sync.ts'
import { createAttestationReader } from './eas-attestations.ts'
import { createGatherer } from './gather.ts'
import type { RpcList } from './rpc-list.ts'

export interface OpenChainSyncParts {
  readonly chain: Pick<Chain, 'id' | 'name' | 'easAddress'>
  /** Of location attestations, lower case. */
  readonly schemaUid: Hex
  readonly config: SyncConfig
  readonly rpcs: RpcList
  readonly store: SyncStore
  readonly keccak: Keccak
  readonly nowSeconds: () => number
  readonly onProblem: (message: string) => void
}

/** Puts together what reads one chain. */
export function openChainSync(parts: OpenChainSyncParts): ChainSync {
  const { chain, config, rpcs, store, keccak, nowSeconds, onProblem } = parts
  const source = { easAddress: chain.easAddress, schemaUid: parts.schemaUid }
  const reader = createChainReader(source, config.finalityDepth)
  const attestations = createAttestationReader({ source, keccak })
  const position = createChainPosition(store, chain.id)
  const gatherer = createGatherer({
    chainId: chain.id,
    chain: chain.name,
    startBlock: config.startBlock,
    maxDataBytes: config.maxDataBytes,
    patience: Math.max(2, rpcs.size),
    reader,
    attestations,
    store,
    nowSeconds,
    onProblem,
  })
  return createChainSync({
    chainId: chain.id,
    startBlock: config.startBlock,
    rpcs,
    reader,
    gatherer,
    position,
    store,
    nowSeconds,
    limits: config,
    onProblem,
  })
}
