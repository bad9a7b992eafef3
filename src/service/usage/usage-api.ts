/** The usage of a key as clients read it, as JSON or as CSV, without HTTP. */
import { ProblemError, problemAt } from '../../base/problem.ts'
import type { StoreCaller, StoreClient } from '../../threads/store-client.ts'
import { accountSubject, OTHER_SUBJECTS, PUBLIC_SUBJECT, type UsageRow } from '../../wire/usage-messages.ts'
import { orUnavailable } from '../keys/key-api.ts'
import type { KeyRepository } from '../keys/keys.ts'
import type { ServiceResponse } from '../request.ts'

export type UsageFormat = 'json' | 'csv'

/** What the HTTP layer sees of usage. All methods throw a `ProblemError`. The caller is charged for the time of the store. */
export interface UsageService {
  /** @param subject of the key that asks @param query `from` and `to` */
  own(subject: string, query: string, format: UsageFormat, caller: StoreCaller): Promise<ServiceResponse>
  /** @param id of a key, which may be revoked, or `public` or `others`; the key of an account shows what the whole account used */
  ofKey(id: string, query: string, format: UsageFormat, caller: StoreCaller): Promise<ServiceResponse>
}

export interface UsageServiceParts {
  readonly store: Pick<StoreClient, 'ask'>
  readonly keys: Pick<KeyRepository, 'list' | 'findOwner'>
  /** Longest time that one operation of the database may take. */
  readonly answerMs: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const PLACE = 'the database of the usage'
const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30
const MAX_DAYS = 400

/** Header with the time until which the usage is complete, for CSV, which has no other place for it. */
const COMPLETE_UNTIL = 'X-Complete-Until'

export function createUsageService({ store, keys, answerMs, now }: UsageServiceParts): UsageService {
  const read = (prefix: string, range: Range, caller: StoreCaller) =>
    store.ask('readUsage', { prefix, ...range }, now() + answerMs, caller)
  return {
    own: (subject, query, format, caller) =>
      orUnavailable(PLACE, async () => {
        const range = readRange(query, now())
        return describe(range, await read(subject, range, caller), format)
      }),
    ofKey: (id, query, format, caller) =>
      orUnavailable(PLACE, async () => {
        const range = readRange(query, now())
        if (id === PUBLIC_SUBJECT || id === OTHER_SUBJECTS)
          return describe(range, await read(id, range, caller), format)
        if (!/^[0-9a-f]{12}$/.test(id)) throw unknownKey(id)
        const owner = await keys.findOwner(id, caller)
        // The keys of an account count together, as its sessions do.
        if (owner !== undefined) return describe(range, await read(accountSubject(owner), range, caller), format)
        const usage = await read(`key:${id}`, range, caller)
        // The keys of API_KEYS and revoked ones are not in the list, and may have been used.
        if (usage.rows.length === 0 && !(await keys.list(undefined, caller)).some((key) => key.id === id))
          throw unknownKey(id)
        return describe(range, usage, format)
      }),
  }
}

/** Two days, which are both included. */
interface Range {
  readonly from: string
  readonly to: string
}

function readRange(query: string, nowMs: number): Range {
  const parameters = new URLSearchParams(query)
  const toMs = readDay(parameters, 'to') ?? Math.floor(nowMs / DAY_MS) * DAY_MS
  const fromMs = readDay(parameters, 'from') ?? toMs - (DEFAULT_DAYS - 1) * DAY_MS
  if (fromMs > toMs)
    throw problemAt('invalid-input', ['from'], `is after to, ${dayOf(toMs)}`, {
      code: 'range',
      hint: 'both days are included, so one day has from and to equal',
    })
  if ((toMs - fromMs) / DAY_MS >= MAX_DAYS)
    throw problemAt('invalid-input', ['from'], `is more than ${MAX_DAYS - 1} days before to, ${dayOf(toMs)}`, {
      code: 'range',
      hint: `ask for at most ${MAX_DAYS} days at a time`,
    })
  return { from: dayOf(fromMs), to: dayOf(toMs) }
}

function readDay(parameters: URLSearchParams, name: string): number | undefined {
  const values = parameters.getAll(name)
  if (values.length === 0) return undefined
  const timeMs = /^[12]\d{3}-\d\d-\d\d$/.test(values[0]!) ? Date.parse(values[0]!) : Number.NaN
  // Some parsers take 30 February for a day of March.
  if (values.length === 1 && !Number.isNaN(timeMs) && dayOf(timeMs) === values[0]) return timeMs
  const found = values.length > 1 ? `appears ${values.length} times` : 'is not a day'
  throw problemAt('invalid-input', [name], found, { code: 'day', hint: 'write one day of UTC such as 2030-12-31' })
}

function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10)
}

/** The body of a response as JSON. */
export interface KeyUsage {
  readonly from: string
  readonly to: string
  /** ISO 8601; null if no process has stored anything lately. */
  readonly completeUntil: string | null
  readonly usage: readonly (Omit<UsageRow, 'cpuMicros'> & { readonly cpuMs: number })[]
}

const CSV_HEADER = 'day,kind,requests,operations,bytes,vertices,cpuMs,errors4xx,errors5xx\r\n'

function describe(
  range: Range,
  { rows, completeMs }: { readonly rows: readonly UsageRow[]; readonly completeMs: number | undefined },
  format: UsageFormat,
): ServiceResponse {
  const completeUntil = completeMs === undefined ? null : new Date(completeMs).toISOString()
  const usage = rows.map(({ day, kind, requests, operations, bytes, vertices, cpuMicros, errors4xx, errors5xx }) => {
    return { day, kind, requests, operations, bytes, vertices, cpuMs: cpuMicros / 1000, errors4xx, errors5xx }
  })
  const headers = completeUntil === null ? {} : { [COMPLETE_UNTIL]: completeUntil }
  if (format === 'json') return { json: JSON.stringify({ ...range, completeUntil, usage } satisfies KeyUsage), headers }
  // No value has a comma or a quote.
  return { json: CSV_HEADER + usage.map((row) => `${Object.values(row).join(',')}\r\n`).join(''), headers }
}

function unknownKey(id: string): ProblemError {
  const detail = `there is no key ${JSON.stringify(id.slice(0, 64))}, and none was used in this time`
  return new ProblemError({ type: 'not-found', detail })
}
