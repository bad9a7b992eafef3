import { type MessagePort, SHARE_ENV, Worker } from 'node:worker_threads'
import type { PackedBytes } from '../base/bytes.ts'
import type { Log } from '../base/log.ts'
import { ProblemError } from '../base/problem.ts'
import { type Config, ConfigError, type SignerConfig } from '../config/config.ts'
import type {
  AttestationPayload,
  RelayPayload,
  RelaySigningResult,
  ResultPayload,
  ResultSigningResult,
  SequencePayload,
  SequenceSigningResult,
  SignerReply,
  SignerRequest,
  SigningKeyKind,
  SigningPayload,
  SigningResult,
} from '../wire/signing-messages.ts'
import { joinRecords } from '../wire/signing-records.ts'
import { overloaded, rejectedBlock, type SignedBlock, TOO_MANY_WAITING } from './signing-block.ts'
import { SigningQueue } from './signing-queue.ts'
import { heapLimits, workerUrl } from './spawn.ts'

/** A signer thread that is ready. */
interface SignerThread {
  readonly worker: Worker
  readonly address: string
  readonly keyKind: SigningKeyKind
  readonly backend: string
}

// Opening a keystore takes scrypt one second, more on a busy machine.
const START_TIMEOUT_MS = 30_000
/** A signature takes microseconds, and a message of signatures takes milliseconds. */
const CLOSE_TIMEOUT_MS = 2000

/** Asks the thread to exit and waits. Terminating it during a signature in native code would crash the process. */
async function endThread(worker: Worker): Promise<void> {
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  worker.postMessage({ type: 'close' } satisfies SignerRequest)
  const timer = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT_MS)
  await ended
  clearTimeout(timer)
}

/**
 * Starts a signer thread and waits until it is ready.
 *
 * @throws {ConfigError} when the key or a chain is configured wrongly
 */
async function startThread(config: Config, onReply: (reply: SignerReply) => void): Promise<SignerThread> {
  const worker = new Worker(workerUrl('signer'), {
    name: 'signer',
    env: SHARE_ENV, // so that it can remove the key from it
    workerData: signerConfig(config),
    resourceLimits: heapLimits(config),
  })
  try {
    const ready = await firstReply(worker)
    worker.on('message', onReply)
    return { worker, ...ready }
  } catch (error) {
    await worker.terminate()
    throw error
  }
}

