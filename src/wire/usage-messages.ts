/** What each subject used on each day, on its way to the store and back. A subject is an API key, or everyone without one. */

/** Everyone who sent no valid key. Addresses are not recorded. */
export const PUBLIC_SUBJECT = 'public'
/** The subjects for which a process had no room. */
export const OTHER_SUBJECTS = 'others'
const ACCOUNT_PREFIX = 'account:'

/** The subject of an account: all of its sessions and keys count together, because keys and wallets cost nothing (decision 149). */
export function accountSubject(account: string): string {
  return `${ACCOUNT_PREFIX}${account}`
}

/** Returns whether a subject is an account of a wallet, not a key of the operator or the user of a token. */
export function isWalletAccount(subject: string): boolean {
  return subject.startsWith(ACCOUNT_PREFIX)
}

/** Kinds of requests besides the compute operations, which are kinds of their own by their names. */
export const SHARED_KINDS = ['batch', 'verify', 'records', 'graphql', 'jobs', 'other'] as const

/** What is counted, in the order of the columns of a flush. */
export const USAGE_AMOUNTS = [
  'requests',
  'operations',
  'bytes',
  'vertices',
  'cpuMicros',
  'errors4xx',
  'errors5xx',
] as const
export type UsageAmount = (typeof USAGE_AMOUNTS)[number]

/** Rows to add to the table, as columns. A subject may have several rows for the same day and kind. */
export interface UsageFlush {
  /** Random name of the process that counted. */
  readonly process: string
  /** Number of the flush, which grows. A flush whose number is not above the stored one was applied already. */
  readonly sequence: number
  /** Everything that the process counted before is stored with this flush; milliseconds since the epoch, 0 if unknown. */
  readonly completeMs: number
  /** How long the process may be silent before readers no longer wait for its counts. */
  readonly silentMs: number
  readonly isLast: boolean
  readonly subjects: readonly string[]
  /** Days of UTC, `YYYY-MM-DD`. */
  readonly days: readonly string[]
  readonly kinds: readonly string[]
  /** By `USAGE_AMOUNTS`. */
  readonly amounts: readonly (readonly number[])[]
}

/** What one subject used on one day for one kind of requests. */
export type UsageRow = { readonly day: string; readonly kind: string } & Readonly<Record<UsageAmount, number>>

export interface UsageOperations {
  /** Adds rows, all or none. @returns false if this flush was applied before; then nothing was changed */
  addUsage: { argument: UsageFlush; result: boolean }
  /** Returns the usage of all subjects whose names begin with a text, by day and kind. Both days are included. */
  readUsage: {
    argument: { readonly prefix: string; readonly from: string; readonly to: string }
    result: {
      readonly rows: readonly UsageRow[]
      /** All known processes have stored what they counted before; undefined if a process has not stored all of its first counts, or if none is known. */
      readonly completeMs: number | undefined
    }
  }
  /** Deletes some rows, and revoked API keys, that are older than a number of days. Returns true if there may be more. */
  pruneUsage: { argument: { readonly keepDays: number }; result: boolean }
}
