import { type MessagePort, SHARE_ENV, Worker } from 'node:worker_threads'
import type { PackedBytes } from '../base/bytes.ts'
import type { QueueClient } from '../base/fair-queue.ts'
import type { Log } from '../base/log.ts'
import { type ProblemData, ProblemError } from '../base/problem.ts'
import type { Config, SignerConfig } from '../config/config.ts'
import { ConfigError } from '../config/setting.ts'
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
import type { Hex } from '../wire/values.ts'
import { overloaded, rejectedBlock, type SignedBlock } from './signing-block.ts'
import { NO_ROOM, SigningQueue } from './signing-queue.ts'
import { heapLimits, workerUrl } from './spawn.ts'
import { type HostedThread, StartTimeout, type ThreadEnd, ThreadHost } from './thread-host.ts'

// Opening a keystore takes scrypt one second, more on a busy machine.
const START_TIMEOUT_MS = 30_000
const SLOW_START = 'the machine is busy, or the keystore is slow to decrypt; start again'
/** A signature takes microseconds, and a message of signatures takes milliseconds. */
const CLOSE_TIMEOUT_MS = 2000

function startWorker(config: Config, keyDescriptor: number | undefined): Worker {
  return new Worker(workerUrl('signer'), {
    name: 'signer',
    env: SHARE_ENV, // so that the thread can remove the key from the environment
    workerData: signerConfig(config, keyDescriptor),
    // The thread closes a descriptor that it did not open.
    trackUnmanagedFds: keyDescriptor === undefined,
    resourceLimits: heapLimits(config),
  })
}

function signerConfig(config: Config, keyDescriptor: number | undefined): SignerConfig {
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
    keyDescriptor,
  }
}

const RESTARTING = 'the signer is restarting'
const NOT_STARTED = 'the signer did not start'

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
  sign(payload: AttestationPayload<Hex | Uint8Array>, isBulk?: boolean): Promise<SigningResult>
  sign(payload: ResultPayload, isBulk?: boolean): Promise<ResultSigningResult>
  sign(payload: SequencePayload): Promise<SequenceSigningResult>
  sign(payload: RelayPayload): Promise<RelaySigningResult>
  /**
   * Signs the attestations of a chunk of a batch; single requests overtake them. Never rejects.
   *
   * @param payloads as `putPayload` writes them
   */
  signBlock(payloads: PackedBytes): Promise<SignedBlock>
  /** False while `refusalFor` refuses no request. */
  readonly isCrowded: boolean
  /** Returns the problem of a request that would wait too long for a slot; undefined if it may wait. Costs almost nothing. */
  refusalFor(client: QueueClient): ProblemData | undefined
  /**
   * Waits for a free slot in the queue. Call it before computing a result that will be signed as a single payload.
   *
   * @returns undefined when there is a slot now; otherwise a promise that resolves when there is one, and rejects with a
   *   {ProblemError} `overloaded` when another client needs its place
   * @throws {ProblemError} `overloaded` when too many requests are already waiting
   */
  waitForSlot(client: QueueClient): Promise<void> | undefined
  /**
   * Connects the signer thread to the sync thread, which reads nonces for it; now and after every restart.
   *
   * @param connect makes a channel, passes one end to the sync thread and returns the other
   */
  connectNonces(connect: () => MessagePort): void
  /**
   * Resolves when the thread ended and cannot restart: its key came from the environment and is stored nowhere else, or
   * it started again with another key.
   */
  readonly lost: Promise<Error>
  close(): Promise<void>
}

/**
 * Starts the signer thread. No other thread may start before it is ready, because until then the key is in the
 * environment, which threads can share.
 *
 * A thread that dies is restarted when its key is in a file (development key, keystore). A key from the environment is
 * lost: the signer thread deleted it there, and the main thread never had it. Then `lost` resolves, and the process has to
 * end so that its supervisor restarts it. The same holds for a key that a supervisor handed over.
 *
 * @param keyDescriptor the file descriptor from which the thread reads the key; without it, the settings say where the key is
 * @param create starts the thread
 * @throws {ConfigError} when the key or a chain is configured wrongly; the message says what to change
 */
export async function startSigner(
  config: Config,
  log: Log,
  keyDescriptor?: number,
  create: CreateThread = () => startWorker(config, keyDescriptor),
): Promise<SignerClient> {
  const client = new SignerThreadClient(config, log, create, keyDescriptor !== undefined)
  await client.start()
  return client
}

type CreateThread = () => HostedThread<SignerRequest, SignerReply>

class SignerThreadClient implements SignerClient {
  readonly lost: Promise<Error>
  readonly #log: Log
  readonly #thread: ThreadHost<SignerRequest, SignerReply>
  readonly #queue: SigningQueue
  readonly #isHandedOver: boolean
  #ready: Extract<SignerReply, { type: 'ready' }> | undefined
  #keyChange: Error | undefined
  #connect: (() => MessagePort) | undefined
  #resolveLost: (error: Error) => void = () => {}

