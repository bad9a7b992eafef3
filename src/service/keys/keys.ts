/** Manages API keys, wherever they are stored: adds, lists, rotates and revokes them. */
import { createHash } from 'node:crypto'
import { ProblemError } from '../../base/problem.ts'
import type { StoreCaller } from '../../threads/store-client.ts'
import type { KeyProperties } from '../../validation/key-request.ts'
import {
  DEFAULT_SCOPES,
  type KeyChange,
  type KeyChangeOutcome,
  type ListedKey,
  maxAccountKeys,
  type StoredKey,
} from '../../wire/key-messages.ts'
import {
  bytesOfKeys,
  changeKeyFile,
  findKeyOwner,
  MAX_KEY_BYTES,
  MAX_OWNER_KEY_BYTES,
  readKeyFile,
} from './key-file.ts'
import { generateKey } from './key-text.ts'

/** Where keys are stored. The caller is the client whose share of the store is used; undefined for the operator. */
export interface KeyRepository {
  /** Returns the valid keys and those that have expired, oldest first: of an account, or of all. */
  list(owner?: string, caller?: StoreCaller): Promise<readonly ListedKey[]>
  /** Returns the account that made a key, which may be revoked; undefined if there is no such key, or if no account made it. */
  findOwner(id: string, caller?: StoreCaller): Promise<string | undefined>
  change(change: KeyChange, caller?: StoreCaller): Promise<KeyChangeOutcome>
}

/** A key that was just made. The key itself is not stored anywhere. */
export interface NewKey {
  readonly key: string
  readonly stored: StoredKey
}

/** Number of hash digits in the ID of a key. */
const ID_DIGITS = 12

/** Adds, rotates and revokes keys: all of them, or those of an account. All methods throw a `ProblemError`. */
export class KeyManager {
  readonly #repository: KeyRepository
  readonly #now: () => number
  readonly #owner: KeyChange['owner']
  readonly #caller: StoreCaller | undefined

  /**
   * @param now milliseconds since the epoch
   * @param owner the account whose keys these are; there are no others for it
   * @param caller the client who asks
   */
  constructor(repository: KeyRepository, now: () => number, owner?: KeyChange['owner'], caller?: StoreCaller) {
    this.#repository = repository
    this.#now = now
    this.#owner = owner
    this.#caller = caller
  }

  list(): Promise<readonly ListedKey[]> {
    return this.#repository.list(this.#owner?.account, this.#caller)
  }

  async add({ tier, ...properties }: KeyProperties): Promise<NewKey> {
    const made = this.#make({ ...properties, tier })
    await this.#change({ expected: [], put: [made.stored], revoked: [] }, made.stored.id)
    return made
  }

  /**
   * Makes a key with the same properties, and lets the old one expire.
   *
   * @param overlapSeconds how long the old key stays valid; 0 revokes it at once
   */
  async rotate(id: string, overlapSeconds: number): Promise<NewKey> {
    const old = await this.find(id)
    // A repeated request would make a key that ends with the old one.
    if (old.replacedBy !== undefined)
      throw conflict(`key ${old.id} was replaced by ${old.replacedBy}: rotate or revoke that one`)
    if (old.expiresAt !== undefined && Date.parse(old.expiresAt) <= this.#now())
      throw conflict(`key ${old.id} has expired: add a new one`)
    const { id: _id, sha256, createdAt: _createdAt, lastUsedAt: _lastUsedAt, ...properties } = old
    const made = this.#make(properties)
    const endMs = this.#now() + overlapSeconds * 1000
    const isEarlier = old.expiresAt !== undefined && Date.parse(old.expiresAt) <= endMs
    const { lastUsedAt: _, ...stored } = old
    const expiresAt = isEarlier ? old.expiresAt! : new Date(endMs).toISOString()
    const retired = { ...stored, expiresAt, replacedBy: made.stored.id }
    const change =
      overlapSeconds === 0
        ? { expected: [sha256], put: [made.stored], revoked: [sha256] }
        : { expected: [sha256], put: [made.stored, retired], revoked: [] }
    await this.#change(change, id, overlapSeconds > 0)
    return made
  }

  async revoke(id: string): Promise<ListedKey> {
    const key = await this.find(id)
    await this.#change({ expected: [key.sha256], put: [], revoked: [key.sha256] }, id)
    return key
  }

  /**
   * Adds stored keys of another repository. Keys that are here already, or were revoked here, stay as they are.
   *
   * @returns how many were added, and how many were revoked here before
   */
  async import(others: readonly StoredKey[]): Promise<{ readonly added: number; readonly revoked: number }> {
    const known = new Set((await this.list()).map(({ sha256 }) => sha256))
    const put = others.filter(({ sha256 }) => !known.has(sha256))
    if (put.length > 0) await this.#change({ expected: [], put, revoked: [] }, '')
    const after = new Set((await this.list()).map(({ sha256 }) => sha256))
    const added = put.filter(({ sha256 }) => after.has(sha256)).length
    return { added, revoked: put.length - added }
  }

  /** Finds a key by its ID. @throws {ProblemError} `not-found` */
  async find(id: string): Promise<ListedKey> {
    const key = (await this.list()).find((candidate) => candidate.id === id)
    if (key === undefined) throw unknownKey(id)
    return key
  }

  #make(properties: Omit<StoredKey, 'id' | 'sha256' | 'createdAt'>): NewKey {
    const key = generateKey(properties.tier)
    const sha256 = createHash('sha256').update(key).digest('hex')
    const { tier, label, ...rules } = properties
    const createdAt = new Date(this.#now()).toISOString()
    const owner = this.#owner === undefined ? {} : { owner: this.#owner.account }
    return { key, stored: { id: sha256.slice(0, ID_DIGITS), sha256, tier, label, createdAt, ...rules, ...owner } }
  }

  /** @param hasOverlap true if two keys take the place of one for a time */
  async #change(change: KeyChange, id: string, hasOverlap = false): Promise<void> {
    const owner = this.#owner
    const advice = hasOverlap ? ', or rotate without an overlap (overlapSeconds=0), which needs no room' : ''
    const outcome = await this.#repository.change(owner === undefined ? change : { ...change, owner }, this.#caller)
    // Another change revoked the key after it was found.
    if (outcome === 'missing') throw unknownKey(id)
    if (outcome === 'full') {
      throw conflict(
        `there are as many API keys as MAX_API_KEYS or the key file allows: revoke keys that are not needed${advice}`,
      )
    }
    if (outcome === 'accounts-full') {
      throw conflict(
        `all accounts together have as many API keys as the service allows, half of all: revoke one that is not needed, or ask the operator${advice}`,
      )
    }
    if (outcome === 'owner-full') {
      throw conflict(
        `an account has at most ${owner!.maxKeys} keys, expired ones included, and one more while a key is rotated; in a key file, they take at most 16 KiB: revoke one that is not needed${advice}`,
      )
    }
  }
}

