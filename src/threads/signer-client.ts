import { type MessagePort, SHARE_ENV, Worker } from 'node:worker_threads'
import { type Config, ConfigError, type SignerConfig } from '../config.ts'
import type { Log } from '../log.ts'
import type {
  AttestationPayload,
  ResultPayload,
  ResultSigningResult,
  SequencePayload,
  SequenceSigningResult,
  SignerReply,
  SignerRequest,
  SigningKeyKind,
  SigningPayload,
  SigningResult,
} from '../messages.ts'
import type { RelayPayload, RelaySigningResult } from '../relay-messages.ts'
import { overloaded, SigningQueue } from './signing-queue.ts'
import { heapLimits, workerUrl } from './spawn.ts'

/** Main's side of the signer thread, which alone holds the key. */
export interface SignerClient {
  /** Checksummed. */
  readonly address: string
  readonly keyKind: SigningKeyKind
  /** Name of the secp256k1 backend. */
  readonly backend: string
  /** False while the thread starts again. */
  readonly isReady: boolean
  /**
   * Resolves with a problem as data, `overloaded` when the thread died or took too long; never rejects.
   *
   * @param isBulk for a batch: single requests pass it
   */
  sign(payload: AttestationPayload, isBulk?: boolean): Promise<SigningResult>
  sign(payload: ResultPayload): Promise<ResultSigningResult>
  sign(payload: SequencePayload): Promise<SequenceSigningResult>
  sign(payload: RelayPayload): Promise<RelaySigningResult>
  /**
   * Gives the thread its line to the chain thread, now and whenever it starts again.
   *
   * @param connect makes a channel and hands its other end to the chain thread
   */
  connectNonces(connect: () => MessagePort): void
  /** Resolves when the thread is lost for good: its key came from the environment and is nowhere else. */
  readonly lost: Promise<Error>
  close(): Promise<void>
}

interface Thread {
  readonly worker: Worker
  readonly address: string
  readonly keyKind: SigningKeyKind
  readonly backend: string
}

// Opening a keystore takes a second of scrypt, more on a busy machine.
const START_TIMEOUT_MS = 30_000
/** A signature takes microseconds, a message of them milliseconds. */
const CLOSE_TIMEOUT_MS = 2000
const LONGEST_RESTART_PAUSE_MS = 5000

/**
 * Starts the signer thread. No other thread may start before it is ready: until then the key is in the environment they
 * would share.
 *
 * A thread that dies is started again when its key is in a file (development key, keystore). A key from the environment
 * was deleted there and main never had it: then `lost` resolves, and the process has to end for its supervisor to start
 * it anew.
 *
 * @throws {ConfigError} when the key or a chain is not configured rightly, with the remedy
 */
export async function startSigner(config: Config, log: Log): Promise<SignerClient> {
  const { maxQueuedRequests, maxBatchSize, requestDeadlineMs } = config.limits
  let thread: Thread | undefined
  let connect: (() => MessagePort) | undefined
  let isClosing = false
  let announceLoss: (error: Error) => void = () => {}
  const lost = new Promise<Error>((resolve) => {
    announceLoss = resolve
  })
  const post = (request: SignerRequest, ports: MessagePort[] = []) => thread?.worker.postMessage(request, ports)
  const queue = new SigningQueue({
    maxQueueSize: maxQueuedRequests,
    maxBatchSize,
    timeoutMs: requestDeadlineMs,
    send: (items, bulk) => post({ type: 'sign', items, bulk }),
  })

  const first = await startThread(config, onReply)
  adopt(first)
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
    connectNonces(give) {
      connect = give
      connectLine()
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
    // The result of an id is of its payload's kind.
    return thread === undefined
      ? Promise.resolve(overloaded('the signer is starting again'))
      : queue.submit(payload, isBulk)
  }

  function onReply(reply: SignerReply): void {
    if (reply.type === 'signed') queue.take(reply.results, reply.isBatchEnd)
    else if (reply.type === 'fault') log.error('signing failed', { reason: reply.reason })
  }

  function adopt(started: Thread): void {
    thread = started
    started.worker.on('error', (error) => log.error('signer thread failed', { reason: String(error) }))
    started.worker.once('exit', (code) => {
      thread = undefined
      queue.fail('the signer is starting again')
      if (isClosing) return
      log.error('signer thread ended', { code })
      if (keyKind === 'private-key' || keyKind === 'mnemonic') {
        announceLoss(new Error(`the signer thread ended and its ${keyKind} is no longer in the environment`))
      } else {
        void restart(100)
      }
    })
    connectLine()
  }

  function connectLine(): void {
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
        return announceLoss(new Error('the signer started again with another key'))
      }
      adopt(started)
      log.info('signer thread started again')
    } catch (error) {
      log.error('signer thread cannot start', { reason: String(error) })
      await restart(Math.min(pauseMs * 2, LONGEST_RESTART_PAUSE_MS))
    }
  }
}

/** Ended by force in the middle of a signature, native code would take the process with it. */
async function endThread(worker: Worker): Promise<void> {
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  worker.postMessage({ type: 'close' } satisfies SignerRequest)
  const timer = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT_MS)
  await ended
  clearTimeout(timer)
}

async function startThread(config: Config, onReply: (reply: SignerReply) => void): Promise<Thread> {
  const worker = new Worker(workerUrl('signer'), {
    name: 'signer',
    env: SHARE_ENV, // so that it can take the key out of it
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

function firstReply(worker: Worker): Promise<Omit<Thread, 'worker'>> {
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
    worker.once('exit', (code) => reject(new Error(`the signer ended at its start (${code})`)))
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
