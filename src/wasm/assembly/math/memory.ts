/**
 * The linear memory has three parts: the module's static data, a region that the host sets aside for operands that
 * outlive a call, and the arena.
 *
 * The arena is a bump allocator. The host writes inputs into it and the kernel its tables; nothing is freed
 * individually, and `release` or `releaseTo` frees everything at once, so nothing can leak. The kernel never allocates
 * in the region; the host manages it.
 */

/** Keeps doubles and pairs of doubles (v128) aligned. */
const ALIGNMENT: usize = 16
const PAGE: usize = 65536
/** 1 GiB, as the build sets it. A reservation beyond it fails here before it can exhaust the machine. */
const MAXIMUM: usize = 16384 * PAGE

// The arena: its lowest address, and the address of the next reservation.
let bottom: usize = 0
let top: usize = 0

/**
 * Returns the start of the arena. The first call fixes it above the static data and above all arrays that were
 * allocated while the module started. Nothing may be allocated with `new` afterwards: it would overlap the arena.
 */
function base(): usize {
  if (bottom == 0) bottom = heap.alloc(ALIGNMENT)
  return bottom
}

/**
 * Moves the bottom of the arena up and gives the bytes below it to the host permanently. Invalidates all pointers into
 * the arena. Pages that are never written take no physical memory.
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

/** Frees the whole arena. Invalidates all pointers into it. */
export function release(): void {
  top = base()
}

/** Returns the top of the used part of the arena. Pass it to `releaseTo` to free everything reserved after this call. */
export function mark(): usize {
  return top
}

export function releaseTo(to: usize): void {
  top = to
}

/**
 * Reserves bytes in the arena. They are not zeroed. Grows the memory when needed, which detaches the host's views of it.
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

/** Rounds an address up to the alignment. */
@inline
export function aligned(pointer: usize): usize {
  return (pointer + ALIGNMENT - 1) & ~(ALIGNMENT - 1)
}