  constructor(config: Config, log: Log, create: CreateThread, isHandedOver: boolean) {
    this.#isHandedOver = isHandedOver
    const { maxQueuedRequests, maxBatchSize, requestDeadlineMs } = config.limits
    this.#log = log
    this.lost = new Promise<Error>((resolve) => {
      this.#resolveLost = resolve
    })
    this.#queue = new SigningQueue({
      maxQueueSize: maxQueuedRequests,
      maxBatchSize,
      timeoutMs: requestDeadlineMs,
      send: ({ records, bulk, others }) => {
        const packed = { records: joinRecords(records.ids, records.records), bulk: joinRecords(bulk.ids, bulk.records) }
        this.#thread.post({ type: 'sign', ...packed, others }, [packed.records.buffer, packed.bulk.buffer])
      },
    })
    this.#thread = new ThreadHost<SignerRequest, SignerReply>({
      title: 'the signer',
      create,
      startMs: START_TIMEOUT_MS,
      firstPauseMs: 100,
      closeRequest: { type: 'close' },
      // The thread is asked to end, because terminating it during a signature in native code would crash the process.
      closeMs: CLOSE_TIMEOUT_MS,
      closeStartingMs: CLOSE_TIMEOUT_MS,
      readStart: (reply) => this.#readStart(reply),
      onReady: () => this.#connectPort(),
      onMessage: (reply) => this.#onReply(reply),
      onError: (error) => {
        if (this.isReady) log.error('signer thread failed', { reason: String(error) })
      },
      onEnd: (end) => this.#onEnd(end),
    })
  }

  /**
   * @throws {ConfigError} when the key or a chain is configured wrongly
   * @throws {StartTimeout} with the remedy, when the machine is too busy
   */
  start(): Promise<void> {
    return this.#thread.start().catch((error: Error) => {
      if (!(error instanceof StartTimeout)) throw error
      throw new StartTimeout(`${error.message}: ${SLOW_START}`, { cause: error })
    })
  }

  get address(): string {
    return this.#ready!.address
  }

  get keyKind(): SigningKeyKind {
    return this.#ready!.keyKind
  }

  get backend(): string {
    return this.#ready!.backend
  }

  get isReady(): boolean {
    return this.#thread.isReady
  }

  sign(payload: AttestationPayload<Hex | Uint8Array>, isBulk?: boolean): Promise<SigningResult>
  sign(payload: ResultPayload, isBulk?: boolean): Promise<ResultSigningResult>
  sign(payload: SequencePayload): Promise<SequenceSigningResult>
  sign(payload: RelayPayload): Promise<RelaySigningResult>
  sign(payload: SigningPayload, isBulk?: boolean): Promise<unknown> {
    // Each result has the kind that belongs to its payload.
    return this.isReady ? this.#queue.submit(payload, isBulk) : Promise.resolve(overloaded(RESTARTING))
  }

  async signBlock(payloads: PackedBytes): Promise<SignedBlock> {
    if (this.isReady) return this.#queue.submitBlock(payloads)
    return rejectedBlock(payloads.offsets.length - 1, overloaded(RESTARTING).problem)
  }

  get isCrowded(): boolean {
    return this.#queue.room.isCrowded
  }

  refusalFor(client: QueueClient): ProblemData | undefined {
    return this.#queue.room.isFullFor(client) ? NO_ROOM : undefined
  }

  waitForSlot(client: QueueClient): Promise<void> | undefined {
    if (this.#queue.room.isFullFor(client)) throw new ProblemError(NO_ROOM)
    return this.#queue.room.enter(client)
  }

  connectNonces(connect: () => MessagePort): void {
    this.#connect = connect
    this.#connectPort()
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  #connectPort(): void {
    if (!this.isReady || this.#connect === undefined) return
    const port = this.#connect()
    this.#thread.post({ type: 'nonces', port }, [port])
  }

  #readStart(reply: SignerReply): boolean | Error {
    if (reply.type !== 'ready') return new ConfigError(reply.type === 'refused' ? reply.reason : NOT_STARTED)
    if (this.#ready !== undefined) {
      if (this.#ready.address !== reply.address) {
        this.#keyChange = new Error('the signer started again with another key')
        return this.#keyChange
      }
      this.#log.info('signer thread started again')
    }
    if (reply.isKeyVisible) {
      this.#log.warn('the environment of this process still shows the signing key', { hint: 'use SIGNER_KEYSTORE' })
    }
    this.#ready ??= reply
    return true
  }

  #onReply(reply: SignerReply): void {
    if (reply.type === 'signed') this.#queue.take(reply.signed, reply.others, reply.isBatchEnd)
    else if (reply.type === 'fault') this.#log.error('signing failed', { reason: reply.reason })
  }

  /** Returns the pause before the thread is started again, in milliseconds; undefined when its key is gone. */
  #onEnd({ wasReady, code, error, pauseMs }: ThreadEnd): number | undefined {
    if (wasReady) this.#queue.fail(RESTARTING)
    if (this.#thread.isClosing) return undefined
    if (!wasReady) {
      if (this.#keyChange === undefined) {
        this.#log.error('signer thread cannot start', { reason: String(error) })
        return pauseMs
      }
      this.#resolveLost(this.#keyChange)
      return undefined
    }
    this.#log.error('signer thread ended', { code })
    const { keyKind } = this
    const isInFile = keyKind !== 'private-key' && keyKind !== 'mnemonic'
    if (isInFile && !this.#isHandedOver) return pauseMs
    const formerPlace = this.#isHandedOver
      ? 'only the supervisor can hand it over again'
      : 'is no longer in the environment'
    this.#resolveLost(new Error(`the signer thread ended and its ${keyKind} ${formerPlace}`))
    return undefined
  }
}
