import { type Abi, encodeAbiParameters, encodeFunctionData, parseAbiParameters } from 'viem'
import { type Chain, chainTable } from '../attest/chains.ts'
import { SCHEMA_STRINGS, schemaUids } from '../attest/schemas.ts'
import { ZERO_UID } from '../attest/uid.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, type Environment } from '../config/setting.ts'
import { sampleRanges } from '../service/records/sample-records.ts'
import type { Rpc } from '../sync/rpc.ts'
import type { LocationRecord } from '../wire/store-messages.ts'
import type { Hex } from '../wire/values.ts'
import { type EasParts, easAbi, installEas, sendTransaction } from './eas-contracts.ts'

interface SampleAttestationParts extends EasParts {
  /** Each of these accounts attests a share of the samples. At the end, the first one revokes one of its attestations. */
  readonly attesters: readonly Hex[]
  readonly locationSchema: Hex
  /** Time of the newest event. */
  readonly nowSeconds: number
  /** Chain ids by chain name. */
  readonly chainIds: ReadonlyMap<string, number>
}

/** Attestations per attester, in one transaction of about 8 million gas; a block has 30 million. */
const SAMPLES_PER_ATTESTER = 12

/**
 * Attests plausible sample locations (points, plots and paths), and revokes one of them.
 *
 * @throws {Error} when an RPC call fails or a transaction reverts
 */
async function attestSamples(parts: SampleAttestationParts): Promise<void> {
  const { rpc, chain, attesters, locationSchema, timeoutMs } = parts
  const abi = await easAbi()
  const count = SAMPLES_PER_ATTESTER * attesters.length
  // The samples are made for several chains. Here their content is attested on the local chain.
  const ranges = sampleRanges({ count, newestSeconds: parts.nowSeconds, chains: parts.chainIds })
  const records = [...ranges].flatMap(({ records: rangeRecords }) => rangeRecords)
  let revocableUid: Hex | undefined
  for (const [index, from] of attesters.entries()) {
    const batch = records.slice(index * SAMPLES_PER_ATTESTER, (index + 1) * SAMPLES_PER_ATTESTER)
    const data = multiAttest(abi, locationSchema, batch)
    const logs = await sendTransaction(rpc, { from, to: chain.easAddress, data }, timeoutMs)
    // Attested(address indexed recipient, address indexed attester, bytes32 uid, bytes32 indexed schema)
    if (index === 0) revocableUid = logs[0]!.data
  }
  const data = encodeFunctionData({
    abi,
    functionName: 'revoke',
    args: [{ schema: locationSchema, data: { uid: revocableUid, value: 0n } }],
  })
  await sendTransaction(rpc, { from: attesters[0]!, to: chain.easAddress, data }, timeoutMs)
}

function multiAttest(abi: Abi, schema: Hex, records: readonly LocationRecord[]): Hex {
  const data = records.map((record) => ({
    recipient: record.subject,
    expirationTime: 0n,
    revocable: true,
    refUID: ZERO_UID,
    data: locationData(record),
    value: 0n,
  }))
  return encodeFunctionData({ abi, functionName: 'multiAttest', args: [[{ schema, data }]] })
}

function locationData(record: LocationRecord): Hex {
  const payloads = record.recipePayloads.map((base64): Hex => `0x${Buffer.from(base64, 'base64').toString('hex')}`)
  return encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), [
    BigInt(record.eventTimeSeconds),
    record.srs,
    record.locationType,
    record.location,
    [...record.recipeTypes],
    payloads,
    [...record.mediaTypes],
    [...record.mediaData],
    record.memo,
  ])
}

export const LOCAL_CHAIN_ID = 31337

/** Anvil has ten accounts: the first deploys the contracts, the next three attest the samples. */
const SAMPLE_ATTESTERS = 3
/** Default poll interval of the relay: short, because blocks on this chain are immediate and free. */
const SUBMIT_POLL_MS = '100'
/** No configured schemas, so that the samples use the default location schema, which is registered on this chain. */
const DEFAULT_SCHEMAS = {
  numeric: undefined,
  boolean: undefined,
  verify: undefined,
  'merkle-root': undefined,
  location: [],
}

/** `empty`: a new chain. `partial`: its setup was interrupted. `whole`: its setup is complete. */
type SetupState = 'empty' | 'partial' | 'whole'

/** Finds out how far the setup of a chain got. @param accounts anvil's accounts */
export async function setupState(rpc: Rpc, accounts: readonly Hex[]): Promise<SetupState> {
  // The last step of the setup is the revocation, which is the second transaction of account 1.
  if (Number(await rpc.request('eth_getTransactionCount', [accounts[1], 'latest'])) >= 2) return 'whole'
  return Number(await rpc.request('eth_getTransactionCount', [accounts[0], 'latest'])) === 0 ? 'empty' : 'partial'
}

/**
 * Sets up an empty chain with EAS, our schemas and sample attestations.
 *
 * @param parts `nowSeconds` is the time of the newest sample event
 * @throws {Error} when an RPC call fails or a transaction reverts
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
    locationSchema: schemaUids({ schemas: DEFAULT_SCHEMAS }).location,
    nowSeconds,
    chainIds: new Map([...chains.values()].map(({ id, name }) => [name, id])),
  })
}

/**
 * Builds the chain table with the local chain as chain 31337.
 *
 * @throws {ConfigError} when the settings already define that chain
 */
export function localChainTable(config: Config): ReadonlyMap<number, Chain> {
  const {
    rpcUrls = [],
    easAddress,
    schemaRegistryAddress,
    profile,
    easVersion,
  } = config.chains.get(LOCAL_CHAIN_ID) ?? {}
  const isConfigured = [easAddress, schemaRegistryAddress, profile, easVersion].some((value) => value !== undefined)
  if (rpcUrls.length === 0 && !isConfigured) return chainTable(config)
  const names = ['RPC_URL', 'EAS_ADDRESS', 'SCHEMA_REGISTRY', 'EAS_PROFILE', 'EAS_VERSION']
  const settings = names.map((name) => `${name}_${LOCAL_CHAIN_ID}`).join(', ')
  throw new ConfigError(`--chain makes chain ${LOCAL_CHAIN_ID} itself: leave out ${settings}, or leave out --chain`)
}

/**
 * Returns the environment variables that make the service use the local chain. Submission is enabled, because it is free on this
 * chain. If another chain has an RPC, submission there would cost money, so the operator must decide.
 */
export function localChainEnvironment({ chains, records }: Config, env: Environment, rpcUrl: string): Environment {
  const isOnlyChain = [...chains.values()].every(({ rpcUrls }) => rpcUrls.length === 0)
  const enablesSubmission = records && isOnlyChain && !env['ENABLE_ONCHAIN_SUBMIT']
  return {
    [`RPC_URL_${LOCAL_CHAIN_ID}`]: rpcUrl,
    ...(enablesSubmission
      ? { ENABLE_ONCHAIN_SUBMIT: '1', SUBMIT_POLL_MS: env['SUBMIT_POLL_MS'] || SUBMIT_POLL_MS }
      : {}),
  }
}
