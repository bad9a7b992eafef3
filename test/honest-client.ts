/** A client that sends a mix of ordinary requests at a constant rate (an open loop), unless its pending requests are limited. */
import { Agent, request } from 'node:http'
import type { Position } from '../src/types/generated.ts'

/** The rate at which it sends. */
export const REQUESTS_PER_SECOND = 50

export interface HonestOptions {
  /** The most requests that wait for a response at a time; without a limit, the rate is constant whatever the service does. */
  readonly maxPending?: number
  /** A request that takes longer counts as failed. */
  readonly patienceMs?: number
}

export interface HonestResult {
  readonly requests: number
  /** Requests without a correct response, by status, error code, or `wrong`. */
  readonly failures: Readonly<Record<string, number>>
  /** Times from when a request was due until its response, of those that succeeded; NaN if none did. */
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface HonestClient {
  /** Sends this number of requests, and resolves when each has its response. */
  run(requests: number): Promise<HonestResult>
  /** Closes its connections. */
  close(): void
}

/** One request of the mix. */
export interface Step {
  readonly kind: string
  readonly path: string
  /** JSON; undefined for a GET request. */
  readonly body?: string
  /** Text that a correct response contains. */
  readonly contains: string
}

const RECORDS = '/api/v0/location-records'

/**
 * Makes an honest client of a service with sample records.
 *
 * @param apiKey its key, which makes it a client of its own
 */
export async function createHonestClient(
  url: string,
  apiKey: string,
  { maxPending = Number.POSITIVE_INFINITY, patienceMs = 30_000 }: HonestOptions = {},
): Promise<HonestClient> {
  // A connection is not reused when the service may just be closing it.
  const agent = new Agent({ keepAlive: true, timeout: 4000 })
  const stepOf = await createMix(url)
  let sent = 0
  const send = (step: Step) => sendStep({ agent, url, apiKey, patienceMs }, step)
  return {
    async run(requests) {
      const steps = Array.from({ length: requests }, () => stepOf(sent++))
      return summarize(await sendAll(steps, send, maxPending))
    },
    close: () => agent.destroy(),
  }
}

/**
 * Returns the function that makes the requests of the mix by their index. Each differs from the one before it, so that no cache answers
 * it. Waits until the service has stored its sample records.
 */
export async function createMix(url: string): Promise<(index: number) => Step> {
  const uids = await readUids(url)
  return (index) => {
    // Exports are rare: on a slow machine, a few of them a second would reach the limit of exports without any attack.
    if (index % EXPORT_EVERY === 0) return exportStep(index / EXPORT_EVERY)
    return MIX[index % MIX.length]!(Math.floor(index / MIX.length), uids)
  }
}

async function readUids(url: string): Promise<readonly string[]> {
  for (;;) {
    const response = await fetch(`${url}${RECORDS}?limit=1000`)
    const page = (await response.json()) as { count?: number; data?: { uid: string }[] }
    if (page.count === 5000) return page.data!.map(({ uid }) => uid)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const EXPORT_EVERY = 24

const MIX: readonly ((round: number, uids: readonly string[]) => Step)[] = [
  (round) => ({
    kind: 'distance',
    path: '/compute/v0/distance',
    body: JSON.stringify({
      chainId: 84532,
      from: { type: 'Point', coordinates: [2.2945, 48.8584] },
      to: { type: 'Point', coordinates: [2.3522 + round / 1e4, 48.8566] },
    }),
    contains: '"signature":"0x',
  }),
  (round) => ({
    kind: 'area of 20 KB',
    path: '/compute/v0/area',
    body: JSON.stringify({ chainId: 84532, geometry: { type: 'Polygon', coordinates: [ringOf(round)] } }),
    contains: '"signature":"0x',
  }),
  (round) => ({
    kind: 'list of records',
    path: `${RECORDS}?limit=10&offset=${(7 * round) % 4900}`,
    contains: '"count":5000',
  }),
  (round, uids) => {
    const uid = uids[round % uids.length]!
    return { kind: 'record', path: `${RECORDS}/${uid}`, contains: uid }
  },
  (round) => ({
    kind: 'GraphQL query',
    path: '/graphql',
    body: JSON.stringify({
      query: `{ locationRecords(limit: 5, offset: ${(11 * round) % 4900}) { count data { uid } } }`,
    }),
    contains: '"count":5000',
  }),
]

function exportStep(round: number): Step {
  const west = (5 * round) % 140
  return { kind: 'export', path: `${RECORDS}/export?bbox=${west},10,${west + 40},50`, contains: '"uid"' }
}

/** A ring whose polygon is a body of about 20 KB. */
function ringOf(round: number): Position[] {
  const ring = Array.from({ length: 500 }, (_, index): Position => {
    const angle = (2 * Math.PI * index) / 500
    return [10 + round / 1e4 + Math.cos(angle), 45 + Math.sin(angle)]
  })
  return [...ring, ring[0]!]
}

interface Outcome {
  readonly ms: number
  /** undefined if the response was correct. */
  readonly failure: string | undefined
}

async function sendAll(
  steps: readonly Step[],
  send: (step: Step) => Promise<string | undefined>,
  maxPending: number,
): Promise<Outcome[]> {
  const startMs = performance.now()
  const outcomes: Promise<Outcome>[] = []
  const pending = new Set<Promise<Outcome>>()
  for (const [index, step] of steps.entries()) {
    const dueMs = startMs + (index * 1000) / REQUESTS_PER_SECOND
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    while (pending.size >= maxPending) await Promise.race(pending)
    // Counted from when it was due: a request that could not be sent in time has waited too.
    const outcome = send(step).then((failure) => {
      pending.delete(outcome)
      return { ms: performance.now() - dueMs, failure }
    })
    pending.add(outcome)
    outcomes.push(outcome)
  }
  return Promise.all(outcomes)
}

interface Sender {
  readonly agent: Agent
  readonly url: string
  readonly apiKey: string
  readonly patienceMs: number
}

/** @returns undefined if the response is correct, otherwise why it is not */
function sendStep(
  { agent, url, apiKey, patienceMs }: Sender,
  { path, body, contains }: Step,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const outgoing = request(`${url}${path}`, {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'X-API-Key': apiKey, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      signal: AbortSignal.timeout(patienceMs),
    })
    outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name))
    outgoing.on('response', (incoming) => {
      const pieces: Buffer[] = []
      incoming.on('data', (piece) => pieces.push(piece))
      incoming.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name))
      incoming.on('end', () => {
        if (incoming.statusCode !== 200) resolve(String(incoming.statusCode))
        else resolve(Buffer.concat(pieces).includes(contains) ? undefined : 'wrong')
      })
    })
    outgoing.end(body)
  })
}

function summarize(outcomes: readonly Outcome[]): HonestResult {
  const failures: Record<string, number> = {}
  for (const { failure } of outcomes) if (failure !== undefined) failures[failure] = (failures[failure] ?? 0) + 1
  const times = outcomes.filter(({ failure }) => failure === undefined).map(({ ms }) => ms)
  times.sort((a, b) => a - b)
  const percentile = (fraction: number) => times[Math.ceil(fraction * times.length) - 1] ?? Number.NaN
  return { requests: outcomes.length, failures, p50Ms: percentile(0.5), p99Ms: percentile(0.99) }
}
