import { OpenPgpError, type Packet, readPackets } from './packets.ts'
import { type PublicKey, readPublicKey } from './public-key.ts'
import {
  EMBEDDED,
  ISSUER,
  isSignedBy,
  KEY_EXPIRES,
  KEY_FLAGS,
  MAY_SIGN,
  readSignature,
  type Signature,
} from './signature.ts'

const SIGNATURE = 2
const PUBLIC_KEY = 6
const USER_ID = 13
const PUBLIC_SUBKEY = 14
/** Types of signatures. */
const CERTIFICATIONS = [0x10, 0x11, 0x12, 0x13]
const SUBKEY_BINDING = 0x18
const PRIMARY_BINDING = 0x19
const DIRECT = 0x1f
const KEY_REVOCATION = 0x20
const SUBKEY_REVOCATION = 0x28
/** Signatures of a key's own, each of which costs up to 1.2 ms (P-521). Those of a phone's key are three or four. */
const MAX_SIGNATURES = 12

/** A key that may sign documents. */
export interface SigningKey extends PublicKey {
  /** Unix seconds after which it signs nothing more. */
  readonly expiresSeconds: number
}

export interface Keyring {
  /** Of the primary key, 40 upper-case hex digits. */
  readonly fingerprint: string
  readonly isRevoked: boolean
  readonly signingKeys: readonly SigningKey[]
}

/**
 * One OpenPGP certificate: a primary key that certified itself, and the subkeys it bound which answered for it.
 *
 * @throws {OpenPgpError} when it is malformed, or nothing in it may sign
 */
export function readKeyring(bytes: Buffer): Keyring {
  const packets = readPackets(bytes)
  const primary = packets[0]?.tag === PUBLIC_KEY ? readPublicKey(packets[0].body) : undefined
  if (primary === undefined || packets.slice(1).some(({ tag }) => tag === PUBLIC_KEY)) {
    throw new OpenPgpError('one primary key that can sign was expected')
  }
  const [own, ...others] = groupsOf(packets, primary)
  const selfSignature = newest([
    ...own!.signatures.filter(
      (signature) => signature.type === DIRECT && isSignedBy(signature, primary, [primary.hashed]),
    ),
    ...others.flatMap((group) => certificationsOf(group, primary)),
  ])
  if (selfSignature === undefined) throw new OpenPgpError('a key that did not certify itself')
  const isRevoked = own!.signatures.some(
    (signature) => signature.type === KEY_REVOCATION && isSignedBy(signature, primary, [primary.hashed]),
  )
  const flags = selfSignature.covered.get(KEY_FLAGS)?.[0]
  const primaryKey = { ...primary, expiresSeconds: expiryOf(primary, selfSignature) }
  const subkeys = others.flatMap((group) => subkeyOf(group, primaryKey) ?? [])
  const signingKeys = flags === undefined || (flags & MAY_SIGN) !== 0 ? [primaryKey, ...subkeys] : subkeys
  if (signingKeys.length === 0) throw new OpenPgpError('a key that may not sign')
  return { fingerprint: primary.fingerprint, isRevoked, signingKeys }
}

/** A key or user name with the signatures after it. */
interface Group {
  readonly packet: Packet
  readonly signatures: Signature[]
}

/** Other people's certifications, which may be many, say nothing here: they are left out where they name who made them. */
function groupsOf(packets: readonly Packet[], primary: PublicKey): Group[] {
  const groups: Group[] = []
  let count = 0
  for (const packet of packets) {
    if (packet.tag !== SIGNATURE) groups.push({ packet, signatures: [] })
    else {
      const signature = attempt(() => readSignature(packet.body))
      if (signature === undefined || isOfAnother(signature, primary)) continue
      if (++count > MAX_SIGNATURES) throw new OpenPgpError(`more than ${MAX_SIGNATURES} signatures of its own`)
      groups.at(-1)?.signatures.push(signature)
    }
  }
  return groups
}

function isOfAnother({ covered, uncovered }: Signature, { fingerprint }: PublicKey): boolean {
  const issuer = covered.get(ISSUER) ?? uncovered.get(ISSUER)
  return issuer !== undefined && !fingerprint.endsWith(issuer.toString('hex').toUpperCase())
}

function certificationsOf({ packet, signatures }: Group, primary: PublicKey): Signature[] {
  if (packet.tag !== USER_ID) return []
  const head = Buffer.alloc(5, 0xb4)
  head.writeUInt32BE(packet.body.length, 1)
  const signed = [primary.hashed, head, packet.body]
  return signatures.filter(
    (signature) => CERTIFICATIONS.includes(signature.type) && isSignedBy(signature, primary, signed),
  )
}

/** A subkey that the primary bound for signing, that agreed to it, and that was not revoked. */
function subkeyOf({ packet, signatures }: Group, primary: SigningKey): SigningKey | undefined {
  if (packet.tag !== PUBLIC_SUBKEY) return undefined
  const subkey = attempt(() => readPublicKey(packet.body))
  if (subkey === undefined) return undefined
  const signed = [primary.hashed, subkey.hashed]
  const byPrimary = signatures.filter((signature) => isSignedBy(signature, primary, signed))
  if (byPrimary.some(({ type }) => type === SUBKEY_REVOCATION)) return undefined
  const binding = newest(byPrimary.filter(({ type }) => type === SUBKEY_BINDING))
  if (binding === undefined || ((binding.covered.get(KEY_FLAGS)?.[0] ?? 0) & MAY_SIGN) === 0) return undefined
  const embedded = binding.covered.get(EMBEDDED) ?? binding.uncovered.get(EMBEDDED)
  const answer = embedded === undefined ? undefined : attempt(() => readSignature(embedded))
  if (answer?.type !== PRIMARY_BINDING || !isSignedBy(answer, subkey, signed)) return undefined
  return { ...subkey, expiresSeconds: Math.min(primary.expiresSeconds, expiryOf(subkey, binding)) }
}

function expiryOf({ createdSeconds }: PublicKey, { covered }: Signature): number {
  const after = covered.get(KEY_EXPIRES)
  const seconds = after?.length === 4 ? after.readUInt32BE(0) : 0
  return seconds === 0 ? Number.POSITIVE_INFINITY : createdSeconds + seconds
}

function newest(signatures: readonly Signature[]): Signature | undefined {
  return signatures.reduce<Signature | undefined>(
    (best, signature) => (best === undefined || signature.createdSeconds > best.createdSeconds ? signature : best),
    undefined,
  )
}

/** What is of no use here, such as an encryption subkey of a curve nobody signs with, spoils nothing else. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof OpenPgpError) return undefined
    throw error
  }
}
