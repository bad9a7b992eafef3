import { compareBytes, utf8 } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/keccak.ts'
import { sha256 } from '../crypto/sha256.ts'
import { personalText } from '../crypto/signature.ts'
import { canonicalBytes } from '../geometry/canonical.ts'
import type { Hex } from '../messages.ts'
import type { LocationStamp } from '../types/generated.ts'

export type MessageForm = 'jcs' | 'sorted-stringify' | 'unsorted-stringify'

/** Bytes that a stamp's signatures may cover, with the digests of them. */
export interface StampMessage {
  readonly form: MessageForm
  readonly bytes: Uint8Array
  /** keccak-256 of the EIP-191 text ("personal sign"), and SHA-256 of the bytes; each made when asked for. */
  eip191(): Uint8Array
  sha256(): Uint8Array
}

/**
 * The messages a stamp may have been signed as, the likeliest first:
 * RFC 8785 of the stamp without `signatures`; what sorting members and `JSON.stringify` makes of it, which differs where
 * names look like array indices; and the members in the order received, as one legacy service signs.
 */
export class StampMessages implements Iterable<StampMessage> {
  readonly canonical: StampMessage
  readonly #unsigned: object
  readonly #keccak: Keccak
  /** Made when asked for: nearly all stamps are signed as the first. */
  #others: readonly StampMessage[] | undefined
  #digest: Hex | undefined

  /**
   * @param stamp as received: a member that nobody knows is covered all the same
   * @throws {RangeError} on text with a lone surrogate
   */
  constructor(stamp: LocationStamp, keccak: Keccak) {
    const { signatures: _, ...unsigned } = stamp
    this.#unsigned = unsigned
    this.#keccak = keccak
    this.canonical = messageOf('jcs', canonicalBytes(unsigned), keccak)
  }

  /** keccak-256 of the first: equal for copies of a stamp. */
  digest(): Hex {
    this.#digest ??= this.#keccak.hashHex(this.canonical.bytes)
    return this.#digest
  }

  *[Symbol.iterator](): Generator<StampMessage, void> {
    yield this.canonical
    this.#others ??= this.#makeOthers()
    yield* this.#others
  }

  #makeOthers(): StampMessage[] {
    const sorted = utf8(JSON.stringify(sortMembers(this.#unsigned)))
    const unsorted = utf8(JSON.stringify(this.#unsigned))
    const others: StampMessage[] = []
    if (!isSame(sorted, this.canonical.bytes)) others.push(messageOf('sorted-stringify', sorted, this.#keccak))
    if (!isSame(unsorted, this.canonical.bytes) && !isSame(unsorted, sorted))
      others.push(messageOf('unsorted-stringify', unsorted, this.#keccak))
    return others
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && compareBytes(a, b) === 0
}

function messageOf(form: MessageForm, bytes: Uint8Array, keccak: Keccak): StampMessage {
  let personal: Uint8Array | undefined
  let digest: Uint8Array | undefined
  return {
    form,
    bytes,
    eip191() {
      personal ??= keccak.hash(personalText(bytes))
      return personal
    },
    sha256() {
      digest ??= sha256(bytes)
      return digest
    },
  }
}

/** As client libraries sort: members whose names look like array indices come first whatever their place. */
function sortMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sortMembers)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, sortMembers(member)]))
}
