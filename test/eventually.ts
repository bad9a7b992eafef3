import { vi } from 'vitest'

/**
 * Waits until a check passes. The time limit is two minutes instead of the usual second: the condition takes milliseconds, or
 * seconds on a busy machine. Only a check that never passes takes the whole time.
 */
export function eventually<T>(
  check: () => T | Promise<T>,
  options: { readonly timeout?: number; readonly interval?: number } = {},
): Promise<T> {
  return vi.waitFor(check, { timeout: 120_000, ...options })
}
