/**
 * What one client may try in order to take the service from the others. Each attack is data; `attacker.mjs` carries it out as a
 * process of its own, with a bounded share of the processor and from an address of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Position } from '../src/types/generated.ts'
import { comb, polygon, slanting } from './adversarial-shapes.ts'
import { canonicalJson } from './canonical-json.ts'
import { proofOf, signatureOf, unsignedStamp } from './evidence.ts'

export interface Attack {
  readonly name: string
  /** Connections that are open at a time. */
  readonly connections: number
  /** What a connection sends when it opens: one of these, in turn. */
  readonly openings: () => readonly Buffer[]
  /** Sent on each connection, again and again. */
  readonly drip?: { readonly bytes: Buffer; readonly everyMs: number }
  /** After a response: send the next opening, open another connection, or hold this one. A refused connection is opened again. */
  readonly afterwards: 'repeat' | 'reconnect' | 'hold'
  /** False: the client does not read the body of a response. */
  readonly reads?: false
  /** What shows that the attack is at work: connections that it holds, or responses that it got, refusals included. */
  readonly evidence: 'held' | 'answers'
}

/** What an attacker has done so far. */
export interface AttackReport {
  /** Connections that were opened, and that are open now. */
  readonly opened: number
  readonly held: number
  /** Openings and drips. */
  readonly sent: number
  /** Number of responses by their status. */
  readonly answers: Readonly<Record<string, number>>
  /** Connections that the service closed, and that could not be opened. */
  readonly closed: number
  readonly failed: number
  /** Processor time of the attacker, as a share of one core. */
  readonly coreShare: number
}

export interface RunningAttack {
  readonly child: ChildProcess
  /** undefined until the first report. */
  readonly report: AttackReport | undefined
  /** Resolves when the process has ended, and with it every connection. */
  stop(): Promise<void>
}

/** The most that an attacker may use of one core, unless it is given another share. */
export const ATTACKER_SHARE = 0.25

interface Target {
  /** Base URL of the service. */
  readonly url: string
  /** Address from which the attacker connects, such as 127.0.0.2. */
  readonly address: string
  /** Share of one core that the attacker may use. */
  readonly share?: number
}

/**
 * Starts an attacker.
 *
 * @param root folder of the repository
 * @param attack undefined: the process uses its share of the processor and does nothing else
 */
