import { vi } from 'vitest'

/**
 * Waits until a check passes. Ten seconds, not one as is usual: what is waited for takes milliseconds, and seconds on a machine
 * that tests keep busy.
 */
export function eventually<T>(
  check: () => T | Promise<T>,
  options: { readonly timeout?: number; readonly interval?: number } = {},
): Promise<T> {
  return vi.waitFor(check, { timeout: 10_000, ...options })
}
