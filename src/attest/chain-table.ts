import type { Chain } from './chains.ts'

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
