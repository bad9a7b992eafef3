import { publicKeyAddress, recoverAddress } from '../crypto/address.ts'
import type { Ed25519 } from '../crypto/ed25519.ts'
import { bytesToHex, compareBytes, hexToBytes } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { Secp256k1 } from '../crypto/secp256k1.ts'
import { parseSignature } from '../crypto/signature.ts'
import type { DidKey, DidKeys } from '../evidence-messages.ts'
import type { SignatureVerdict, StampSignature, SubjectIdentifier } from '../types/generated.ts'
import type { StampMessage } from './message.ts'

export interface SignatureEngine {
  readonly keccak: Keccak
  readonly secp256k1: Secp256k1
  readonly ed25519: Ed25519
  /** Keys of signers by `did:web`, who are nobody when absent. */
  readonly didKeys?: DidKeys
}

type Found = Pick<SignatureVerdict, 'ok' | 'reason' | 'recovered'> & {
  readonly message: string | null
  /** The key that signed, in one spelling; absent where nothing verified. */
  readonly key?: string
}

export interface JudgedSignatures {
  readonly verdicts: readonly SignatureVerdict[]
  /**
   * The keys that signed, each once: an address for secp256k1 however the signer spells the key, `ed25519:` and hex for
   * Ed25519. Whoever names one key in three ways is one signer.
   */
  readonly keys: readonly string[]
}

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const HEX = /^(?:0x)?(?:[0-9a-fA-F]{2})+$/

/**
 * Each signature of a stamp, verified with the key it names. There is no way to `ok` past a cryptographic check.
 *
 * @param subject of the claim; absent where there is none
 */
export function verifySignatures(
  signatures: readonly StampSignature[],
  messages: Iterable<StampMessage>,
  subject: SubjectIdentifier | undefined,
  engine: SignatureEngine,
): JudgedSignatures {
  const keys = new Set<string>()
  const verdicts = signatures.map((signature, index) => {
    const { key, ...found } = verifySignature(signature, messages, engine)
    if (key !== undefined) keys.add(key)
    const verdict = { index, ...found }
    return subject === undefined
      ? verdict
      : { ...verdict, boundToSubject: verdict.ok && isSameIdentity(signature.signer, subject) }
  })
  return { verdicts, keys: [...keys] }
}

/** Hex in any case names the same signer. */
function isSameIdentity(a: SubjectIdentifier, b: SubjectIdentifier): boolean {
  return identityOf(a) === identityOf(b)
}

/** One text for each signer as named; which of its keys a DID names is no part of who it is. */
function identityOf({ scheme, value }: SubjectIdentifier): string {
  if (scheme === 'did:web') return `${scheme}:${value.replace(/#.*$/s, '')}`
  return `${scheme}:${HEX.test(value) ? value.toLowerCase().replace(/^0x/, '') : value}`
}

