import { readAbi } from '../../attest/abi.ts'
import type { BuiltInChain } from '../../attest/chains.ts'
import { SCHEMA_STRINGS } from '../../attest/schemas.ts'
import { attestTypeHash, domainSeparator } from '../../attest/typed-data.ts'
import type { ChainProfile } from '../../config/chains.ts'
import { bytesToHex, utf8 } from '../../crypto/hex.ts'
import type { Keccak } from '../../crypto/primitives.ts'
import type { Hex } from '../../wire/values.ts'
import type { Signed } from './check-attestation.ts'
import type { SignedData } from './signed-data.ts'
import type { CheckList } from './verdict.ts'

/** What the checks against the state of a chain have in common. */
interface ChainCheck {
  readonly signed: Signed
  /** The decoded data; undefined when it could not be decoded. */
  readonly data: SignedData | undefined
  /** UID of an attestation that may already be on the chain; undefined for all others. */
  readonly uid: string | undefined
  readonly chain: BuiltInChain
  readonly reader: ChainReader
  readonly keccak: Keccak
  readonly list: CheckList
}

/**
 * Checks the attestation against the current state of the chain: adds `rpc`, `contract`, `registered`, `nonce`, `simulation`, and
 * for a proof `on-chain`.
 */
export async function checkOnChain(check: ChainCheck): Promise<void> {
  const { chain, reader, list } = check
  try {
    const id = await reader.chainId()
    if (id !== chain.id) {
      list.fail('rpc', `the RPC serves chain ${id}, the attestation is for ${chain.id}`)
      return
    }
    list.pass('rpc', `the RPC serves chain ${id}`)
    if (!(await checkContract(check))) return
    await checkSchema(check)
    if (await checkStored(check)) return
    await checkNonce(check)
    await simulate(check)
  } catch (error) {
    if (!(error instanceof RpcError)) throw error
    list.fail('rpc', error.message)
  }
}

