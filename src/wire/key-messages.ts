/** API keys as they are stored, in the key file or in the database, and the operations of the store for them. */

export type Tier = 'public' | 'developer' | 'internal'

/** What a key may be used for. `admin` opens the routes that manage keys, and nothing else. */
export const KEY_SCOPES = ['compute', 'verify', 'records', 'jobs', 'admin'] as const
export type KeyScope = (typeof KEY_SCOPES)[number]

/** Scopes of a key that names none. */
export const DEFAULT_SCOPES: readonly KeyScope[] = ['compute', 'verify', 'records', 'jobs']

/** An API key as it is stored: its hash and properties, not the key. Times are ISO 8601. */
export interface StoredKey {
  /** First digits of the SHA-256; people refer to the key by it. */
  readonly id: string
  /** SHA-256 of the key, 64 hex digits. */
  readonly sha256: string
  readonly tier: Tier
  readonly label: string
  readonly createdAt: string
  /** Without it, the key has `DEFAULT_SCOPES`. */
  readonly scopes?: readonly KeyScope[]
  /** The key is invalid from then on. */
  readonly expiresAt?: string
  /** Replaces the hourly limit of the tier. */
  readonly requestsPerHour?: number
  /** The key is valid only in requests of pages of these origins, such as `https://example.org`. */
  readonly origins?: readonly string[]
  /** The key is valid only in requests from these addresses or CIDR ranges. */
  readonly addresses?: readonly string[]
  /** The account that made the key and may change it; undefined for a key of the operator. */
  readonly owner?: string
  /** ID of the key that replaced this one, which is valid until it expires. */
  readonly replacedBy?: string
}

export interface ListedKey extends StoredKey {
  /** When the key was last used, to about a minute; undefined if it was not used, or if that is not recorded. */
  readonly lastUsedAt?: string | undefined
}

/** A change of the stored keys, made as a whole or not at all. */
export interface KeyChange {
  /** SHA-256 of keys that must be valid; otherwise nothing is changed. */
  readonly expected: readonly string[]
  /** Keys that are added, or replaced if they exist. */
  readonly put: readonly StoredKey[]
  /** SHA-256 of keys that are revoked. */
  readonly revoked: readonly string[]
  /** The account whose keys these are, and how many it may have. */
  readonly owner?: { readonly account: string; readonly maxKeys: number }
}

/**
 * `missing`: an expected key is not there. `full`: there would be too many keys. `owner-full`: there would be too many of their owner.
 * `accounts-full`: there would be too many of all accounts. In these cases nothing was changed.
 */
export type KeyChangeOutcome = 'done' | 'missing' | 'full' | 'owner-full' | 'accounts-full'

/** Returns how many keys all accounts may have together, so that there is always room for those of the operator. */
export function maxAccountKeys(maxKeys: number): number {
  return Math.floor(maxKeys / 2)
}

/** What a reader of the database learns about the keys. */
export interface KeyUpdate {
  /** True if these are all valid keys, and any other key is revoked. */
  readonly isWhole: boolean
  readonly put: readonly StoredKey[]
  /** SHA-256 of revoked keys. */
  readonly revoked: readonly string[]
}

/** Operations for API keys in the database. */
export interface KeyOperations {
  /**
   * Returns what changed after a number that an earlier call returned, or all valid keys after 0. `number` is the argument of the
   * next call.
   */
  changedKeys: {
    argument: { readonly after: number }
    result: KeyUpdate & { readonly number: number }
  }
  changeKeys: { argument: KeyChange & { readonly maxKeys: number }; result: KeyChangeOutcome }
  /** Returns the valid keys and those that have expired, oldest first: of an account, or of all. */
  listKeys: { argument: { readonly owner: string } | undefined; result: readonly ListedKey[] }
  /** Returns the account that made a key, which may be revoked; undefined if there is no such key, or if no account made it. */
  findKeyOwner: { argument: { readonly id: string }; result: string | undefined }
  /** Records when keys were last used, by their SHA-256. */
  noteKeyUse: { argument: readonly { readonly sha256: string; readonly atMs: number }[]; result: undefined }
}
