/** Manages API keys, wherever they are stored: adds, lists, rotates and revokes them. */
import { createHash } from 'node:crypto'
import { ProblemError } from '../../base/problem.ts'
import type { KeyProperties } from '../../validation/key-request.ts'
import {
  DEFAULT_SCOPES,
  type KeyChange,
  type KeyChangeOutcome,
  type ListedKey,
  type StoredKey,
} from '../../wire/key-messages.ts'
import { changeKeyFile, readKeyFile } from './key-file.ts'
import { generateKey } from './key-text.ts'

/** Where keys are stored. */
export interface KeyRepository {
  /** Returns the valid keys and those that have expired, oldest first: of an account, or of all. */
  list(owner?: string): Promise<readonly ListedKey[]>
  change(change: KeyChange): Promise<KeyChangeOutcome>
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

  /**
   * @param now milliseconds since the epoch
   * @param owner the account whose keys these are; there are no others for it
   */
  constructor(repository: KeyRepository, now: () => number, owner?: KeyChange['owner']) {
    this.#repository = repository
    this.#now = now
    this.#owner = owner
  }

  list(): Promise<readonly ListedKey[]> {
    return this.#repository.list(this.#owner?.account)
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
    await this.#change(change, id)
    return made
  }

  async revoke(id: string): Promise<ListedKey> {
    const key = await this.find(id)
    await this.#change({ expected: [key.sha256], put: [], revoked: [key.sha256] }, id)
    return key
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

  async #change(change: KeyChange, id: string): Promise<void> {
    const owner = this.#owner
    const outcome = await this.#repository.change(owner === undefined ? change : { ...change, owner })
    // Another change revoked the key after it was found.
    if (outcome === 'missing') throw unknownKey(id)
    if (outcome === 'full') {
      throw conflict('there are as many API keys as MAX_API_KEYS allows: revoke keys that are not needed')
    }
    if (outcome === 'owner-full') {
      throw conflict(
        `an account has at most ${owner!.maxKeys} keys, expired ones included: revoke one that is not needed`,
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

  async change({ expected, put, revoked, owner }: KeyChange): Promise<KeyChangeOutcome> {
    let outcome: KeyChangeOutcome = 'done'
    await changeKeyFile(this.#file, (keys) => {
      const bySha256 = new Map(keys.map((key) => [key.sha256, key]))
      if (!expected.every((sha256) => bySha256.has(sha256))) outcome = 'missing'
      for (const key of put) bySha256.set(key.sha256, key)
      for (const sha256 of revoked) bySha256.delete(sha256)
      if (bySha256.size > keys.length && bySha256.size > this.#maxKeys) outcome = 'full'
      else if (owner !== undefined && put.some(({ sha256 }) => !expected.includes(sha256))) {
        const owned = [...bySha256.values()].filter((key) => key.owner === owner.account).length
        if (owned > owner.maxKeys) outcome = 'owner-full'
      }
      return outcome === 'done' ? [...bySha256.values()] : keys
    })
    if (outcome === 'done') this.#onChange(readKeyFile(this.#file))
    return outcome
  }
}
