import type { BuiltInChain } from '../../attest/chains.ts'
import { SCHEMA_STRINGS } from '../../attest/schemas.ts'
import { attestTypeHash, domainSeparator } from '../../attest/typed-data.ts'
import { bytesToHex } from '../../crypto/hex.ts'
import type { Keccak } from '../../crypto/primitives.ts'
import {
  attestByDelegation,
  type ChainReader,
  calldata,
  paddedWord,
  RpcError,
  readAttestation,
  readSchema,
} from './chain-calls.ts'
import type { Signed } from './check-attestation.ts'
import type { SignedData } from './signed-data.ts'
import type { CheckList } from './verdict.ts'

/**
 * Checks the attestation against the current state of the chain: adds `rpc`, `contract`, `registered`, `nonce`, `simulation`, and
 * for a proof `on-chain`.
 *
 * @param uid UID of an attestation that may already be on the chain; undefined for all others
 */
export async function checkOnChain(
  signed: Signed,
  data: SignedData | undefined,
  uid: string | undefined,
  chain: BuiltInChain,
  reader: ChainReader,
  keccak: Keccak,
  list: CheckList,
): Promise<void> {
  try {
    const id = await reader.chainId()
    if (id !== chain.id) {
      list.fail('rpc', `the RPC serves chain ${id}, the attestation is for ${chain.id}`)
      return
    }
    list.pass('rpc', `the RPC serves chain ${id}`)
    if (!(await checkContract(chain, reader, keccak, list))) return
    await checkSchema(signed.attestation.schema, data, chain, reader, keccak, list)
    if (uid !== undefined && (await checkStored(uid, chain, reader, keccak, list))) return
    await checkNonce(signed, chain, reader, keccak, list)
    await simulate(signed, chain, reader, keccak, list)
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    list.fail('rpc', error.message)
  }
}

/** Checks the contract's EIP-712 domain and layout: if one differs from what was signed, the contract rejects the signature. */
async function checkContract(
  chain: BuiltInChain,
  reader: ChainReader,
  keccak: Keccak,
  list: CheckList,
): Promise<boolean> {
  const call = (signature: string) => reader.call(chain.easAddress, calldata(signature, '', keccak))
  const faults: string[] = []
  if ((await call('getDomainSeparator()')) !== `0x${bytesToHex(domainSeparator(chain, keccak))}`) {
    faults.push(
      `the contract at ${chain.easAddress} has another EIP-712 domain than EAS ${chain.easVersion} at this address`,
    )
  }
  if ((await call('getAttestTypeHash()')) !== `0x${bytesToHex(attestTypeHash(chain.profile, keccak))}`) {
    faults.push(`its layout of signed fields is not ${chain.profile}`)
  }
  return list.judge('contract', faults, `EAS ${chain.easVersion} at ${chain.easAddress} accepts this layout`)
}

async function checkSchema(
  uid: string,
  data: SignedData | undefined,
  chain: BuiltInChain,
  reader: ChainReader,
  keccak: Keccak,
  list: CheckList,
): Promise<void> {
  const returned = await reader.call(
    chain.schemaRegistryAddress,
    calldata('getSchema(bytes32)', paddedWord(uid), keccak),
  )
  const registered = readSchema(returned)
  const faults: string[] = []
  if (registered === undefined) faults.push('the schema is not registered: EAS rejects attestations under it')
  else if (data !== undefined && withoutSpaces(registered.schema) !== withoutSpaces(SCHEMA_STRINGS[data.kind])) {
    faults.push(
      `the schema is registered as ${JSON.stringify(registered.schema)}, which is not the schema of ${data.kind} data`,
    )
  }
  list.judge('registered', faults, 'the schema is registered for this kind of data')
}

function withoutSpaces(schema: string): string {
  return schema.replace(/,\s+/g, ',').trim()
}

/** Checks whether the attestation is on the chain. @returns true if so: there is then nothing to submit */
async function checkStored(
  uid: string,
  chain: BuiltInChain,
  reader: ChainReader,
  keccak: Keccak,
  list: CheckList,
): Promise<boolean> {
  const returned = await reader.call(chain.easAddress, calldata('getAttestation(bytes32)', paddedWord(uid), keccak))
  const stored = readAttestation(returned)
  if (stored === undefined) {
    list.skip(
      'on-chain',
      'no attestation with this UID is on the chain; once submitted, it gets another UID, with the time of its block',
    )
    return false
  }
  if (stored.revocationTimeSeconds === 0) list.pass('on-chain', 'is on the chain and not revoked')
  else list.fail('on-chain', 'was revoked on the chain')
  return true
}

async function checkNonce(
  { delegatedAttestation: { attester, nonce } }: Signed,
  chain: BuiltInChain,
  reader: ChainReader,
  keccak: Keccak,
  list: CheckList,
): Promise<void> {
  const current = BigInt(
    await reader.call(chain.easAddress, calldata('getNonce(address)', paddedWord(attester), keccak)),
  )
  if (BigInt(nonce) === current) list.pass('nonce', `${nonce} is the attester's current nonce`)
  else if (BigInt(nonce) < current)
    list.fail('nonce', `${nonce} is used up, the current nonce is ${current}: have the result signed again`)
  else
    list.fail(
      'nonce',
      `${nonce} is ahead of the current nonce, ${current}: earlier attestations must be submitted first`,
    )
}

async function simulate(
  signed: Signed,
  chain: BuiltInChain,
  reader: ChainReader,
  keccak: Keccak,
  list: CheckList,
): Promise<void> {
  try {
    await reader.call(chain.easAddress, attestByDelegation(signed, chain.profile, keccak))
    list.pass('simulation', 'EAS would accept it now')
  } catch (error) {
    if (!(error instanceof RpcError) || !error.isRevert) throw error
    list.fail('simulation', `EAS would reject it: ${error.message}`)
  }
}
