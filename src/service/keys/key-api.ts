/** The routes that manage keys, without HTTP. */
import { ProblemError, problemAt } from '../../base/problem.ts'
import { ConfigError } from '../../config/setting.ts'
import { type KeyProperties, readKeyRequest } from '../../validation/key-request.ts'
import { StoreFault } from '../../wire/store-messages.ts'
import type { ServiceResponse } from '../request.ts'
import { describeKey, KeyManager, type KeyRepository, type NewKey } from './keys.ts'

/** What the HTTP layer sees of API keys. All methods throw a `ProblemError`. */
export interface KeyService {
  list(): Promise<ServiceResponse>
  /** @param body JSON as in `KeyRequest` */
  add(body: Uint8Array): Promise<ServiceResponse>
  /** @param query `overlapSeconds`, how long the old key stays valid */
  rotate(id: string, query: string): Promise<ServiceResponse>
  revoke(id: string): Promise<ServiceResponse>
}

export interface KeyServiceParts {
  readonly repository: KeyRepository
  readonly maxJsonDepth: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const DAY_SECONDS = 86_400
const MAX_OVERLAP_SECONDS = 90 * DAY_SECONDS

export function createKeyService({ repository, maxJsonDepth, now }: KeyServiceParts): KeyService {
  const keys = createKeyRoutesOf(new KeyManager(repository, now))
  const place = 'the database or file of the API keys'
  return {
    list: () => orUnavailable(place, () => keys.list()),
    add: (body) => orUnavailable(place, () => keys.add(readKeyRequest(body, maxJsonDepth, now()))),
    rotate: (id, query) => orUnavailable(place, () => keys.rotate(id, query)),
    revoke: (id) => orUnavailable(place, () => keys.revoke(id)),
  }
}

/** The responses of the routes for the keys of a manager: all keys, or those of an account. */
export function createKeyRoutesOf(keys: KeyManager): Omit<KeyService, 'add'> & {
  add(properties: KeyProperties): Promise<ServiceResponse>
} {
  return {
    list: async () => ({ json: JSON.stringify({ keys: (await keys.list()).map(describeKey) }) }),
    add: async (properties) => describeNewKey(await keys.add(properties)),
    rotate: async (id, query) => describeNewKey(await keys.rotate(id, readOverlap(query))),
    revoke: async (id) => ({ json: JSON.stringify({ revoked: (await keys.revoke(id)).id }) }),
  }
}

function describeNewKey({ key, stored }: NewKey): ServiceResponse {
  return { json: JSON.stringify({ key, properties: describeKey(stored) }) }
}

function readOverlap(query: string): number {
  const text = new URLSearchParams(query).get('overlapSeconds') ?? String(DAY_SECONDS)
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= MAX_OVERLAP_SECONDS) return seconds
  throw problemAt('invalid-input', ['overlapSeconds'], `is not a number of seconds from 0 to ${MAX_OVERLAP_SECONDS}`, {
    code: 'overlap',
    hint: `leave it out for ${DAY_SECONDS}, one day`,
  })
}

/**
 * Reports a database that is unavailable now as `overloaded`, because it is not an internal error.
 *
 * @param place what cannot be used then
 */
export async function orUnavailable<T>(place: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const isAway = error instanceof StoreFault && error.kind !== 'failed'
    if (!isAway && !(error instanceof ConfigError)) throw error
    const isBusy = error instanceof StoreFault && error.kind === 'busy'
    const detail = isBusy ? 'the store is busy; try again' : `${place} cannot be used now; try again`
    throw new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: 1 }, { cause: error })
  }
}
