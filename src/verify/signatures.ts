import { publicKeyAddress, recoverAddress } from '../crypto/address.ts'
import type { Ed25519 } from '../crypto/ed25519.ts'
import { bytesToHex, compareBytes, hexToBytes } from '../crypto/hex.ts'
import type { Keccak, Secp256k1 } from '../crypto/primitives.ts'
import { parseSignature } from '../crypto/signature.ts'
import type { SignatureVerdict, StampSignature, SubjectIdentifier } from '../types/generated.ts'
import type { DidKey, DidKeys } from '../wire/compute-messages.ts'
import type { StampMessage } from './message.ts'
import { spendOnEd25519, spendOnRecovery } from './signature-work.ts'

/** The cryptography that verifying signatures needs. */
export interface SignatureEngine {
  readonly keccak: Keccak
  readonly secp256k1: Secp256k1
  readonly ed25519: Ed25519
  /** Keys of `did:web` signers. When absent, signatures of `did:web` signers do not verify. */
  readonly didKeys?: DidKeys
}

/** The verdict on one signature, without its index. */
type SignatureOutcome = Pick<SignatureVerdict, 'ok' | 'reason' | 'recovered'> & {
  readonly message: string | null
  /** The key that signed, in one notation; absent when nothing verified. */
  readonly key?: string
}

