import type { BuiltInChain } from '../attest/chain-table.ts'
import { SCHEMA_STRINGS } from '../attest/schemas.ts'
import { attestTypeHash, domainSeparator } from '../attest/typed-data.ts'
import { bytesToHex } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/keccak.ts'
import {
  attestByDelegation,
  type ChainReader,
  calldata,
  padded,
  RpcError,
  readAttestation,
  readSchema,
} from './chain-calls.ts'
import type { Signed } from './check-attestation.ts'
import type { SignedData } from './signed-data.ts'
import type { CheckList } from './verdict.ts'

/**
 * What the chain itself says now: checks `rpc`, `contract`, `registered`, `nonce`, `simulation`, and `on-chain` of a proof.
 *
 * @param uid of an attestation that may be on the chain already
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
      list.fail('rpc', `the RPC serves chain ${id}, the answer is for ${chain.id}`)
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

/** Another layout or domain than was signed for, and the contract refuses every signature. */
async function checkContract(
  chain: BuiltInChain,
  reader: ChainReader,
  keccak: Keccak,
  list: CheckList,
): Promise<boolean> {
  const ask = (signature: string) => reader.call(chain.easAddress, calldata(signature, '', keccak))
  const faults: string[] = []
  if ((await ask('getDomainSeparator()')) !== `0x${bytesToHex(domainSeparator(chain, keccak))}`) {
    faults.push(`the contract at ${chain.easAddress} signs in another domain than EAS ${chain.easVersion} there`)
  }
  if ((await ask('getAttestTypeHash()')) !== `0x${bytesToHex(attestTypeHash(chain.profile, keccak))}`) {
    faults.push(`it signs another structure than ${chain.profile}`)
  }
  return list.judge('contract', faults, `EAS ${chain.easVersion} at ${chain.easAddress} takes this layout`)
}

async function checkSchema(
  uid: string,
  data: SignedData | undefined,
  chain: BuiltInChain,
  reader: ChainReader,
  keccak: Keccak,
  list: CheckList,
): Promise<void> {
  const returned = await reader.call(chain.schemaRegistryAddress, calldata('getSchema(bytes32)', padded(uid), keccak))
  const found = readSchema(returned)
  const faults: string[] = []
  if (found === undefined) faults.push('the schema is not registered: EAS takes no attestation under it')
  else if (data !== undefined && withoutSpaces(found.schema) !== withoutSpaces(SCHEMA_STRINGS[data.kind])) {
    faults.push(`the schema is registered as ${JSON.stringify(found.schema)}, which is not ${data.kind} data`)
  }
  list.judge('registered', faults, 'the schema is registered and means this kind of data')
}

function withoutSpaces(schema: string): string {
  return schema.replace(/,\s+/g, ',').trim()
}

/** @returns true when it is there: then nothing is left to be submitted */
async function checkStored(
  uid: string,
  chain: BuiltInChain,
  reader: ChainReader,
  keccak: Keccak,
  list: CheckList,
): Promise<boolean> {
  const returned = await reader.call(chain.easAddress, calldata('getAttestation(bytes32)', padded(uid), keccak))
  const found = readAttestation(returned)
  if (found === undefined) {
    list.skip(
      'on-chain',
      'no attestation of this UID is on the chain; a submitted one has another, with the time of its block',
    )
    return false
  }
  if (found.revocationTimeSeconds === 0) list.pass('on-chain', 'is on the chain and not revoked')
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
  const current = BigInt(await reader.call(chain.easAddress, calldata('getNonce(address)', padded(attester), keccak)))
  if (BigInt(nonce) === current) list.pass('nonce', `${nonce} is the attester's current one`)
  else if (BigInt(nonce) < current)
    list.fail('nonce', `${nonce} is used up, the current one is ${current}: have it signed again`)
  else
    list.fail('nonce', `${nonce} is ahead of the current one, ${current}: what came before has to be submitted first`)
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
    list.pass('simulation', 'EAS would take it now')
  } catch (error) {
    if (!(error instanceof RpcError) || !error.isRevert) throw error
    list.fail('simulation', `EAS would refuse it: ${error.message}`)
  }
}
