import { StoreFault } from '../store-messages.ts'

/** What a driver threw, by the class of its SQLSTATE; an error without one comes from before or beside the database. */
export function faultOf(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error
  const { code = '', message = String(error) } = error as { code?: string; message?: string }
  // 57014: the statement ran into its time limit; 55P03: into that of a lock; 40: it gave way to another transaction.
  if (code === '57014' || code === '55P03' || code.startsWith('40'))
    return new StoreFault('late', message, { cause: error })
  // Data or an index that cannot be read: asking again, or another connection, reads the same.
  if (code === 'XX001' || code === 'XX002') return new StoreFault('damaged', message, { cause: error })
  // The server judged the statement: it is not one that goes, is full or cannot be reached.
  if (/^(22|23|42|54)/.test(code)) return new StoreFault('refused', message, { cause: error })
  return new StoreFault('unavailable', message || code || 'no connection', { cause: error })
}
