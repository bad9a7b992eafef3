import { type Abi, encodeDeployData, encodeFunctionData } from 'viem'
import type { Chain } from '../attest/chains.ts'
import { SCHEMA_KINDS, SCHEMA_STRINGS } from '../attest/schemas.ts'
import type { Rpc } from '../sync/rpc.ts'
import type { Hex } from '../wire/values.ts'

interface LogEntry {
  readonly data: Hex
}

interface Receipt {
  readonly status: Hex
  readonly logs: readonly LogEntry[]
}

interface LocalTransaction {
  /** One of anvil's own accounts, which it signs for. */
  readonly from: Hex
  readonly to: Hex
  readonly data?: Hex
}

const POLL_MS = 20

/**
 * Sends a transaction from an unlocked account and waits for its block.
 *
 * @returns the logs of the transaction
 * @throws {RpcError} when an RPC call fails
 * @throws {Error} when the transaction reverts, or is in no block after `timeoutMs`
 */
export async function sendTransaction(
  rpc: Rpc,
  transaction: LocalTransaction,
  timeoutMs: number,
): Promise<readonly LogEntry[]> {
  const hash = await rpc.request('eth_sendTransaction', [transaction])
  const deadlineMs = performance.now() + timeoutMs
  for (;;) {
    const receipt = (await rpc.request('eth_getTransactionReceipt', [hash])) as Receipt | null
    if (receipt !== null) {
      if (Number(receipt.status) !== 1) throw new Error(`a transaction to ${transaction.to} reverted`)
      return receipt.logs
    }
    if (performance.now() > deadlineMs)
      throw new Error(`a transaction to ${transaction.to} was not included in a block in time`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** A compiled contract of `contracts/vendor`. */
export interface CompiledContract {
  readonly abi: Abi
  readonly bytecode: Hex
}

export interface EasParts {
  readonly rpc: Rpc
  readonly chain: Pick<Chain, 'easAddress' | 'schemaRegistryAddress'>
  /** Pays for the transactions. */
  readonly account: Hex
  readonly timeoutMs: number
}

const NO_RESOLVER: Hex = `0x${'0'.repeat(40)}`

/**
 * Installs EAS and its schema registry on a new chain, at the addresses of the chain table, and registers our schemas.
 *
 * @param contracts by default those of EAS 1.2.0
 * @throws {Error} when an RPC call fails or a transaction reverts
 */
export async function installEas(
  parts: EasParts,
  contracts?: { readonly eas: CompiledContract; readonly registry: CompiledContract },
): Promise<void> {
  const { rpc, chain, account, timeoutMs } = parts
  const { eas, registry } = contracts ?? (await readContracts())
  await installContract(parts, chain.schemaRegistryAddress, encodeDeployData(registry))
  await installContract(parts, chain.easAddress, encodeDeployData({ ...eas, args: [chain.schemaRegistryAddress] }))
  for (const kind of SCHEMA_KINDS) {
    const args = [SCHEMA_STRINGS[kind], NO_RESOLVER, true]
    const data = encodeFunctionData({ abi: registry.abi, functionName: 'register', args })
    await sendTransaction(rpc, { from: account, to: chain.schemaRegistryAddress, data }, timeoutMs)
  }
}

/**
 * Installs a contract at a given address by running its constructor there: the constructor's storage stays, and what it returns
 * becomes the code. Immutable values that depend on the contract's address are then correct.
 */
export async function installContract(
  { rpc, account, timeoutMs }: Omit<EasParts, 'chain'>,
  address: Hex,
  creationCode: Hex,
): Promise<void> {
  await rpc.request('anvil_setCode', [address, creationCode])
  const runtimeCode = await rpc.request('eth_call', [{ to: address }, 'latest'])
  await sendTransaction(rpc, { from: account, to: address }, timeoutMs)
  await rpc.request('anvil_setCode', [address, runtimeCode])
}

/** Loads the ABI of the EAS contract on a local chain. */
export async function easAbi(): Promise<Abi> {
  return (await readContracts()).eas.abi
}

async function readContracts(): Promise<{ eas: CompiledContract; registry: CompiledContract }> {
  const [eas, registry] = await Promise.all([
    import('../../contracts/vendor/eas-1.2.0/EAS.json', { with: { type: 'json' } }),
    import('../../contracts/vendor/eas-1.2.0/SchemaRegistry.json', { with: { type: 'json' } }),
  ])
  return { eas: eas.default as CompiledContract, registry: registry.default as CompiledContract }
}