export function startAttack(
  root: string,
  attack: Attack | undefined,
  { url, address, share = ATTACKER_SHARE }: Target,
): RunningAttack {
  const child = spawn(process.execPath, [join(root, 'test', 'attacker.mjs')], { stdio: 'pipe' })
  child.stderr.on('data', (text) => process.stderr.write(text))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const { hostname, port } = new URL(url)
  const base64 = (bytes: Buffer) => bytes.toString('base64')
  const what =
    attack === undefined
      ? { burns: true }
      : {
          connections: attack.connections,
          openings: attack.openings().map(base64),
          drip: attack.drip && base64(attack.drip.bytes),
          dripMs: attack.drip?.everyMs,
          afterwards: attack.afterwards,
          reads: attack.reads,
        }
  child.stdin.write(`${JSON.stringify({ host: hostname, port: Number(port), address, share, ...what })}\n`)
  let report: AttackReport | undefined
  createInterface({ input: child.stdout }).on('line', (line) => {
    report = JSON.parse(line)
  })
  return {
    child,
    get report() {
      return report
    },
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Returns how many connections an attack holds, or how many responses it got, whichever shows that it is at work. */
export function evidenceOf({ evidence }: Attack, report: AttackReport | undefined): number {
  if (report === undefined) return 0
  return evidence === 'held' ? report.held : Object.values(report.answers).reduce((sum, count) => sum + count, 0)
}

/** @param length announced length of the body */
function http(start: string, body: string | Buffer = '', length = Buffer.byteLength(body), type = 'json'): Buffer {
  const entity = start.startsWith('POST') ? `Content-Type: application/${type}\r\nContent-Length: ${length}\r\n` : ''
  return Buffer.concat([Buffer.from(`${start} HTTP/1.1\r\nHost: a\r\n${entity}\r\n`), Buffer.from(body)])
}

const compute = (operation: string, body: object) =>
  http(`POST /compute/v0/${operation}`, JSON.stringify({ chainId: 84532, ...body }))

const MEBIBYTE = 1_048_576

/** A polygon body without its last byte. */
const stalledBody = () => [http('POST /compute/v0/area', Buffer.alloc(MEBIBYTE - 1, 'x'), MEBIBYTE)]

/** As many fields as the cost of one query allows, each with a query of its own at the store. */
function aliases(): readonly Buffer[] {
  const fields = Array.from({ length: 23 }, (_, i) => `a${i}: locationRecords(limit: 1, offset: ${97 * i}) { count }`)
  return [http('POST /graphql', JSON.stringify({ query: `{ ${fields.join(' ')} }` }))]
}

/** Different pages, because the service answers a repeated one from its cache. */
const deepPages = () =>
  Array.from({ length: 500 }, (_, i) => http(`GET /api/v0/location-records?limit=1000&offset=${4000 - 8 * i}`))

function largestBatch(): readonly Buffer[] {
  const item = (i: number) => ({
    op: 'distance',
    from: { type: 'Point', coordinates: [i / 1000, 10] },
    to: { type: 'Point', coordinates: [-i / 1000, -20] },
  })
  return [compute('batch', { attest: 'each', items: Array.from({ length: 10_000 }, (_, i) => item(i)) })]
}

function costliestGeometry(): readonly Buffer[] {
  // Every edge of one line is almost as near to the other line as the nearest one.
  const zigzag = (lon: number, side: 1 | -1) => ({
    type: 'LineString',
    coordinates: Array.from({ length: 900 }, (_, i): Position => [lon - side * (i % 2), side * (i % 9)]),
  })
  const rounded = (ring: Position[]) => ring.map(([x, y]): Position => [Number(x.toFixed(7)), Number(y.toFixed(7))])
  const [left, right] = [1, -1].map((side) => polygon(rounded(slanting(comb(5000, side as 1 | -1)))))
  return [
    compute('distance', { from: zigzag(0, -1), to: zigzag(179, 1) }),
    compute('contains', { container: left, containee: right }),
  ]
}

/** A proof with the most stamps, each with the most signatures. */
function largestProof(): readonly Buffer[] {
  const unsigned = unsignedStamp()
  const text = canonicalJson(unsigned)
  const signatures = Array.from({ length: 16 }, (_, n) => signatureOf(text, n + 1, unsigned))
  const stamps = Array.from({ length: 64 }, () => ({ ...unsigned, signatures }))
  return [http('POST /verify/v0/proof', JSON.stringify({ chainId: 84532, proof: proofOf(stamps) }))]
}

/** A line of half a mebibyte that never ends. */
const endlessLine = () => [
  http('POST /compute/v0/batch?chainId=84532', `{"id":"${'x'.repeat(MEBIBYTE / 2)}`, 1e9, 'x-ndjson'),
]

const NOT_HTTP = [
  '\0\x01\r\n\r\n',
  'GET / HTTP/9.9\r\n\r\n',
  'POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n',
  '}{\r\n\r\n',
]

export const ATTACKS: readonly Attack[] = [
  { name: 'stalled bodies', connections: 300, openings: stalledBody, afterwards: 'hold', evidence: 'held' },
  {
    name: 'slow headers',
    connections: 1000,
    openings: () => [Buffer.from('GET /health HTTP/1.1\r\nHost: a\r\n')],
    drip: { bytes: Buffer.from('x: y\r\n'), everyMs: 1000 },
    afterwards: 'hold',
    evidence: 'held',
  },
  { name: 'idle connections', connections: 1000, openings: () => [], afterwards: 'hold', evidence: 'held' },
  {
    name: 'keep-alive connections',
    connections: 10_000,
    openings: () => [http('GET /health')],
    afterwards: 'hold',
    evidence: 'held',
  },
  { name: 'GraphQL aliases', connections: 40, openings: aliases, afterwards: 'repeat', evidence: 'answers' },
  { name: 'deep pages', connections: 40, openings: deepPages, afterwards: 'repeat', evidence: 'answers' },
  {
    name: 'exports that are not read',
    connections: 40,
    openings: () => [http('GET /api/v0/location-records/export?f=geojson')],
    afterwards: 'hold',
    reads: false,
    // It holds no more than its share of exports. The rest is refused.
    evidence: 'answers',
  },
  { name: 'largest batches', connections: 8, openings: largestBatch, afterwards: 'repeat', evidence: 'answers' },
  {
    name: 'costliest geometry',
    connections: 40,
    openings: costliestGeometry,
    afterwards: 'repeat',
    evidence: 'answers',
  },
  { name: 'proofs of 64 stamps', connections: 40, openings: largestProof, afterwards: 'repeat', evidence: 'answers' },
  {
    name: 'lines that never end',
    connections: 200,
    openings: endlessLine,
    drip: { bytes: Buffer.from('x'), everyMs: 1000 },
    afterwards: 'hold',
    evidence: 'held',
  },
  {
    name: 'flood of connections',
    connections: 100,
    openings: () => [http('GET /health')],
    afterwards: 'reconnect',
    evidence: 'answers',
  },
  {
    name: 'flood of malformed requests',
    connections: 100,
    openings: () => NOT_HTTP.map((text) => Buffer.from(text, 'latin1')),
    afterwards: 'reconnect',
    evidence: 'answers',
  },
]
