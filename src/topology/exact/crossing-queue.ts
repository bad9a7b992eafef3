import { type Crossing, compareCrossings } from './crossing.ts'

/** The event queue for the crossings ahead of the sweep line: a binary heap. The ends of segments are sorted beforehand. */
export class CrossingQueue {
  readonly #heap: Crossing[] = []

  get first(): Crossing | undefined {
    return this.#heap[0]
  }

  add(crossing: Crossing): void {
    const heap = this.#heap
    let child = heap.length
    heap.push(crossing)
    while (child > 0) {
      const parent = (child - 1) >>> 1
      if (compareCrossings(heap[parent]!, crossing) <= 0) break
      heap[child] = heap[parent]!
      child = parent
    }
    heap[child] = crossing
  }

  /** Removes the first crossing and all others at the same point. */
  removeFirstPoint(): void {
    const first = this.first
    if (first === undefined) return
    do this.#removeFirst()
    while (this.first !== undefined && compareCrossings(this.first, first) === 0)
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let parent = 0
    for (;;) {
      let child = 2 * parent + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && compareCrossings(heap[child + 1]!, heap[child]!) < 0) child++
      if (compareCrossings(last, heap[child]!) <= 0) break
      heap[parent] = heap[child]!
      parent = child
    }
    heap[parent] = last
  }
}
