/** Numbers places in the order in which they are first seen. A hash table of doubles: texts as keys took most of the time. */
export class Places {
  readonly lon: number[] = []
  readonly lat: number[] = []
  readonly #bits = new Uint32Array(4)
  readonly #doubles = new Float64Array(this.#bits.buffer)
  /** Numbers of places, plus 1; 0 for none. Its size is a power of two. */
  #table = new Int32Array(1024)

  /** Returns the number of a place, which is added if it is new. No coordinate is −0. */
  add(lon: number, lat: number): number {
    if (2 * this.lon.length > this.#table.length) this.#grow()
    const slot = this.#slotOf(lon, lat)
    if (this.#table[slot] === 0) {
      this.lon.push(lon)
      this.lat.push(lat)
      this.#table[slot] = this.lon.length
    }
    return this.#table[slot]! - 1
  }

  has(lon: number, lat: number): boolean {
    return this.#table[this.#slotOf(lon, lat)] !== 0
  }

  /** Returns the slot of a place, or the empty one in which it would be. */
  #slotOf(lon: number, lat: number): number {
    this.#doubles[0] = lon
    this.#doubles[1] = lat
    let hash = 0
    for (const word of this.#bits) {
      hash = Math.imul(hash ^ word, 0x9e3779b1)
      hash ^= hash >>> 15
    }
    const mask = this.#table.length - 1
    let slot = hash & mask
    for (;;) {
      const id = this.#table[slot]! - 1
      if (id < 0 || (this.lon[id] === lon && this.lat[id] === lat)) return slot
      slot = (slot + 1) & mask
    }
  }

  #grow(): void {
    this.#table = new Int32Array(2 * this.#table.length)
    for (let id = 0; id < this.lon.length; id++) this.#table[this.#slotOf(this.lon[id]!, this.lat[id]!)] = id + 1
  }
}
