import { createClient, type Hex, http, parseAbi, publicActions, walletActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const ABI = parseAbi([
  'struct SchemaRecord { bytes32 uid; address resolver; bool revocable; string schema; }',
  'function register(string schema, address resolver, bool revocable) returns (bytes32)',
  'function getSchema(bytes32 uid) view returns (SchemaRecord)',
])

/** The schema registry of a chain, and the RPC that gives access to it. */
export interface RegistryEndpoint {
  readonly rpcUrl: string
  readonly registry: Hex
  /** Time limit of one RPC call. */
  readonly rpcTimeoutMs: number
}

export interface NewSchema {
  readonly uid: Hex
  readonly schema: string
  readonly resolver: Hex
  readonly revocable: boolean
}

function connect({ rpcUrl, rpcTimeoutMs }: RegistryEndpoint) {
  return createClient({ transport: http(rpcUrl, { timeout: rpcTimeoutMs, retryCount: 1 }) })
    .extend(publicActions)
    .extend(walletActions)
}

/** Reads the ID of the chain that an RPC serves. @throws an error of viem when the RPC does not respond */
export async function readChainId(endpoint: RegistryEndpoint): Promise<number> {
  return connect(endpoint).getChainId()
}

/** Reads the text of a registered schema; undefined when no schema has this UID. @throws an error of viem */
export async function readRegisteredSchema(endpoint: RegistryEndpoint, uid: Hex): Promise<string | undefined> {
  const { uid: registeredUid, schema } = await connect(endpoint).readContract({
    address: endpoint.registry,
    abi: ABI,
    functionName: 'getSchema',
    args: [uid],
  })
  return BigInt(registeredUid) === 0n ? undefined : schema
}

/**
 * Registers a schema with a transaction from the key's account and waits until it is in a block.
 *
 * @param privateKey 32 bytes; its account pays
 * @param waitMs time limit for the wait
 * @throws an error of viem, whose `shortMessage` gives the reason: no funds, reverted, or no block in time
 */
export async function registerSchema(
  endpoint: RegistryEndpoint,
  { schema, resolver, revocable }: NewSchema,
  privateKey: Uint8Array,
  waitMs: number,
): Promise<{ readonly transaction: Hex; readonly block: number }> {
  const client = connect(endpoint)
  const account = privateKeyToAccount(`0x${Buffer.from(privateKey).toString('hex')}`)
  const call = {
    address: endpoint.registry,
    abi: ABI,
    functionName: 'register',
    args: [schema, resolver, revocable],
  } as const
  await client.simulateContract({ ...call, account })
  const transaction = await client.writeContract({ ...call, account, chain: null })
  const receipt = await client.waitForTransactionReceipt({ hash: transaction, timeout: waitMs, pollingInterval: 200 })
  if (receipt.status !== 'success') throw new Error(`transaction ${transaction} reverted`)
  return { transaction, block: Number(receipt.blockNumber) }
}
