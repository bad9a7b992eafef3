import { canonicalBytes } from '../crypto/canonical.ts'
import { compareBytes, utf8 } from '../crypto/hex.ts'
import { sha256 } from '../crypto/noble.ts'
import type { Keccak } from '../crypto/primitives.ts'
import { personalMessage } from '../crypto/signature.ts'
import type { LocationStamp } from '../types/generated.ts'
import type { Hex } from '../wire/values.ts'

export type MessageForm = 'jcs' | 'sorted-stringify' | 'unsorted-stringify'

/** Bytes that a stamp's signatures may cover, with their digests. */
export interface StampMessage {
  readonly form: MessageForm
  readonly bytes: Uint8Array
  /** Returns keccak-256 of the EIP-191 text ("personal sign"); computed on the first call. */
  eip191(): Uint8Array
  /** Returns SHA-256 of the bytes; computed on the first call. */
  sha256(): Uint8Array
}

/**
 * The messages that a stamp's signatures may cover, the likeliest first: RFC 8785 of the stamp without `signatures`;
 * the result of sorting members and `JSON.stringify`, which differs where names look like array indices; and the
 * members in the order received, as one legacy service signs them.
 */
export class StampMessages implements Iterable<StampMessage> {
  readonly canonical: StampMessage
  readonly #unsigned: object
  readonly #keccak: Keccak
  /** Made lazily, because nearly all stamps sign the first message. */
  #others: readonly StampMessage[] | undefined
  #digest: Hex | undefined

  /**
   * @param stamp as received; signatures cover unknown members too
   * @throws {RangeError} on text with a lone surrogate
   */
  constructor(stamp: LocationStamp, keccak: Keccak) {
    const { signatures: _, ...unsigned } = stamp
    this.#unsigned = unsigned
    this.#keccak = keccak
    this.canonical = createMessage('jcs', canonicalBytes(unsigned), keccak)
  }

  /** Returns keccak-256 of the first message; copies of a stamp have equal digests. */
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
    if (!isSame(sorted, this.canonical.bytes)) others.push(createMessage('sorted-stringify', sorted, this.#keccak))
    if (!isSame(unsorted, this.canonical.bytes) && !isSame(unsorted, sorted))
      others.push(createMessage('unsorted-stringify', unsorted, this.#keccak))
    return others
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && compareBytes(a, b) === 0
}

function createMessage(form: MessageForm, bytes: Uint8Array, keccak: Keccak): StampMessage {
  let personal: Uint8Array | undefined
  let digest: Uint8Array | undefined
  return {
    form,
    bytes,
    eip191() {
      personal ??= keccak.hash(personalMessage(bytes))
      return personal
    },
    sha256() {
      digest ??= sha256(bytes)
      return digest
    },
  }
}

/**
 * Sorts members as client libraries do: names that look like array indices end up first, because JavaScript puts them
 * there.
 */
function sortMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sortMembers)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, sortMembers(member)]))
}
