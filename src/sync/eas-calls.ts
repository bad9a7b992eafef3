/** Calls of the EAS contracts; these functions are the same in every version. */
import { type Abi, decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem'
import type { Hex } from '../wire/messages.ts'
import { type Rpc, RpcError } from './rpc.ts'

const EAS = parseAbi([
  'function getDomainSeparator() view returns (bytes32)',
  'function getAttestTypeHash() view returns (bytes32)',
  'function getNonce(address account) view returns (uint256)',
  'struct Attestation { bytes32 uid; bytes32 schema; uint64 time; uint64 expirationTime; uint64 revocationTime; bytes32 refUID; address recipient; address attester; bool revocable; bytes data; }',
  'function getAttestation(bytes32 uid) view returns (Attestation)',
])
const REGISTRY = parseAbi([
  'struct SchemaRecord { bytes32 uid; address resolver; bool revocable; string schema; }',
  'function getSchema(bytes32 uid) view returns (SchemaRecord)',
])

/** An attestation as the contract returns it; all fields are zero when there is none. */
export interface EasAttestation {
  readonly uid: Hex
  readonly schema: Hex
  readonly time: bigint
  readonly expirationTime: bigint
  readonly revocationTime: bigint
  readonly refUID: Hex
  readonly recipient: Hex
  readonly attester: Hex
  readonly revocable: boolean
  readonly data: Hex
}

export interface SchemaRecord {
  readonly uid: Hex
  readonly resolver: Hex
  readonly revocable: boolean
  readonly schema: string
}

/** Calls the EAS contracts. Every function throws {RpcError} when there is no usable response. */
export const easCalls = {
  domainSeparator: (rpc: Rpc, eas: Hex) => call<Hex>(rpc, eas, EAS, 'getDomainSeparator', []),
  attestTypeHash: (rpc: Rpc, eas: Hex) => call<Hex>(rpc, eas, EAS, 'getAttestTypeHash', []),
  nonce: (rpc: Rpc, eas: Hex, attester: Hex) => call<bigint>(rpc, eas, EAS, 'getNonce', [attester]),
  attestation: (rpc: Rpc, eas: Hex, uid: Hex) => call<EasAttestation>(rpc, eas, EAS, 'getAttestation', [uid]),
  schema: (rpc: Rpc, registry: Hex, uid: Hex) => call<SchemaRecord>(rpc, registry, REGISTRY, 'getSchema', [uid]),
}

async function call<T>(rpc: Rpc, to: Hex, abi: Abi, functionName: string, args: readonly unknown[]): Promise<T> {
  const data = encodeFunctionData({ abi, functionName, args })
  const result = await rpc.request('eth_call', [{ to, data }, 'latest'])
  try {
    return decodeFunctionResult({ abi, functionName, data: result as Hex }) as T
  } catch {
    // A call to an address without code returns `0x`.
    throw new RpcError(`${functionName}: ${result === '0x' ? 'no contract' : 'undecodable response'} at ${to}`, {
      code: 3,
    })
  }
}
