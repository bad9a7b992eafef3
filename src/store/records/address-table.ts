const ADDRESS_BYTES = 20
const FREE = 0xffffffff

/** Numbers addresses from 0 in the order in which they are added. A column then holds 4 bytes per address instead of 20. */
export class AddressTable {
  #addresses = new Uint8Array(1024 * ADDRESS_BYTES)
  #slots = new Uint32Array(4096).fill(FREE)
  #count = 0

  /** Returns the number of an address, or undefined if it was never added. */
  find(bytes: Uint8Array, offset = 0): number | undefined {
    const number = this.#slots[this.#findSlot(bytes, offset)]!
    return number === FREE ? undefined : number
  }

  /** Returns the number of the 20 bytes at `offset`, and assigns one if the address is new. */
  add(bytes: Uint8Array, offset: number): number {
    const slot = this.#findSlot(bytes, offset)
    const number = this.#slots[slot]!
    if (number !== FREE) return number
    const added = this.#count++
    if (this.#count * ADDRESS_BYTES > this.#addresses.length) this.#addresses = larger(this.#addresses)
    this.#addresses.set(bytes.subarray(offset, offset + ADDRESS_BYTES), added * ADDRESS_BYTES)
    this.#slots[slot] = added
    if (this.#count * 2 > this.#slots.length) this.#rehash()
    return added
  }

  /** Returns the slot that holds the address, or the free slot where it belongs. */
  #findSlot(bytes: Uint8Array, offset: number): number {
    const mask = this.#slots.length - 1
    for (let slot = hashAddress(bytes, offset) & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot]!
      if (number === FREE || this.#isEqual(number, bytes, offset)) return slot
    }
  }

  #isEqual(number: number, bytes: Uint8Array, offset: number): boolean {
    for (let i = 0; i < ADDRESS_BYTES; i++) {
      if (this.#addresses[number * ADDRESS_BYTES + i] !== bytes[offset + i]) return false
    }
    return true
  }

  #rehash(): void {
    this.#slots = new Uint32Array(this.#slots.length * 2).fill(FREE)
    for (let number = 0; number < this.#count; number++) {
      this.#slots[this.#findSlot(this.#addresses, number * ADDRESS_BYTES)] = number
    }
  }
}

// Attesters choose subjects freely. The random seed keeps them from forcing hash collisions.
const SEED = new Uint32Array(2)
crypto.getRandomValues(SEED)

function hashAddress(bytes: Uint8Array, offset: number): number {
  let [a, b] = [SEED[0]!, SEED[1]!]
  for (let i = 0; i < ADDRESS_BYTES; i++) {
    a = Math.imul(a ^ bytes[offset + i]!, 0x9e3779b1)
    b = Math.imul((b + a) ^ (a >>> 15), 0x85ebca77)
  }
  return (b ^ (b >>> 13)) >>> 0
}

function larger(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(Math.ceil((bytes.length * 1.5) / ADDRESS_BYTES) * ADDRESS_BYTES)
  copy.set(bytes)
  return copy
}
