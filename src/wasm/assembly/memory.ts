/**
 * The memory: the module's own data, a region that the host keeps for operands that live across calls, and the arena.
 *
 * The arena is handed out from bottom to top and taken back as a whole: the host writes operands into it and the kernel its
 * tables, nothing is freed one by one, so nothing can leak. What happens in the region is the host's business alone.
 */

/** Doubles and pairs of doubles stay aligned. */
const ALIGNMENT: usize = 16
const PAGE: usize = 65536
/** 1 GiB, as the build sets it: a request that asks for more fails here and not on the machine. */
const MAXIMUM: usize = 16384 * PAGE

let bottom: usize = 0
let top: usize = 0

/**
 * Start of the arena: after static data and the arrays that were allocated while the module started. It is asked for at
 * the first request, so it lies above them all, however many there are; nothing may be allocated with `new` afterwards.
 */
function base(): usize {
  if (bottom == 0) bottom = heap.alloc(ALIGNMENT)
  return bottom
}

/**
 * Moves the bottom of the arena up and leaves the bytes below it to the host, for good. Pointers into the arena are void.
 * Pages that nobody writes to cost no memory of the machine.
 *
 * @returns pointer to the region, 0 when the memory cannot grow
 */
export function setAside(bytes: usize): usize {
  assert(bytes > 0, 'setAside: bytes must be positive')
  top = base()
  const region = reserve(bytes)
  if (region != 0) bottom = top
  return region
}

/** Takes everything back. Pointers given out before are void. */
export function release(): void {
  top = base()
}

/** How far the arena is used: give it to `releaseTo` to take back what came after. */
export function mark(): usize {
  return top
}

export function releaseTo(to: usize): void {
  top = to
}

/**
 * Reserves bytes, not zeroed; grows the memory when needed, which detaches the host's views of it.
 *
 * @returns pointer, 0 when the memory cannot grow
 */
export function reserve(bytes: usize): usize {
  if (top == 0) top = base()
  if (bytes > MAXIMUM) return 0 // the sum below would wrap
  const pointer = top
  const end = aligned(pointer + bytes)
  const size = <usize>memory.size() * PAGE
  if (end > size) {
    const pages = <i32>((end - size + PAGE - 1) / PAGE)
    if (memory.grow(pages) < 0) return 0
  }
  top = end
  return pointer
}

/** The next aligned address. */
@inline
export function aligned(pointer: usize): usize {
  return (pointer + ALIGNMENT - 1) & ~(ALIGNMENT - 1)
}