function verifySignature(
  { signer, algorithm, value }: StampSignature,
  messages: Iterable<StampMessage>,
  engine: SignatureEngine,
): Found {
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

/** EIP-191 over the message; who recovers must be who is named. */
function verifyAddress(
  address: string,
  value: string,
  messages: Iterable<StampMessage>,
  { secp256k1, keccak }: SignatureEngine,
): Found {
  if (!ADDRESS.test(address)) return refused('signer is not an address')
  const parsed = parseSignature(value)
  if (!parsed.ok) return refused(`signature ${parsed.reason}`)
  let recovered: string | null = null
  for (const { form, eip191 } of messages) {
    const found = recoverAddress(eip191(), parsed.signature, secp256k1, keccak)
    if (found === address.toLowerCase())
      return { ok: true, reason: 'eip191', recovered: found, message: form, key: found }
    recovered ??= found ?? null
  }
  return { ok: false, reason: 'signer-mismatch', recovered, message: null }
}

/** ECDSA over SHA-256 of the message or over its EIP-191 hash; the public key that recovers must be the one named. */
function verifyDeviceKey(
  key: string,
  value: string,
  messages: Iterable<StampMessage>,
  { secp256k1, keccak }: SignatureEngine,
): Found {
  const wanted = bytesOf(key)
  if (wanted === undefined || !isPublicKey(wanted)) return refused('signer is not a public key of 33 or 65 bytes')
  const parsed = parseSignature(value)
  if (!parsed.ok) return refused(`signature ${parsed.reason}`)
  for (const message of messages) {
    for (const [reason, digestOf] of [
      ['ecdsa-sha256', message.sha256],
      ['ecdsa-eip191', message.eip191],
    ] as const) {
      const digest = digestOf()
      const publicKey = secp256k1.recover(digest, parsed.signature)
      if (publicKey !== undefined && isSameKey(publicKey, wanted)) {
        const recovered = `0x${bytesToHex(wanted)}`
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
): Found {
  const publicKey = bytesOf(key)
  if (publicKey?.length !== 32) return refused('signer is not a public key of 32 bytes')
  const signature = bytesOf(value)
  if (signature?.length !== 64) return refused('signature is not 64 bytes of hex')
  for (const { form, bytes } of messages) {
    if (!ed25519.verify(bytes, signature, publicKey)) continue
    const hex = bytesToHex(publicKey)
    return { ok: true, reason: 'ed25519', recovered: `0x${hex}`, message: form, key: `ed25519:${hex}` }
  }
  return refused('signer-mismatch')
}

/** By a key of the operator's copy of the document; a fragment names one of them. */
function verifyDidWeb(
  signer: string,
  algorithm: string,
  value: string,
  messages: Iterable<StampMessage>,
  engine: SignatureEngine,
): Found {
  if (engine.didKeys === undefined) return refused('did-resolution-disabled')
  const [did, fragment] = signer.split('#', 2) as [string, string | undefined]
  const known = engine.didKeys.get(did)
  if (known === undefined) return refused('did-unknown')
  if (algorithm !== 'secp256k1' && algorithm !== 'ed25519') return refused('unsupported-algorithm')
  const isFitting = ({ key }: DidKey) => key.startsWith('0x') === (algorithm === 'secp256k1')
  const keys = known.filter((entry) => isFitting(entry) && (fragment === undefined || entry.fragment === fragment))
  if (keys.length === 0) return refused('did-without-such-key')
  if (algorithm === 'secp256k1') return verifyAmong(new Set(keys.map(({ key }) => key)), value, messages, engine)
  const verdicts = keys.map(({ key }) => verifyEd25519(key.slice('ed25519:'.length), value, messages, engine))
  return verdicts.find(({ ok }) => ok) ?? verdicts[0]!
}

/** Recovers once, however many keys there are. */
function verifyAmong(
  addresses: ReadonlySet<string>,
  value: string,
  messages: Iterable<StampMessage>,
  { secp256k1, keccak }: SignatureEngine,
): Found {
  const parsed = parseSignature(value)
  if (!parsed.ok) return refused(`signature ${parsed.reason}`)
  for (const message of messages) {
    for (const [reason, digest] of [
      ['eip191', message.eip191()],
      ['ecdsa-sha256', message.sha256()],
    ] as const) {
      const key = recoverAddress(digest, parsed.signature, secp256k1, keccak)
      if (key !== undefined && addresses.has(key))
        return { ok: true, reason, recovered: key, message: message.form, key }
    }
  }
  return refused('signer-mismatch')
}

function refused(reason: string): Found {
  return { ok: false, reason, recovered: null, message: null }
}

function bytesOf(text: string): Uint8Array | undefined {
  return text.length <= 200 && HEX.test(text) ? hexToBytes(text.startsWith('0x') ? text : `0x${text}`) : undefined
}

function isPublicKey(key: Uint8Array): boolean {
  return key.length === 65 ? key[0] === 4 : key.length === 33 && (key[0] === 2 || key[0] === 3)
}

/** @param publicKey 65 bytes 04‖x‖y */
function isSameKey(publicKey: Uint8Array, wanted: Uint8Array): boolean {
  if (wanted.length === 65) return compareBytes(publicKey, wanted) === 0
  const prefix = 2 + (publicKey[64]! & 1)
  return wanted[0] === prefix && compareBytes(publicKey.subarray(1, 33), wanted.subarray(1)) === 0
}
