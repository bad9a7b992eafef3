/** The operations of the benches of jobs, and how they are sent and read. */
import { createHash, type Hash } from 'node:crypto'
import type { BenchService } from './service-process.ts'

/** Operations of one piece of an upload. */
export const PIECE_LINES = 10_000

/** Settings of a service whose limits none of these benches reaches. */
export const JOB_ENVIRONMENT = { RECORDS: '1', RATE_LIMIT_INTERNAL: '1000000000', JOB_POLL_MS: '50' }

export const JOBS = '/compute/v0/jobs'

/** State of a job, as far as these benches read it. */
interface JobState {
  readonly id: string
  readonly state: string
  readonly done: number
}

/** Waits until the store is open: the first start makes a database. */
export async function untilStoreOpen({ url }: BenchService): Promise<void> {
  for (;;) {
    const health = (await (await fetch(`${url}/health`)).json()) as { database: string }
    if (health.database === 'connected') return
    await pause()
  }
}

/** Uploads operations as one stream. @returns the id of the job */
export async function createJob(service: BenchService, attest: string, operations: number): Promise<string> {
  const response = await sendLines(service, `${JOBS}?chainId=84532&attest=${attest}`, operations)
  const text = await response.text()
  if (response.status !== 202) throw new Error(text)
  return (JSON.parse(text) as JobState).id
}

/** Reads the state of a job. */
async function readJob({ url, internalKey }: BenchService, id: string): Promise<JobState> {
  const response = await fetch(`${url}${JOBS}/${id}`, { headers: { 'x-api-key': internalKey } })
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as JobState
}

/** Waits until a job fulfils a condition. */
export async function untilJob(
  service: BenchService,
  id: string,
  condition: (job: JobState) => boolean,
): Promise<JobState> {
  for (;;) {
    const job = await readJob(service, id)
    if (condition(job)) return job
    await pause()
  }
}

/** Reads all results of a job. @throws {Error} unless there is one for each operation, in order, none of them a problem */
export async function readResults(
  { url, internalKey }: BenchService,
  id: string,
  operations: number,
  query = '',
): Promise<Reading> {
  const headers = { 'x-api-key': internalKey }
  const response = await fetch(`${url}${JOBS}/${id}/results${query}`, { headers })
  return readLines(response, operations)
}

export function sendLines({ url, internalKey }: BenchService, path: string, operations: number): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    headers: { 'x-api-key': internalKey, 'content-type': 'application/x-ndjson' },
    body: ReadableStream.from(pieces(operations)),
    duplex: 'half',
  } as RequestInit)
}

/** Yields the lines of operations in pieces. */
export function* pieces(operations: number): Generator<Uint8Array> {
  for (let first = 0; first < operations; first += PIECE_LINES) {
    const count = Math.min(PIECE_LINES, operations - first)
    const lines = Array.from({ length: count }, (_, offset) => {
      const index = first + offset
      const from = `{"type":"Point","coordinates":[${((index * 0.618) % 180).toFixed(6)},${((index * 0.382) % 90).toFixed(6)}]}`
      return `{"op":"distance","id":${index},"from":${from},"to":{"type":"Point","coordinates":[2.35,48.85]}}\n`
    })
    yield Buffer.from(lines.join(''))
  }
}

export interface Reading {
  /** Hash of all lines, without blank ones. */
  readonly digest: string
  /** Operations whose result is missing, and results beyond the first one of an operation. */
  readonly lost: number
  readonly doubled: number
}

/** Reads results without holding them. @throws {Error} if a result is a problem */
export async function readLines(response: Response, operations: number): Promise<Reading> {
  if (!response.ok) throw new Error(await response.text())
  const seen = new Uint8Array(operations)
  const hash = createHash('sha256')
  let rest: Buffer = Buffer.alloc(0)
  let doubled = 0
  let read = 0
  for await (const piece of response.body! as unknown as AsyncIterable<Uint8Array>) {
    const bytes = Buffer.concat([rest, piece])
    const end = bytes.lastIndexOf(0x0a) + 1
    rest = bytes.subarray(end)
    const [lines, repeated] = countLines(bytes.subarray(0, end), seen, hash)
    read += lines
    doubled += repeated
  }
  if (rest.length > 0) throw new Error('the response ends within a line')
  return { digest: hash.digest('hex'), lost: operations - read + doubled, doubled }
}

const ID = Buffer.from('"id":')

/** Marks the operations of complete lines. @returns the number of lines, and of those whose operation was seen before */
function countLines(bytes: Buffer, seen: Uint8Array, hash: Hash): [lines: number, repeated: number] {
  let lines = 0
  let repeated = 0
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0x0a, start) + 1
    if (end > start + 1) {
      lines++
      const id = readId(bytes, start, end)
      if (seen[id]!++ > 0) repeated++
      hash.update(bytes.subarray(start, end))
    } // a blank line only keeps the connection open
    start = end
  }
  if (bytes.includes('"error":')) throw new Error('an operation failed')
  return [lines, repeated]
}

function readId(bytes: Buffer, start: number, end: number): number {
  let at = bytes.indexOf(ID, start) + ID.length
  if (at < ID.length + start || at >= end)
    throw new Error(`a result without an id: ${bytes.toString('utf8', start, end)}`)
  let id = 0
  for (let digit = bytes[at]! - 48; digit >= 0 && digit <= 9; digit = bytes[++at]! - 48) id = 10 * id + digit
  return id
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50))
}
