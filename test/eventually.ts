import { vi } from 'vitest'

/**
 * Waits until a check passes. Two minutes, not a second as is usual: what is waited for takes milliseconds, and seconds on a
 * machine that is busy. Only a check that never passes takes them.
 */
export function eventually<T>(
  check: () => T | Promise<T>,
  options: { readonly timeout?: number; readonly interval?: number } = {},
): Promise<T> {
  return vi.waitFor(check, { timeout: 120_000, ...options })
}
