import { type Abi, encodeDeployData, encodeFunctionData } from 'viem'
import type { Chain } from '../attest/chains.ts'
import { SCHEMA_KINDS, SCHEMA_STRINGS } from '../attest/schemas.ts'
import type { Hex } from '../messages.ts'
import type { Rpc } from '../sync/rpc.ts'
import { sendTransaction } from './local-rpc.ts'

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
 * Puts EAS and its registry on a new chain, at the addresses that the chain table has, and registers our schemas.
 *
 * @param contracts of 1.2.0 unless told
 * @throws {Error} when the chain refuses
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
 * Runs the constructor at the address itself: what it stores stays there, what it returns becomes the code, so that immutable
 * values made from the contract's own address are right.
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

/** The ABI of the EAS contract that a local chain has. */
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