function conflict(detail: string): ProblemError {
  return new ProblemError({ type: 'conflict', detail })
}

function unknownKey(id: string): ProblemError {
  return new ProblemError({ type: 'not-found', detail: `there is no key ${JSON.stringify(id.slice(0, 64))}` })
}

/** Describes a key as clients see it, without its hash. */
export function describeKey({ sha256: _, ...key }: ListedKey): object {
  return { ...key, scopes: key.scopes ?? DEFAULT_SCOPES }
}

/** Keys in a file, for services without a PostgreSQL server. It does not record when a key was used. */
export class KeyFile implements KeyRepository {
  readonly #file: string
  readonly #maxKeys: number
  #onChange: (keys: readonly ListedKey[]) => void = () => {}

  constructor(file: string, maxKeys: number) {
    this.#file = file
    this.#maxKeys = maxKeys
  }

  /** Calls a function with all keys after each change by this object, so that this process does not wait for its next poll. */
  follow(onChange: (keys: readonly ListedKey[]) => void): void {
    this.#onChange = onChange
  }

  async list(owner?: string): Promise<readonly ListedKey[]> {
    const keys = readKeyFile(this.#file)
    return owner === undefined ? keys : keys.filter((key) => key.owner === owner)
  }

  async findOwner(id: string): Promise<string | undefined> {
    return findKeyOwner(this.#file, id)
  }

  async change(change: KeyChange): Promise<KeyChangeOutcome> {
    let outcome: KeyChangeOutcome = 'done'
    const changed = await changeKeyFile(this.#file, (keys) => {
      const bySha256 = new Map(keys.map((key) => [key.sha256, key]))
      if (!change.expected.every((sha256) => bySha256.has(sha256))) outcome = 'missing'
      for (const key of change.put) bySha256.set(key.sha256, key)
      for (const sha256 of change.revoked) bySha256.delete(sha256)
      const next = [...bySha256.values()]
      if (outcome === 'done' && next.length > keys.length) outcome = this.#checkRoom(next, change)
      return outcome === 'done' ? next : keys
    })
    if (outcome === 'done') this.#onChange(changed)
    return outcome
  }

  /** Checks the limits after a key was added. */
  #checkRoom(keys: readonly StoredKey[], { expected, put, owner }: KeyChange): KeyChangeOutcome {
    // One key more than the limit, so that a key can be rotated at the limit: both keys are valid for a time.
    const extra = put.some(({ sha256 }) => expected.includes(sha256)) ? 1 : 0
    if (keys.length > this.#maxKeys + extra || bytesOfKeys(keys) > MAX_KEY_BYTES) return 'full'
    if (owner === undefined) return 'done'
    const ofAccounts = keys.filter((key) => key.owner !== undefined)
    const own = ofAccounts.filter((key) => key.owner === owner.account)
    if (own.length > owner.maxKeys + extra || bytesOfKeys(own) > MAX_OWNER_KEY_BYTES) return 'owner-full'
    const hasRoom =
      ofAccounts.length <= maxAccountKeys(this.#maxKeys) + extra &&
      bytesOfKeys(ofAccounts) <= maxAccountKeys(MAX_KEY_BYTES)
    return hasRoom ? 'done' : 'accounts-full'
  }
}
