/** Sizes and timeouts of requests, batches and threads. Every queue has a maximum size, and every wait has a limit. */
import { constant, derived, failure, integer, number, type Setting, type Source, wholeNumber } from './setting.ts'

export const MAX_BODY_BYTES = integer('MAX_BODY_BYTES', 1_048_576, 1024, 64 * 1_048_576)
export const MAX_VERTICES = integer('MAX_VERTICES', 50_000, 4, 5_000_000)
/** HTTP processes on one port. With more than one, a supervisor runs them and a data process. `auto`: one for every two cores. */
export const PROCESSES: Setting<number> = {
  names: ['PROCESSES'],
  fallback: 1,
  read({ env, cores }) {
    const text = env['PROCESSES']?.trim()
    if (!text) return 1
    if (text === 'auto') return Math.max(1, Math.floor(cores / 2))
    return wholeNumber(text, 1, 64, () => failure('PROCESSES', text)('auto or a whole number from 1 to 64'))
  },
}
/** By default, the processes share the cores. */
const COMPUTE_THREADS = integer('COMPUTE_THREADS', (source) => Math.ceil(source.cores / PROCESSES.read(source)), 0, 256)
export const MAX_STREAM_BYTES = integer(
  'MAX_STREAM_BYTES',
  (source) => Math.max(8 * 1_048_576, 2 * (MAX_BODY_BYTES.read(source) + 1_048_576)),
  // Half of it holds whole lines; the other half holds the beginning of the next line and one read of the transport (512 KiB).
  (source) => 2 * (MAX_BODY_BYTES.read(source) + 1_048_576),
  8e9,
)
const MAX_CONNECTIONS = integer('MAX_CONNECTIONS', 16_384, 1, 1_000_000)
/** Largest number of bytes that the transport reads at once. */
const READ_BYTES = 524_288
/** Size of a batch in one JSON document. An NDJSON stream has no total limit; each line may have `maxBodyBytes`. */
const MAX_BATCH_BYTES = integer('MAX_BATCH_BYTES', 8 * 1_048_576, 1024, 256 * 1_048_576)
/** Size of the largest body that is held as a whole. With less memory for all bodies, its client would retry for ever. */
const largestBodyBytes = (source: Source) => Math.max(MAX_BODY_BYTES.read(source), MAX_BATCH_BYTES.read(source))
const MAX_IN_FLIGHT_BYTES = integer(
  'MAX_IN_FLIGHT_BYTES',
  (source) => Math.max(64 * 1_048_576, largestBodyBytes(source)),
  (source) => Math.max(1_048_576, largestBodyBytes(source)),
  8e9,
)
export const REQUEST_DEADLINE_MS = integer('REQUEST_DEADLINE_MS', 10_000, 100, 600_000)

/** Memory that one allowed request may need. With a smaller share of the memory, its client would retry for ever. */
function largestRequestBytes(source: Source): number {
  return Math.max(...[MAX_BODY_BYTES, MAX_BATCH_BYTES, MAX_STREAM_BYTES].map((setting) => setting.read(source)))
}

/** Default: half of the memory of all bodies. */
const MAX_CLIENT_BODY_BYTES = integer(
  'MAX_CLIENT_BODY_BYTES',
  (source) => Math.max(16 * 1_048_576, Math.floor(MAX_IN_FLIGHT_BYTES.read(source) / 2), largestRequestBytes(source)),
  largestRequestBytes,
  8e9,
)

