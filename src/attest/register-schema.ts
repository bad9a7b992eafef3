import { createClient, type Hex, http, parseAbi, publicActions, walletActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const ABI = parseAbi([
  'struct SchemaRecord { bytes32 uid; address resolver; bool revocable; string schema; }',
  'function register(string schema, address resolver, bool revocable) returns (bytes32)',
  'function getSchema(bytes32 uid) view returns (SchemaRecord)',
])

export interface RegistryParts {
  readonly rpcUrl: string
  readonly registry: Hex
  /** Of one answer. */
  readonly rpcTimeoutMs: number
}

export interface NewSchema {
  readonly uid: Hex
  readonly schema: string
  readonly resolver: Hex
  readonly revocable: boolean
}

function connect({ rpcUrl, rpcTimeoutMs }: RegistryParts) {
  return createClient({ transport: http(rpcUrl, { timeout: rpcTimeoutMs, retryCount: 1 }) })
    .extend(publicActions)
    .extend(walletActions)
}

/** The chain an RPC serves. @throws {Error} of viem when it does not answer */
export async function chainIdOf(parts: RegistryParts): Promise<number> {
  return connect(parts).getChainId()
}

/** Text of a registered schema; undefined when there is none of this UID. */
export async function registeredSchema(parts: RegistryParts, uid: Hex): Promise<string | undefined> {
  const { uid: found, schema } = await connect(parts).readContract({
    address: parts.registry,
    abi: ABI,
    functionName: 'getSchema',
    args: [uid],
  })
  return BigInt(found) === 0n ? undefined : schema
}

/**
 * Registers a schema by a transaction of the key's account and waits for its block.
 *
 * @param privateKey 32 bytes; its account pays
 * @param waitMs for the block
 * @throws {Error} of viem, whose `shortMessage` says why: no funds, reverted, no block in time
 */
export async function sendSchema(
  parts: RegistryParts,
  { schema, resolver, revocable }: NewSchema,
  privateKey: Uint8Array,
  waitMs: number,
): Promise<{ readonly transaction: Hex; readonly block: number }> {
  const client = connect(parts)
  const account = privateKeyToAccount(`0x${Buffer.from(privateKey).toString('hex')}`)
  const call = {
    address: parts.registry,
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
