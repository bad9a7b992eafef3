import { StoreFault } from '../wire/store-messages.ts'

/**
 * Converts an error of a driver into a `StoreFault` by the class of its SQLSTATE. An error without an SQLSTATE did not come
 * from the database, for example because no connection was made.
 */
export function toStoreFault(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error
  const { code = '', message = String(error) } = error as { code?: string; message?: string }
  // 57014: the statement timed out; 55P03: a lock timed out; class 40: the transaction was rolled back in favour of another.
  if (code === '57014' || code === '55P03' || code.startsWith('40'))
    return new StoreFault('late', message, { cause: error })
  // Data or an index is corrupted: a retry or another connection reads the same.
  if (code === 'XX001' || code === 'XX002') return new StoreFault('damaged', message, { cause: error })
  // The server rejected the statement itself. Every other code means that the server is stopping, full or unreachable.
  if (/^(22|23|42|54)/.test(code)) return new StoreFault('refused', message, { cause: error })
  return new StoreFault('unavailable', message || code || 'no connection', { cause: error })
}
