import { type Chain, chainTable } from '../attest/chains.ts'
import { schemaUids } from '../attest/schemas.ts'
import { type Config, ConfigError, type Environment } from '../config.ts'
import type { Hex } from '../messages.ts'
import type { Rpc } from '../sync/rpc.ts'
import { installEas } from './eas-contracts.ts'
import { attestSamples } from './sample-attestations.ts'

export const LOCAL_CHAIN_ID = 31337

/** Of anvil's ten accounts the first one sets up, the next ones attest the samples. */
const SAMPLE_ATTESTERS = 3
/** How often the relay looks for submissions, where a block costs nothing. */
const SUBMIT_POLL_MS = '100'
/** The samples are under our schema, which is registered, whatever the operator calls a location. */
const OUR_SCHEMAS = {
  numeric: undefined,
  boolean: undefined,
  verify: undefined,
  'merkle-root': undefined,
  location: [],
}

/** `empty`: nothing happened on it yet. `partial`: what makes it was interrupted. */
export type SetupState = 'empty' | 'partial' | 'whole'

/** @param accounts those of anvil */
export async function setupState(rpc: Rpc, accounts: readonly Hex[]): Promise<SetupState> {
  // The revocation is the last thing that is done on a new chain: the second transaction of its account.
  if (Number(await rpc.request('eth_getTransactionCount', [accounts[1], 'latest'])) >= 2) return 'whole'
  return Number(await rpc.request('eth_getTransactionCount', [accounts[0], 'latest'])) === 0 ? 'empty' : 'partial'
}

/**
 * Makes of an empty chain one with EAS, our schemas and sample attestations.
 *
 * @param nowSeconds of the newest event
 * @throws {Error} when the chain refuses
 */
export async function setUpChain(parts: {
  readonly rpc: Rpc
  readonly chains: ReadonlyMap<number, Chain>
  readonly accounts: readonly Hex[]
  readonly timeoutMs: number
  readonly nowSeconds: number
}): Promise<void> {
  const { rpc, chains, accounts, timeoutMs, nowSeconds } = parts
  const eas = { rpc, chain: chains.get(LOCAL_CHAIN_ID)!, account: accounts[0]!, timeoutMs }
  await installEas(eas)
  await attestSamples({
    ...eas,
    attesters: accounts.slice(1, 1 + SAMPLE_ATTESTERS),
    locationSchema: schemaUids({ schemas: OUR_SCHEMAS }).location,
    nowSeconds,
    chainIds: new Map([...chains.values()].map(({ id, name }) => [name, id])),
  })
}

/**
 * The chain table, in which chain 31337 is the one that is made here.
 *
 * @throws {ConfigError} when somebody said already what that chain is
 */
export function localChainTable(config: Config): ReadonlyMap<number, Chain> {
  const {
    rpcUrls = [],
    easAddress,
    schemaRegistryAddress,
    profile,
    easVersion,
  } = config.chains.get(LOCAL_CHAIN_ID) ?? {}
  const given = [easAddress, schemaRegistryAddress, profile, easVersion].some((value) => value !== undefined)
  if (rpcUrls.length === 0 && !given) return chainTable(config)
  const names = ['RPC_URL', 'EAS_ADDRESS', 'SCHEMA_REGISTRY', 'EAS_PROFILE', 'EAS_VERSION']
  const all = names.map((name) => `${name}_${LOCAL_CHAIN_ID}`).join(', ')
  throw new ConfigError(`--chain makes chain ${LOCAL_CHAIN_ID} itself: leave out ${all}, or --chain`)
}

/**
 * Names of the environment that make a service use the chain. Submission is free on it, and so is on; with an RPC of another
 * chain it would not be, and is left to the operator.
 */
export function localChainEnvironment({ chains, records }: Config, env: Environment, rpcUrl: string): Environment {
  const isAlone = [...chains.values()].every(({ rpcUrls }) => rpcUrls.length === 0)
  const submits = records && isAlone && !env['ENABLE_ONCHAIN_SUBMIT']
  return {
    [`RPC_URL_${LOCAL_CHAIN_ID}`]: rpcUrl,
    ...(submits ? { ENABLE_ONCHAIN_SUBMIT: '1', SUBMIT_POLL_MS: env['SUBMIT_POLL_MS'] || SUBMIT_POLL_MS } : {}),
  }
}