export const REQUEST_LIMITS = {
  maxBodyBytes: MAX_BODY_BYTES,
  /** Bytes of one NDJSON stream that were read but not answered; beyond it the connection is closed. */
  maxStreamBytes: MAX_STREAM_BYTES,
  maxBatchBytes: MAX_BATCH_BYTES,
  /** Number of items in a batch in one JSON document. */
  maxBatchItems: constant(10_000),
  /** Size of a batch without its items. The main thread parses only this envelope. */
  maxBatchEnvelopeBytes: constant(16_384),
  maxVertices: MAX_VERTICES,
  /** Rings, lines and points of one geometry together. */
  maxParts: integer('MAX_PARTS', 10_000, 1, 1_000_000),
  maxCollectionDepth: constant(8),
  maxJsonDepth: constant(32),
  /** Bodies up to this size go to the small lane; larger ones go to the large lane. */
  smallBodyBytes: constant(16_384),
  /** Largest body that may be computed on the main thread, if that takes no longer than a message to another thread. 0: never. */
  inlineBodyBytes: integer('INLINE_BODY_BYTES', 512, 0, 16_384),
  computeThreads: COMPUTE_THREADS,
  /** Threads of the large lane: one more than a client may use, so that its slow work does not block the work of others. */
  largeThreads: derived((source) => COMPUTE_THREADS.read(source) + 1),
  largeThreadsPerClient: derived((source) => Math.max(1, COMPUTE_THREADS.read(source))),
  /** Requests of different clients that go to a thread in one message. It has nothing to do with the items of a batch. */
  maxBatchSize: constant(32),
  /**
   * Requests that may wait in each of three queues: for a compute thread, for room at the signer, for a signature. Beyond it the
   * service answers 503.
   */
  maxQueuedRequests: integer('MAX_QUEUED_REQUESTS', 4096, 1, 1_000_000),
  /** Longest estimated wait of a request for a thread or for the store; otherwise the service answers 503. See `WaitLimit`. */
  maxQueueMs: integer('MAX_QUEUE_MS', 200, 10, 600_000),
  /** Bytes of request bodies in memory, over all connections; beyond it the service answers 503. */
  maxInFlightBytes: MAX_IN_FLIGHT_BYTES,
  /** The part of `maxInFlightBytes` that one client may use. A client is an API key or, without a key, an address. */
  maxClientBodyBytes: MAX_CLIENT_BODY_BYTES,
  /** Line streams that one client may open: one line and one read of each must fit into three quarters of the client's memory. */
  maxLineStreamsPerClient: derived((source) =>
    Math.max(1, Math.floor((0.75 * MAX_CLIENT_BODY_BYTES.read(source)) / (MAX_BODY_BYTES.read(source) + READ_BYTES))),
  ),
  /**
   * The part of `maxInFlightBytes` that only bodies of at most 16 KB may use, so that large bodies never take all of it. The rest
   * is large enough for the largest request.
   */
  smallBodyReserveBytes: derived((source) => {
    const total = MAX_IN_FLIGHT_BYTES.read(source)
    return Math.max(0, Math.min(Math.floor(total / 16), total - largestRequestBytes(source)))
  }),
  maxOpenBodiesPerAddress: integer('MAX_OPEN_BODIES_PER_ADDRESS', 1024, 1, 1_000_000),
  /** How many bytes of a rejected body are still read and discarded, so that its client gets to read the response. */
  refusedBodyBytes: integer('REFUSED_BODY_BYTES', 16 * 1_048_576, 0, 8e9),
  /** Longest time for which a rejected body is read. */
  refusedBodyMs: integer('REFUSED_BODY_MS', 5000, 0, 600_000),
  requestDeadlineMs: REQUEST_DEADLINE_MS,
  /** Longest time that an NDJSON stream may be idle in both directions. */
  streamIdleMs: integer('STREAM_IDLE_MS', 30_000, 100, 600_000),
  /**
   * Longest time from the first byte of a request to the last byte of its body. uWebSockets.js ends a connection that is silent for
   * 10 s, so a longer time would have no effect.
   */
  receiveTimeoutMs: derived((source) => Math.min(10_000, REQUEST_DEADLINE_MS.read(source))),
  keepAliveTimeoutMs: constant(10_000),
  drainTimeoutMs: integer('DRAIN_TIMEOUT_MS', 10_000, 0, 600_000),
  maxConnections: MAX_CONNECTIONS,
  /** Open connections of one address; further ones are closed. `UwsConnections` says when this holds on uWebSockets.js. */
  maxConnectionsPerAddress: integer(
    'MAX_CONNECTIONS_PER_ADDRESS',
    (source) => Math.max(1, Math.floor(MAX_CONNECTIONS.read(source) / 8)),
    1,
    1_000_000,
  ),
  /** Units of work (`src/base/work.ts`) that one request or item of a batch may need; beyond it the answer is 422. */
  maxWork: integer('MAX_WORK', 200_000, 1000, 1e9),
  /** The same limit in the small lane. A request that needs more is computed in the large lane. */
  maxSmallWork: constant(20_000),
  /** Size of each compute thread's cache of prepared geometries. */
  maxPreparedBytes: integer('MAX_PREPARED_BYTES', 16 * 1_048_576, 65_536, 5e8),
  workerHeapMb: constant(512),
  /** The share of computed answers that an independent library checks afterwards; 0: none. */
  crossCheckShare: number('CROSS_CHECK', 0.001, 0, 1),
  /** Samples that may wait for their check; further ones are only counted. */
  maxCrossChecksWaiting: constant(64),
  /** A check that takes longer is given up. */
  crossCheckMs: constant(5000),
  crossCheckHeapMb: constant(64),
  /**
   * Size of V8's young generation (three semi-spaces) in a compute thread. One that fits into the processor's cache is collected
   * faster.
   */
  workerYoungHeapMb: constant(6),
}
