/**
 * Off-chain attestations of EAS, versions 1 and 2: the UID, the signed message, and the check of both.
 *
 * The UID covers the message and the version, but neither the signer nor the chain. So two attesters who sign the same message of
 * version 1 get the same UID.
 */
import { recoverAddress } from '../crypto/address.ts'
import { hexToBytes, utf8 } from '../crypto/hex.ts'
import type { Keccak, Secp256k1 } from '../crypto/primitives.ts'
import { parseSignature } from '../crypto/signature.ts'
import type { OffchainAttestation } from '../types/generated.ts'
import type { Hex } from '../wire/values.ts'
import { putBytes32, putHex, putUint } from './abi.ts'
import type { Chain } from './chains.ts'

/** The name in the EIP-712 domain of off-chain attestations. */
const DOMAIN_NAME = 'EAS Attestation'
const DOMAIN_FIELDS = [
  ['name', 'string'],
  ['version', 'string'],
  ['chainId', 'uint256'],
  ['verifyingContract', 'address'],
] as const
const MESSAGE_FIELDS = [
  ['version', 'uint16'],
  ['schema', 'bytes32'],
  ['recipient', 'address'],
  ['time', 'uint64'],
  ['expirationTime', 'uint64'],
  ['revocable', 'bool'],
  ['refUID', 'bytes32'],
  ['data', 'bytes'],
] as const
/** The fields of the signed message, by version. */
const FIELDS = { 1: MESSAGE_FIELDS, 2: [...MESSAGE_FIELDS, ['salt', 'bytes32'] as const] } as const

type Fields = readonly (readonly [name: string, type: string])[]
type Message = OffchainAttestation['message']

/** The members of an attestation that the checks need; its shape must have been checked against the schema. */
export interface SignedOffchain {
  readonly attestation: OffchainAttestation
  /** The address that signed, in any case. */
  readonly signer: string
}

interface OffchainOptions {
  /** The chains whose EAS contracts are known, by chain ID. */
  readonly chains: ReadonlyMap<number, Pick<Chain, 'id' | 'name' | 'easAddress'>>
  readonly keccak: Keccak
  readonly secp256k1: Secp256k1
}

export type OffchainCheck =
  | 'version'
  | 'salt'
  | 'types'
  | 'chain'
  | 'contract'
  | 'time'
  | 'uid'
  | 'signature'
  | 'signer'

export type OffchainAuthentication =
  | {
      readonly ok: true
      readonly chainId: number
      /** Lower case, as is `signer`. */
      readonly uid: Hex
      readonly signer: Hex
      /** Unix seconds, uint64. */
      readonly timeSeconds: bigint
      /** Unix seconds, uint64; 0 means never. */
      readonly expirationTimeSeconds: bigint
    }
  | {
      readonly ok: false
      readonly check: OffchainCheck
      /** Path of the member with the fault: in the attestation, or `signer`, which stands beside it. */
      readonly member: readonly string[]
      readonly reason: string
      readonly hint: string
    }

const SIGN_AGAIN = 'send the attestation exactly as its attester signed it, or have it signed again'
const LARGEST_UINT64 = 2n ** 64n - 1n

/**
 * Checks that an off-chain attestation has the UID of its message, and that `signer` signed the message for the EAS contract of a
 * known chain. Does not compare its times with a clock.
 *
 * @returns the first check that fails; never throws on what a client sent, if its shape matches the schema
 */
export function authenticateOffchain(signed: SignedOffchain, options: OffchainOptions): OffchainAuthentication {
  const { attestation } = signed
  const { chains, keccak, secp256k1 } = options
  const { domain, message } = attestation
  const shapeFault = findShapeFault(attestation)
  if (shapeFault !== undefined) return shapeFault
  const chain = chains.get(Number(domain.chainId))
  if (chain === undefined) {
    const known = [...chains.values()].map(({ id, name }) => `${id} (${name})`).join(', ')
    const reason = `chain ${domain.chainId} is not supported`
    return failure('chain', ['domain', 'chainId'], reason, `send an attestation for one of the chains ${known}`)
  }
  if (domain.verifyingContract.toLowerCase() !== chain.easAddress.toLowerCase()) {
    const reason = `is not the EAS contract of chain ${chain.id}, ${chain.easAddress}`
    return failure('contract', ['domain', 'verifyingContract'], reason, SIGN_AGAIN)
  }
  const [time, expirationTime] = [BigInt(message.time), BigInt(message.expirationTime)]
  for (const [name, value] of Object.entries({ time, expirationTime })) {
    if (value > LARGEST_UINT64) return failure('time', ['message', name], 'is not a uint64', 'send Unix seconds')
  }
  const uid = offchainUid(message, keccak)
  if (uid !== attestation.uid.toLowerCase()) {
    return failure('uid', ['uid'], `is not the UID of this message, which is ${uid}`, SIGN_AGAIN)
  }
  const parsed = parseSignature(signatureText(attestation.signature))
  if (!parsed.ok) return failure('signature', ['signature'], parsed.reason, SIGN_AGAIN)
  const signer = recoverAddress(offchainDigest(attestation, keccak), parsed.signature, secp256k1, keccak)
  if (signer === undefined || signer !== signed.signer.toLowerCase()) {
    const reason = `did not sign this message for the EAS contract of chain ${chain.id}`
    return failure('signer', ['signer'], reason, SIGN_AGAIN)
  }
  return { ok: true, chainId: chain.id, uid, signer, timeSeconds: time, expirationTimeSeconds: expirationTime }
}

