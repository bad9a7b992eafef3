const ADDRESS_BYTES = 20
const FREE = 0xffffffff

/** Numbers for addresses, from 0 on in the order in which they come: 4 bytes instead of 20 in each place that has one. */
export class AddressTable {
  #addresses = new Uint8Array(1024 * ADDRESS_BYTES)
  #slots = new Uint32Array(4096).fill(FREE)
  #count = 0

  /** @returns undefined for an address that was never added */
  find(bytes: Uint8Array, offset = 0): number | undefined {
    const found = this.#slots[this.#slotOf(bytes, offset)]!
    return found === FREE ? undefined : found
  }

  /** The number of the 20 bytes at `offset`; they get one when they have none. */
  add(bytes: Uint8Array, offset: number): number {
    const slot = this.#slotOf(bytes, offset)
    const found = this.#slots[slot]!
    if (found !== FREE) return found
    const added = this.#count++
    if (this.#count * ADDRESS_BYTES > this.#addresses.length) this.#addresses = enlarged(this.#addresses)
    this.#addresses.set(bytes.subarray(offset, offset + ADDRESS_BYTES), added * ADDRESS_BYTES)
    this.#slots[slot] = added
    if (this.#count * 2 > this.#slots.length) this.#rehash()
    return added
  }

  /** The slot that holds the address, or the free one where it belongs. */
  #slotOf(bytes: Uint8Array, offset: number): number {
    const mask = this.#slots.length - 1
    for (let slot = hashOf(bytes, offset) & mask; ; slot = (slot + 1) & mask) {
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
      this.#slots[this.#slotOf(this.#addresses, number * ADDRESS_BYTES)] = number
    }
  }
}

// Subjects are chosen freely by whoever attests, so where they come to lie must not be foreseen.
const SEED = new Uint32Array(2)
crypto.getRandomValues(SEED)

function hashOf(bytes: Uint8Array, offset: number): number {
  let [a, b] = [SEED[0]!, SEED[1]!]
  for (let i = 0; i < ADDRESS_BYTES; i++) {
    a = Math.imul(a ^ bytes[offset + i]!, 0x9e3779b1)
    b = Math.imul((b + a) ^ (a >>> 15), 0x85ebca77)
  }
  return (b ^ (b >>> 13)) >>> 0
}

function enlarged(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.ceil((bytes.length * 1.5) / ADDRESS_BYTES) * ADDRESS_BYTES)
  larger.set(bytes)
  return larger
}
