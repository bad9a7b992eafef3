import type { MessagePort } from 'node:worker_threads'
import type { Config } from '../config.ts'
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
import type { PackedBytes } from '../packed-bytes.ts'
import { ProblemError } from '../problem.ts'
import type { RelayPayload, RelaySigningResult } from '../relay-messages.ts'
import { joinRecords } from '../signing-records.ts'
import { endThread, type SignerThread, startThread } from './signer-thread.ts'
import { overloaded, refusedBlock, type SignedBlock, TOO_MANY } from './signing-block.ts'
import { SigningQueue } from './signing-queue.ts'

/** Main's side of the signer thread, which alone holds the key. */
export interface SignerClient {
  /** Checksummed. */
  readonly address: string
  readonly keyKind: SigningKeyKind
  /** The secp256k1 backend, its library and version: `system (libsecp256k1 0.2, /usr/lib/…/libsecp256k1.so.1.0.0)`. */
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
   * Attestations of a batch, which single requests pass; never rejects.
   *
   * @param payloads as `putPayload` writes them
   */
  signBlock(payloads: PackedBytes): Promise<SignedBlock>
  /**
   * Asked before an answer is computed that will be signed alone.
   *
   * @returns undefined: go on; else resolves when there is room for its payload
   * @throws {ProblemError} `overloaded` when too many wait already
   */
  waitForRoom(): Promise<void> | undefined
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
  let thread: SignerThread | undefined
  let connect: (() => MessagePort) | undefined
  let isClosing = false
  let announceLoss: (error: Error) => void = () => {}
  const lost = new Promise<Error>((resolve) => {
    announceLoss = resolve
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
    waitForRoom() {
      if (queue.room.isFull) throw new ProblemError(overloaded(TOO_MANY).problem)
      return queue.room.enter()
    },
    async signBlock(payloads) {
      if (thread !== undefined) return queue.submitBlock(payloads)
      return refusedBlock(payloads.offsets.length - 1, overloaded('the signer is starting again').problem)
    },
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
    if (reply.type === 'signed') queue.take(reply.signed, reply.others, reply.isBatchEnd)
    else if (reply.type === 'fault') log.error('signing failed', { reason: reply.reason })
  }

  function adopt(started: SignerThread): void {
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
