import type { ChainOverride, ChainProfile } from '../config/chains.ts'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/setting.ts'
import { checksumAddress } from '../crypto/address.ts'
import type { Hex } from '../wire/values.ts'

/** A chain whose EAS contract accepts our signatures. */
export interface Chain {
  /** EIP-155 chain id. */
  readonly id: number
  readonly name: string
  /** Layout of the signed structure: `legacy` before EAS 1.2.0, `v1` for 1.2.x, `v2` from 1.3.0 on. */
  readonly profile: ChainProfile
  /** Version in the EIP-712 domain of the EAS contract. */
  readonly easVersion: string
  /** Checksummed. */
  readonly easAddress: Hex
  /** Checksummed. */
  readonly schemaRegistryAddress: Hex
  /** In the order in which they are tried; empty without chain access. */
  readonly rpcUrls: readonly string[]
  /** The first block from which records are read. */
  readonly startBlock: number
  /** Blocks this far below the head count as final where the RPC does not report a final block. */
  readonly finalityDepth: number
}

/** The depths that other indexers use; 65 blocks are two epochs of Ethereum. Chains without a known depth use 30. */
const FINALITY_DEPTHS: Readonly<Record<string, number>> = { sepolia: 65, arbitrum: 240, local: 64 }
const DEFAULT_FINALITY_DEPTH = 30

const NEWEST_VERSION: Readonly<Record<ChainProfile, string>> = { legacy: '0.26', v1: '1.2.0', v2: '1.3.0' }

/**
 * Merges the built-in chains with the operator's settings, and adds the operator's own chains.
 *
 * @returns chains by chain id
 * @throws {ConfigError} when a chain that is not built in lacks a contract address or its version
 */
export function chainTable({ chains: overrides }: Pick<Config, 'chains'>): ReadonlyMap<number, Chain> {
  const chains = new Map<number, Chain>()
  for (const row of BUILT_IN_CHAINS) chains.set(row.id, withOverride(row, overrides.get(row.id)))
  for (const [id, override] of overrides) {
    if (!chains.has(id)) chains.set(id, withOverride(addedRow(id, override), override))
  }
  return chains
}

function withOverride(row: BuiltInChain, override: ChainOverride | undefined): Chain {
  const finalityDepth = override?.finalityDepth ?? FINALITY_DEPTHS[row.name] ?? DEFAULT_FINALITY_DEPTH
  const startBlock = override?.startBlock ?? 0
  if (override === undefined) return { ...row, rpcUrls: [], startBlock, finalityDepth }
  const { profile, easVersion } = resolveLayout(override) ?? row
  return {
    id: row.id,
    name: row.name,
    profile,
    easVersion,
    easAddress: checksumAddress(override.easAddress ?? row.easAddress) as Hex,
    schemaRegistryAddress: checksumAddress(override.schemaRegistryAddress ?? row.schemaRegistryAddress) as Hex,
    rpcUrls: override.rpcUrls,
    startBlock,
    finalityDepth,
  }
}

function addedRow(id: number, override: ChainOverride): BuiltInChain {
  const { easAddress, schemaRegistryAddress } = override
  const layout = resolveLayout(override)
  if (easAddress === undefined || schemaRegistryAddress === undefined || layout === undefined) {
    throw new ConfigError(
      `chain ${id} is not built in: set EAS_ADDRESS_${id}, SCHEMA_REGISTRY_${id} and EAS_VERSION_${id} (or EAS_PROFILE_${id}), or unset its other settings`,
    )
  }
  return {
    id,
    name: `chain-${id}`,
    ...layout,
    easAddress: easAddress as Hex,
    schemaRegistryAddress: schemaRegistryAddress as Hex,
  }
}

/** Derives the profile from the version, or the version from the profile; undefined when neither is set. */
function resolveLayout({
  profile,
  easVersion,
}: ChainOverride): Pick<BuiltInChain, 'profile' | 'easVersion'> | undefined {
  if (easVersion !== undefined) return { easVersion, profile: profile ?? profileForVersion(easVersion) }
  return profile === undefined ? undefined : { profile, easVersion: NEWEST_VERSION[profile] }
}

function profileForVersion(version: string): ChainProfile {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (!Number.isInteger(major) || !Number.isInteger(minor)) {
    throw new ConfigError(`EAS version ${JSON.stringify(version)}: must be like 0.26 or 1.2.0`)
  }
  if (major < 1 || (major === 1 && minor < 2)) return 'legacy'
  return major === 1 && minor === 2 ? 'v1' : 'v2'
}

/** The part of a chain that does not depend on the operator's settings. */
export type BuiltInChain = Omit<Chain, 'rpcUrls' | 'startBlock' | 'finalityDepth'>

/** Addresses of the EAS predeploys of the OP stack; a local chain uses the same ones. */
const PREDEPLOY = {
  easAddress: '0x4200000000000000000000000000000000000021',
  schemaRegistryAddress: '0x4200000000000000000000000000000000000020',
} as const

/**
 * Addresses and versions come from the deployments folder of the eas-contracts repository. Documents do not settle the version
 * of `base`; with an RPC it is compared with the contract before anything is signed.
 */
export const BUILT_IN_CHAINS: readonly BuiltInChain[] = [
  {
    id: 42161,
    name: 'arbitrum',
    profile: 'legacy',
    easVersion: '0.26',
    easAddress: '0xbD75f629A22Dc1ceD33dDA0b68c546A1c035c458',
    schemaRegistryAddress: '0xA310da9c5B885E7fb3fbA9D66E9Ba6Df512b78eB',
  },
  {
    id: 42220,
    name: 'celo',
    profile: 'v2',
    easVersion: '1.3.0',
    easAddress: '0x72E1d8ccf5299fb36fEfD8CC4394B8ef7e98Af92',
    schemaRegistryAddress: '0x5ece93bE4BDCF293Ed61FA78698B594F2135AF34',
  },
  {
    id: 11155111,
    name: 'sepolia',
    profile: 'legacy',
    easVersion: '0.26',
    easAddress: '0xC2679fBD37d54388Ce493F1DB75320D236e1815e',
    schemaRegistryAddress: '0x0a7E2Ff54e76B8E6659aedc9103FB21c038050D0',
  },
  { id: 8453, name: 'base', profile: 'v1', easVersion: '1.2.0', ...PREDEPLOY },
  { id: 84532, name: 'base-sepolia', profile: 'v1', easVersion: '1.2.0', ...PREDEPLOY },
  { id: 31337, name: 'local', profile: 'v1', easVersion: '1.2.0', ...PREDEPLOY },
]