/** Compares the members that say how the message is signed with its version. */
function findShapeFault({ version, types, message }: OffchainAttestation): OffchainAuthentication | undefined {
  if (version !== undefined && version !== message.version) {
    return failure('version', ['version'], `differs from the signed version ${message.version}`, SIGN_AGAIN)
  }
  if ((message.salt !== undefined) !== (message.version === 2)) {
    const reason = message.version === 2 ? 'is missing, but version 2 signs it' : 'is not signed in version 1'
    return failure('salt', ['message', 'salt'], reason, SIGN_AGAIN)
  }
  if (types === undefined) return undefined
  const expected = { Attest: FIELDS[message.version], EIP712Domain: DOMAIN_FIELDS }
  for (const name of Object.keys(types)) {
    const fields: Fields | undefined = Object.hasOwn(expected, name)
      ? expected[name as keyof typeof expected]
      : undefined
    if (fields !== undefined && hasFields(types[name], fields)) continue
    return failure('types', ['types', name], `is not a type of version ${message.version}`, SIGN_AGAIN)
  }
  if (Object.hasOwn(types, 'Attest')) return undefined
  return failure('types', ['types'], 'has no type "Attest"', 'leave types out, or send those of the version')
}

function hasFields(value: unknown, fields: Fields): boolean {
  return (
    Array.isArray(value) &&
    value.length === fields.length &&
    fields.every(([name, type], index) => value[index]?.name === name && value[index]?.type === type)
  )
}

/**
 * Computes the UID of an off-chain attestation as the EAS SDK does. The schema's UID is hashed as text, so only lower case gives the
 * UID under which the attester would revoke it.
 *
 * @param message its shape must have been checked, and its times must be uint64
 */
export function offchainUid(message: Message, keccak: Keccak): Hex {
  const { version, schema, recipient, time, expirationTime, revocable, refUID, data, salt = '0x' } = message
  const attester = '0'.repeat(40) // EAS leaves the attester out
  const times = `${digits(time, 16)}${digits(expirationTime, 16)}${revocable ? '01' : '00'}`
  const tail = `${refUID.slice(2)}${data.slice(2)}${salt.slice(2)}${'0'.repeat(8)}`
  const schemaText = [...utf8(schema)].map((byte) => digits(byte, 2)).join('')
  const packed = hexToBytes(`0x${digits(version, 4)}${schemaText}${recipient.slice(2)}${attester}${times}${tail}`)
  if (packed === undefined) throw new RangeError('a field of the attestation is not hex')
  return keccak.hashHex(packed)
}

/** Computes the EIP-712 digest that the attester signs, 32 bytes. */
function offchainDigest({ domain, message }: OffchainAttestation, keccak: Keccak): Uint8Array {
  const { version, schema, recipient, time, expirationTime, revocable, refUID, data, salt } = message
  const domainWords = new Uint8Array(5 * 32)
  domainWords.set(keccak.hash(utf8(encodeType('EIP712Domain', DOMAIN_FIELDS))), 0)
  domainWords.set(keccak.hash(utf8(DOMAIN_NAME)), 32)
  domainWords.set(keccak.hash(utf8(domain.version)), 64)
  putBytes32(domainWords, 3, `0x${digits(domain.chainId, 64)}`)
  putHex(domainWords, 4, domain.verifyingContract)

  const words = new Uint8Array((FIELDS[version].length + 1) * 32)
  words.set(keccak.hash(utf8(encodeType('Attest', FIELDS[version]))), 0)
  putUint(words, 1, version)
  putBytes32(words, 2, schema)
  putHex(words, 3, recipient)
  putBytes32(words, 4, `0x${digits(time, 64)}`)
  putBytes32(words, 5, `0x${digits(expirationTime, 64)}`)
  putUint(words, 6, revocable ? 1 : 0)
  putBytes32(words, 7, refUID)
  words.set(keccak.hash(hexToBytes(data)!), 8 * 32)
  if (salt !== undefined) putBytes32(words, 9, salt)

  const envelope = new Uint8Array(66)
  envelope.set([0x19, 0x01])
  envelope.set(keccak.hash(domainWords), 2)
  envelope.set(keccak.hash(words), 34)
  return keccak.hash(envelope)
}

/** Writes an EIP-712 type: `Attest(uint16 version,…)`. */
function encodeType(name: string, fields: Fields): string {
  return `${name}(${fields.map(([field, type]) => `${type} ${field}`).join(',')})`
}

function signatureText(signature: OffchainAttestation['signature']): string {
  if (typeof signature === 'string') return signature
  return `${signature.r}${signature.s.slice(2)}${digits(signature.v, 2)}`
}

/** Writes an unsigned integer with this many hex digits. */
function digits(value: number | string, count: number): string {
  return BigInt(value).toString(16).padStart(count, '0')
}

function failure(
  check: OffchainCheck,
  member: readonly string[],
  reason: string,
  hint: string,
): OffchainAuthentication {
  return { ok: false, check, member, reason, hint }
}