function firstReply(worker: Worker): Promise<Omit<SignerThread, 'worker'>> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the signer did not start in ${START_TIMEOUT_MS} ms`)),
      START_TIMEOUT_MS,
    )
    worker.once('message', (reply: SignerReply) => {
      if (reply.type === 'ready') resolve(reply)
      else reject(new ConfigError(reply.type === 'refused' ? reply.reason : 'the signer did not start'))
    })
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`the signer ended while starting (${code})`)))
    worker.once('exit', () => clearTimeout(timer))
    worker.once('message', () => clearTimeout(timer))
  })
}

function signerConfig(config: Config): SignerConfig {
  const { production, allowDevelopmentKey, dataDir, chains, schemas } = config
  const { nonceMaxAgeMs, rpcTimeoutMs, attestationTtlSeconds, submission } = config
  return {
    production,
    allowDevelopmentKey,
    dataDir,
    chains,
    schemas,
    nonceMaxAgeMs,
    rpcTimeoutMs,
    attestationTtlSeconds,
    submission,
  }
}

/** The main thread's side of the signer thread, which is the only one that holds the key. */
export interface SignerClient {
  /** Checksummed. */
  readonly address: string
  readonly keyKind: SigningKeyKind
  /** The secp256k1 backend, its library and version: `system (libsecp256k1 0.2, /usr/lib/…/libsecp256k1.so.1.0.0)`. */
  readonly backend: string
  /** False while the thread restarts. */
  readonly isReady: boolean
  /**
   * Signs one payload. Never rejects: problems are data, `overloaded` when the thread died or took too long.
   *
   * @param isBulk true for an item of a batch; single requests overtake it
   */
  sign(payload: AttestationPayload, isBulk?: boolean): Promise<SigningResult>
  sign(payload: ResultPayload): Promise<ResultSigningResult>
  sign(payload: SequencePayload): Promise<SequenceSigningResult>
  sign(payload: RelayPayload): Promise<RelaySigningResult>
  /**
   * Signs the attestations of a chunk of a batch; single requests overtake them. Never rejects.
   *
   * @param payloads as `putPayload` writes them
   */
  signBlock(payloads: PackedBytes): Promise<SignedBlock>
  /**
   * Waits for a free slot. Call it before computing a result that will be signed as a single payload.
   *
   * @returns undefined when there is a slot now; otherwise a promise that resolves when there is one
   * @throws {ProblemError} `overloaded` when too many requests are already waiting
   */
  waitForRoom(): Promise<void> | undefined
  /**
   * Connects the thread to the sync thread, now and after every restart.
   *
   * @param connect makes a channel, passes one end to the sync thread and returns the other
   */
  connectNonces(connect: () => MessagePort): void
  /**
   * Resolves when the thread ended and cannot restart, because its key came from the environment and is stored nowhere
   * else.
   */
  readonly lost: Promise<Error>
  close(): Promise<void>
}

const LONGEST_RESTART_PAUSE_MS = 5000

/**
 * Starts the signer thread. No other thread may start before it is ready, because until then the key is in the
 * environment, which threads can share.
 *
 * A thread that dies is restarted when its key is in a file (development key, keystore). A key from the environment is
 * gone: it was deleted there, and the main thread never had it. Then `lost` resolves, and the process has to end so
 * that its supervisor restarts it.
 *
 * @throws {ConfigError} when the key or a chain is configured wrongly; the message says what to change
 */
export async function startSigner(config: Config, log: Log): Promise<SignerClient> {
  const { maxQueuedRequests, maxBatchSize, requestDeadlineMs } = config.limits
  let thread: SignerThread | undefined
  let connect: (() => MessagePort) | undefined
  let isClosing = false
  let resolveLost: (error: Error) => void = () => {}
  const lost = new Promise<Error>((resolve) => {
    resolveLost = resolve
  })
  const post = (request: SignerRequest, transfer: readonly (MessagePort | ArrayBuffer)[] = []) =>
    thread?.worker.postMessage(request, transfer)
  const queue = new SigningQueue({
    maxQueueSize: maxQueuedRequests,
    maxBatchSize,
    timeoutMs: requestDeadlineMs,
    send({ records, bulk, others }) {
      const packed = { records: joinRecords(records.ids, records.records), bulk: joinRecords(bulk.ids, bulk.records) }
      post({ type: 'sign', ...packed, others }, [packed.records.buffer, packed.bulk.buffer])
    },
  })

  const first = await startThread(config, onReply)
  attachThread(first)
  const { address, keyKind, backend } = first

  return {
    address,
    keyKind,
    backend,
    lost,
    get isReady() {
      return thread !== undefined
    },
    sign,
    waitForRoom() {
      if (queue.room.isFull) throw new ProblemError(overloaded(TOO_MANY_WAITING).problem)
      return queue.room.enter()
    },
    async signBlock(payloads) {
      if (thread !== undefined) return queue.submitBlock(payloads)
      return rejectedBlock(payloads.offsets.length - 1, overloaded('the signer is restarting').problem)
    },
    connectNonces(connectThread) {
      connect = connectThread
      connectPort()
    },
    async close() {
      isClosing = true
      if (thread !== undefined) await endThread(thread.worker)
    },
  }

  function sign(payload: AttestationPayload, isBulk?: boolean): Promise<SigningResult>
  function sign(payload: ResultPayload): Promise<ResultSigningResult>
  function sign(payload: SequencePayload): Promise<SequenceSigningResult>
  function sign(payload: RelayPayload): Promise<RelaySigningResult>
  function sign(payload: SigningPayload, isBulk?: boolean): Promise<unknown> {
    // Each result has the kind that belongs to its payload.
    return thread === undefined
      ? Promise.resolve(overloaded('the signer is restarting'))
      : queue.submit(payload, isBulk)
  }

  function onReply(reply: SignerReply): void {
    if (reply.type === 'signed') queue.take(reply.signed, reply.others, reply.isBatchEnd)
    else if (reply.type === 'fault') log.error('signing failed', { reason: reply.reason })
  }

  function attachThread(started: SignerThread): void {
    thread = started
    started.worker.on('error', (error) => log.error('signer thread failed', { reason: String(error) }))
    started.worker.once('exit', (code) => {
      thread = undefined
      queue.fail('the signer is restarting')
      if (isClosing) return
      log.error('signer thread ended', { code })
      if (keyKind === 'private-key' || keyKind === 'mnemonic') {
        resolveLost(new Error(`the signer thread ended and its ${keyKind} is no longer in the environment`))
      } else {
        void restart(100)
      }
    })
    connectPort()
  }

  function connectPort(): void {
    if (thread === undefined || connect === undefined) return
    const port = connect()
    post({ type: 'nonces', port }, [port])
  }

  async function restart(pauseMs: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    if (isClosing) return
    try {
      const started = await startThread(config, onReply)
      if (started.address !== address) {
        await started.worker.terminate()
        return resolveLost(new Error('the signer started again with another key'))
      }
      attachThread(started)
      log.info('signer thread started again')
    } catch (error) {
      log.error('signer thread cannot start', { reason: String(error) })
      await restart(Math.min(pauseMs * 2, LONGEST_RESTART_PAUSE_MS))
    }
  }
}