/** The verdicts on the signatures of a stamp, and the keys that signed. */
export interface JudgedSignatures {
  readonly verdicts: readonly SignatureVerdict[]
  /**
   * The keys that signed, each once: an address for secp256k1, whatever notation names the key, or `ed25519:` and hex.
   * A signer who names one key in three ways counts once.
   */
  readonly keys: readonly string[]
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const HEX = /^(?:0x)?(?:[0-9a-fA-F]{2})+$/

/**
 * Verifies each signature of a stamp with the key that it names. No verdict is `ok` without a cryptographic check.
 *
 * @param subject of the claim; undefined when there is no claim
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function verifySignatures(
  signatures: readonly StampSignature[],
  messages: Iterable<StampMessage>,
  subject: SubjectIdentifier | undefined,
  engine: SignatureEngine,
): JudgedSignatures {
  const keys = new Set<string>()
  const verdicts = signatures.map((signature, index) => {
    const { key, ...judged } = verifySignature(signature, messages, engine)
    if (key !== undefined) keys.add(key)
    const verdict = { index, ...judged }
    return subject === undefined
      ? verdict
      : { ...verdict, boundToSubject: verdict.ok && isSameIdentity(signature.signer, subject) }
  })
  return { verdicts, keys: [...keys] }
}

/** Returns whether both identifiers name the same signer. The case of hex digits does not matter. */
function isSameIdentity(a: SubjectIdentifier, b: SubjectIdentifier): boolean {
  return identityKey(a) === identityKey(b)
}

/** Returns one string for each signer. The fragment of a DID is dropped: it names a key, not another signer. */
function identityKey({ scheme, value }: SubjectIdentifier): string {
  if (scheme === 'did:web') return `${scheme}:${value.replace(/#.*$/s, '')}`
  return `${scheme}:${HEX.test(value) ? value.toLowerCase().replace(/^0x/, '') : value}`
}

function verifySignature(
  { signer, algorithm, value }: StampSignature,
  messages: Iterable<StampMessage>,
  engine: SignatureEngine,
): SignatureOutcome {
  if (signer.scheme === 'did:web') return verifyDidWeb(signer.value, algorithm, value, messages, engine)
  if (algorithm === 'secp256k1') {
    if (signer.scheme === 'eth-address') return verifyAddress(signer.value, value, messages, engine)
    if (signer.scheme === 'device-pubkey') return verifyDeviceKey(signer.value, value, messages, engine)
    return refused('unsupported-scheme')
  }
  if (algorithm !== 'ed25519') return refused('unsupported-algorithm')
  if (signer.scheme !== 'device-pubkey') return refused('unsupported-scheme')
  return verifyEd25519(signer.value, value, messages, engine)
}

/** Verifies EIP-191 over a message: the recovered address must be the named one. */
function verifyAddress(
  address: string,
  value: string,
  messages: Iterable<StampMessage>,
  { secp256k1, keccak }: SignatureEngine,
): SignatureOutcome {
  if (!ADDRESS.test(address)) return refused('signer is not an address')
  const parsed = parseSignature(value)
  if (!parsed.ok) return refused(`signature ${parsed.reason}`)
  let recovered: string | null = null
  for (const { form, eip191 } of messages) {
    spendOnRecovery()
    const candidate = recoverAddress(eip191(), parsed.signature, secp256k1, keccak)
    if (candidate === address.toLowerCase())
      return { ok: true, reason: 'eip191', recovered: candidate, message: form, key: candidate }
    recovered ??= candidate ?? null
  }
  return { ok: false, reason: 'signer-mismatch', recovered, message: null }
}

/**
 * Verifies ECDSA over SHA-256 of a message or over its EIP-191 hash: the recovered public key must be the named one.
 */
function verifyDeviceKey(
  key: string,
  value: string,
  messages: Iterable<StampMessage>,
  { secp256k1, keccak }: SignatureEngine,
): SignatureOutcome {
  const expected = bytesFromHex(key)
  if (expected === undefined || !isPublicKey(expected)) return refused('signer is not a public key of 33 or 65 bytes')
  const parsed = parseSignature(value)
  if (!parsed.ok) return refused(`signature ${parsed.reason}`)
  for (const message of messages) {
    for (const [reason, computeDigest] of [
      ['ecdsa-sha256', message.sha256],
      ['ecdsa-eip191', message.eip191],
    ] as const) {
      const digest = computeDigest()
      spendOnRecovery()
      const publicKey = secp256k1.recover(digest, parsed.signature)
      if (publicKey !== undefined && isSameKey(publicKey, expected)) {
        const recovered = `0x${bytesToHex(expected)}`
        return { ok: true, reason, recovered, message: message.form, key: publicKeyAddress(publicKey, keccak) }
      }
    }
  }
  return refused('signer-mismatch')
}

function verifyEd25519(
  key: string,
  value: string,
  messages: Iterable<StampMessage>,
  { ed25519 }: SignatureEngine,
): SignatureOutcome {
  const publicKey = bytesFromHex(key)
  if (publicKey?.length !== 32) return refused('signer is not a public key of 32 bytes')
  const signature = bytesFromHex(value)
  if (signature?.length !== 64) return refused('signature is not 64 bytes of hex')
  for (const { form, bytes } of messages) {
    spendOnEd25519(bytes)
    if (!ed25519.verify(bytes, signature, publicKey)) continue
    const hex = bytesToHex(publicKey)
    return { ok: true, reason: 'ed25519', recovered: `0x${hex}`, message: form, key: `ed25519:${hex}` }
  }
  return refused('signer-mismatch')
}

/** Verifies with a key from the operator's copy of the DID document. A fragment selects one of the keys. */
function verifyDidWeb(
  signer: string,
  algorithm: string,
  value: string,
  messages: Iterable<StampMessage>,
  engine: SignatureEngine,
): SignatureOutcome {
  if (engine.didKeys === undefined) return refused('did-resolution-disabled')
  const [did, fragment] = signer.split('#', 2) as [string, string | undefined]
  const documentKeys = engine.didKeys.get(did)
  if (documentKeys === undefined) return refused('did-unknown')
  if (algorithm !== 'secp256k1' && algorithm !== 'ed25519') return refused('unsupported-algorithm')
  const hasAlgorithm = ({ key }: DidKey) => key.startsWith('0x') === (algorithm === 'secp256k1')
  const keys = documentKeys.filter(
    (entry) => hasAlgorithm(entry) && (fragment === undefined || entry.fragment === fragment),
  )
  if (keys.length === 0) return refused('did-without-such-key')
  if (algorithm === 'secp256k1') return verifyAnyAddress(new Set(keys.map(({ key }) => key)), value, messages, engine)
  const verdicts = keys.map(({ key }) => verifyEd25519(key.slice('ed25519:'.length), value, messages, engine))
  return verdicts.find(({ ok }) => ok) ?? verdicts[0]!
}

/** Verifies with any of several addresses. Recovers the signer first, so the cost does not grow with the addresses. */
function verifyAnyAddress(
  addresses: ReadonlySet<string>,
  value: string,
  messages: Iterable<StampMessage>,
  { secp256k1, keccak }: SignatureEngine,
): SignatureOutcome {
  const parsed = parseSignature(value)
  if (!parsed.ok) return refused(`signature ${parsed.reason}`)
  for (const message of messages) {
    for (const [reason, digest] of [
      ['eip191', message.eip191()],
      ['ecdsa-sha256', message.sha256()],
    ] as const) {
      spendOnRecovery()
      const key = recoverAddress(digest, parsed.signature, secp256k1, keccak)
      if (key !== undefined && addresses.has(key))
        return { ok: true, reason, recovered: key, message: message.form, key }
    }
  }
  return refused('signer-mismatch')
}

function refused(reason: string): SignatureOutcome {
  return { ok: false, reason, recovered: null, message: null }
}

function bytesFromHex(text: string): Uint8Array | undefined {
  return text.length <= 200 && HEX.test(text) ? hexToBytes(text.startsWith('0x') ? text : `0x${text}`) : undefined
}

function isPublicKey(key: Uint8Array): boolean {
  return key.length === 65 ? key[0] === 4 : key.length === 33 && (key[0] === 2 || key[0] === 3)
}

/** @param publicKey 65 bytes 04‖x‖y */
function isSameKey(publicKey: Uint8Array, expected: Uint8Array): boolean {
  if (expected.length === 65) return compareBytes(publicKey, expected) === 0
  const prefix = 2 + (publicKey[64]! & 1)
  return expected[0] === prefix && compareBytes(publicKey.subarray(1, 33), expected.subarray(1)) === 0
}
