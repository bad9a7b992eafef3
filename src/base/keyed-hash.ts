/**
 * A hash of 64 bits with a key: HalfSipHash with one round for each word and three at the end. Nobody who does not know the key can
 * choose texts that share a hash.
 */
export class KeyedHash {
  readonly #key0: number
  readonly #key1: number
  #v0 = 0
  #v1 = 0
  #v2 = 0
  #v3 = 0
  /** The halves of the last hash, from 0 to 2³² − 1. */
  low = 0
  high = 0

  /** What was hashed last. */
  value: number | string | undefined = undefined

  /** @param key two words of 32 bits, which nobody can guess */
  constructor(key: ArrayLike<number>) {
    this.#key0 = key[0]! | 0
    this.#key1 = key[1]! | 0
  }

  /** Sets `low` and `high` to the hash of a text or of a signed 32-bit integer. No integer has the words of a text. */
  update(value: number | string): void {
    this.value = value
    this.#begin()
    if (typeof value === 'number') {
      this.#mix(value)
      this.#mix(0)
    } else {
      const { length } = value
      for (let index = 1; index < length; index += 2)
        this.#mix((value.charCodeAt(index - 1) << 16) | value.charCodeAt(index))
      if ((length & 1) === 1) this.#mix(value.charCodeAt(length - 1))
      this.#mix(length + 1)
    }
    this.#end()
  }

  #begin(): void {
    this.#v0 = this.#key0
    this.#v1 = this.#key1 ^ 0xee
    this.#v2 = this.#key0 ^ 0x6c796765
    this.#v3 = this.#key1 ^ 0x74656462
  }

  #mix(word: number): void {
    this.#v3 ^= word
    this.#round()
    this.#v0 ^= word
  }

  #end(): void {
    this.#v2 ^= 0xee
    this.#round()
    this.#round()
    this.#round()
    this.low = (this.#v1 ^ this.#v3) >>> 0
    this.#v1 ^= 0xdd
    this.#round()
    this.#round()
    this.#round()
    this.high = (this.#v1 ^ this.#v3) >>> 0
  }

  #round(): void {
    const v0 = (this.#v0 + this.#v1) | 0
    const v1 = rotate(this.#v1, 5) ^ v0
    const v2 = (this.#v2 + this.#v3) | 0
    const v3 = rotate(this.#v3, 8) ^ v2
    this.#v0 = (rotate(v0, 16) + v3) | 0
    this.#v3 = rotate(v3, 7) ^ this.#v0
    const sum = (v2 + v1) | 0
    this.#v1 = rotate(v1, 13) ^ sum
    this.#v2 = rotate(sum, 16)
  }
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}
