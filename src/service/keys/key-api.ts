/** The routes that manage keys, without HTTP. */
import { ProblemError, problemAt } from '../../base/problem.ts'
import { ConfigError } from '../../config/setting.ts'
import { readKeyRequest } from '../../validation/key-request.ts'
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
  const keys = new KeyManager(repository, now)
  return {
    list: () => orUnavailable(async () => ({ json: JSON.stringify({ keys: (await keys.list()).map(describeKey) }) })),
    add: (body) => orUnavailable(async () => describeNewKey(await keys.add(readKeyRequest(body, maxJsonDepth, now())))),
    rotate: (id, query) => orUnavailable(async () => describeNewKey(await keys.rotate(id, readOverlap(query)))),
    revoke: (id) => orUnavailable(async () => ({ json: JSON.stringify({ revoked: (await keys.revoke(id)).id }) })),
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

/** Reports a database that is unavailable now as `overloaded`, because it is not an internal error. */
async function orUnavailable<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const isAway = error instanceof StoreFault && error.kind !== 'failed'
    if (!isAway && !(error instanceof ConfigError)) throw error
    const detail = `the ${isAway ? 'database' : 'file'} of the API keys cannot be used now; try again`
    throw new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: 1 }, { cause: error })
  }
}