/** Checks the contract's EIP-712 domain and layout: if one differs from what was signed, the contract rejects the signature. */
async function checkContract({ chain, reader, keccak, list }: ChainCheck): Promise<boolean> {
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

async function checkSchema({ signed, data, chain, reader, keccak, list }: ChainCheck): Promise<void> {
  const call = calldata('getSchema(bytes32)', paddedWord(signed.attestation.schema), keccak)
  const registered = readSchema(await reader.call(chain.schemaRegistryAddress, call))
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
async function checkStored({ uid, chain, reader, keccak, list }: ChainCheck): Promise<boolean> {
  if (uid === undefined) return false
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

async function checkNonce({ signed, chain, reader, keccak, list }: ChainCheck): Promise<void> {
  const { attester, nonce } = signed.delegatedAttestation
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

async function simulate({ signed, chain, reader, keccak, list }: ChainCheck): Promise<void> {
  try {
    await reader.call(chain.easAddress, attestByDelegation(signed, chain.profile, keccak))
    list.pass('simulation', 'EAS would accept it now')
  } catch (error) {
    if (!(error instanceof RpcError) || !error.isRevert) throw error
    list.fail('simulation', `EAS would reject it: ${error.message}`)
  }
}

/** Reads from a chain; each call is one request. The calls are few, so they are encoded here without a general library. */
export interface ChainReader {
  chainId(): Promise<number>
  /** Calls a contract. @returns its return data. @throws {RpcError} when the call reverts or the RPC fails */
  call(to: string, data: Hex): Promise<Hex>
}

/** Thrown when an RPC call fails or reverts. */
export class RpcError extends Error {
  /** True when the contract reverted. The message then has the error's selector and arguments if the endpoint returns them. */
  readonly isRevert: boolean

  constructor(message: string, isRevert: boolean) {
    super(message)
    this.name = 'RpcError'
    this.isRevert = isRevert
  }
}

/** Creates a reader that speaks JSON-RPC 2.0 over HTTP. */
export function createChainReader(url: string, timeoutMs: number, send: typeof fetch): ChainReader {
  async function request(method: string, params: readonly unknown[]): Promise<Hex> {
    let reply: { result?: unknown; error?: { code?: number; message?: string; data?: unknown } }
    try {
      const response = await send(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      reply = (await response.json()) as typeof reply
    } catch {
      throw new RpcError(`${method}: the RPC does not answer`, false) // the URL is not shown, because it may contain a key
    }
    const { result, error } = reply
    if (typeof result === 'string' && /^0x[0-9a-fA-F]*$/.test(result)) return result as Hex
    const revertData = typeof error?.data === 'string' ? ` ${error.data.slice(0, 200)}` : ''
    // Code 3 means a revert with data. Some endpoints return −32000 and mention the revert only in the message.
    const isRevert = error?.code === 3 || revertData !== '' || /revert/i.test(error?.message ?? '')
    throw new RpcError(`${method}: ${error?.message ?? 'no result'}${revertData}`, isRevert)
  }
  return {
    chainId: async () => Number(await request('eth_chainId', [])),
    call: (to, data) => request('eth_call', [{ to, data }, 'latest']),
  }
}

/** Encodes the calldata of a function. @param words the arguments: 32-byte words in hex, without `0x` */
export function calldata(signature: string, words: string, keccak: Keccak): Hex {
  return `${keccak.hashHex(utf8(signature)).slice(0, 10)}${words}` as Hex
}

const MESSAGE = '(address,uint64,bool,bytes32,bytes,uint256)'
const DELEGATED: Readonly<Record<'legacy' | 'later', string>> = {
  legacy: `attestByDelegation((bytes32,${MESSAGE},(uint8,bytes32,bytes32),address))`,
  later: `attestByDelegation((bytes32,${MESSAGE},(uint8,bytes32,bytes32),address,uint64))`,
}
const MESSAGE_WORDS = 6

/** Encodes the calldata of `attestByDelegation`. Before EAS 1.2 it has no deadline. */
export function attestByDelegation(
  { attestation, delegatedAttestation }: Signed,
  profile: ChainProfile,
  keccak: Keccak,
): Hex {
  const { schema, recipient, revocable, refUID, data, expirationTime = 0 } = attestation
  const { signature, attester, deadline } = delegatedAttestation
  const isLegacy = profile === 'legacy'
  const bytes = data.slice(2)
  const message =
    `${paddedWord(recipient)}${uintWord(expirationTime)}${uintWord(revocable ? 1 : 0)}${paddedWord(refUID)}${uintWord(MESSAGE_WORDS * 32)}` +
    `${uintWord(0)}${uintWord(bytes.length / 2)}${bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')}`
  const headWords = isLegacy ? 6 : 7
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), signature.slice(130)]
  const head =
    `${paddedWord(schema)}${uintWord(headWords * 32)}${v.padStart(64, '0')}${r}${s}${paddedWord(attester)}` +
    (isLegacy ? '' : uintWord(deadline))
  return calldata(DELEGATED[isLegacy ? 'legacy' : 'later'], `${uintWord(32)}${head}${message}`, keccak)
}

/** Decodes what `getSchema` of a registry returned; undefined when the UID is not registered. @throws {RpcError} */
export function readSchema(returned: Hex): { readonly schema: string; readonly resolver: bigint } | undefined {
  const read = readAbi(afterOffset(returned), 4, (tuple) => ({
    uid: tuple.bytes32(),
    resolver: tuple.uint(160),
    revocable: tuple.bool(),
    schema: tuple.string(),
  }))
  if (!read.ok) throw new RpcError(`getSchema: the return data ${read.reason}`, false)
  return /^0x0{64}$/.test(read.value.uid) ? undefined : read.value
}

/** An attestation on the chain. */
interface StoredAttestation {
  readonly schema: Hex
  readonly recipient: Hex
  /** 0 if it is not revoked. */
  readonly revocationTimeSeconds: number
  readonly data: Hex
}

/** Decodes what `getAttestation` of EAS returned; undefined when the UID is not on the chain. @throws {RpcError} */
export function readAttestation(returned: Hex): StoredAttestation | undefined {
  const read = readAbi(afterOffset(returned), 10, (tuple) => {
    const [uid, schema] = [tuple.bytes32(), tuple.bytes32()]
    const [, , revocationTimeSeconds] = [tuple.uint(64), tuple.uint(64), Number(tuple.uint(64))]
    tuple.bytes32()
    const recipient: Hex = `0x${tuple.uint(160).toString(16).padStart(40, '0')}`
    tuple.uint(160)
    tuple.bool()
    return { uid, schema, recipient, revocationTimeSeconds, data: tuple.bytes() }
  })
  if (!read.ok) throw new RpcError(`getAttestation: the return data ${read.reason}`, false)
  return /^0x0{64}$/.test(read.value.uid) ? undefined : read.value
}

/** Removes the first word: the offset of the returned dynamic structure. */
function afterOffset(returned: Hex): Hex {
  return `0x${returned.slice(66)}`
}

/** Encodes a whole number as a word of hex, without `0x`. */
export function uintWord(value: number): string {
  return value.toString(16).padStart(64, '0')
}

/** Pads an address or a word to a word of hex, without `0x`. */
export function paddedWord(hex: string): string {
  return hex.slice(2).toLowerCase().padStart(64, '0')
}
