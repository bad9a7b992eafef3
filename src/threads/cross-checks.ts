import { Worker } from 'node:worker_threads'
import type { Log } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Limits } from '../config/config.ts'
import type { AnswerSample } from '../wire/compute-messages.ts'
import type { CrossCheckOutcome, CrossCheckReply, CrossCheckRequest, Verdict } from '../wire/cross-check-messages.ts'
import { boundYoungHeap, workerUrl } from './spawn.ts'
import { type HostedThread, ThreadHost } from './thread-host.ts'

/** The main thread's side of the second opinion, for the rest of the service. */
export interface CrossChecks {
  /** Begins to take samples. Before, the service computes requests of its own to warm up. */
  begin(): void
  /** Takes a sample and returns at once. Its answer does not wait for the check. */
  offer(sample: AnswerSample): void
  /** How many answers were compared since the start, and how many of those differed. */
  readonly compared: number
  readonly disagreed: number
  close(): Promise<void>
}

export interface CrossCheckParts {
  readonly limits: Pick<Limits, 'crossCheckShare' | 'maxCrossChecksWaiting' | 'crossCheckMs' | 'crossCheckHeapMb'>
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly metrics: Pick<Metrics, 'counter'>
  /** All operations. Each gets a counter of disagreements that starts at 0. */
  readonly operations: readonly string[]
  /** Starts the thread; a parameter for tests. */
  readonly create?: () => HostedThread<CrossCheckRequest, CrossCheckReply>
}

/**
 * Checks take at most this times the share of answers that is checked, as a part of one core: 1 % with the default share. A check takes far
 * longer than an unsigned distance of a batch, so without this limit the checks of batches would take more.
 */
const BUSY_PER_SHARE = 10
const START_MS = 30_000
const FIRST_PAUSE_MS = 500
const CLOSE_MS = 500
/** Differences that are logged. A mistake in a computation may show in every answer, and a log of it must not fill the disk. */
const MAX_LOGGED = 1000

/**
 * Has samples checked one after another in a thread of their own, which starts with the first sample. Nothing waits for that thread:
 * if it ends, or takes too long and is terminated, its sample counts as unchecked, and it starts again.
 */
export function createCrossChecks({ limits, log, metrics, operations, create }: CrossCheckParts): CrossChecks {
  const { crossCheckShare, maxCrossChecksWaiting, crossCheckMs, crossCheckHeapMb } = limits
  const counter = metrics.counter('cross_checks_total', 'Sampled answers, by what an independent library found')
  for (const operation of operations) counter.series({ operation, outcome: 'disagreed' })
  const waiting: AnswerSample[] = []
  let running: { readonly sample: AnswerSample; readonly timer: NodeJS.Timeout } | undefined
  let rest: NodeJS.Timeout | undefined
  let [compared, disagreed, logged] = [0, 0, 0]
  let [hasBegun, isOpen, isLate] = [false, false, false]

  const host = new ThreadHost<CrossCheckRequest, CrossCheckReply>({
    title: 'the thread of cross-checks',
    create: create ?? (() => startThread(crossCheckHeapMb)),
    startMs: START_MS,
    firstPauseMs: FIRST_PAUSE_MS,
    closeRequest: { type: 'close' },
    closeMs: CLOSE_MS,
    closeStartingMs: CLOSE_MS,
    readStart: ({ type }) => type === 'ready',
    onReady: next,
    onMessage(reply) {
      if (reply.type !== 'verdict') return
      const sample = takeRunning()
      if (sample !== undefined) settle(sample, reply.verdict)
      restAfter(reply.tookMs)
    },
    onEnd({ error, pauseMs }) {
      const sample = takeRunning()
      if (sample !== undefined) {
        count(sample, 'unchecked')
        restAfter(crossCheckMs)
      }
      if (!host.isClosing)
        log.warn('the thread of cross-checks ended and starts again', {
          reason: error?.message ?? (isLate ? 'a check took too long' : 'it was terminated'),
          operation: sample?.signedOperation,
          inputs: sample?.inputRefs.join(' '),
        })
      return pauseMs
    },
  })

  function next(): void {
    if (running !== undefined || rest !== undefined || !host.isReady) return
    const sample = waiting.shift()
    if (sample === undefined) return
    running = { sample, timer: setTimeout(giveUp, crossCheckMs).unref() }
    isLate = false
    host.post({ type: 'check', sample })
  }

  /** @param tookMs how long the thread worked for the last check; at most, if it did not say */
  function restAfter(tookMs: number): void {
    const pauseMs = restMs(tookMs, crossCheckShare)
    const wake = () => {
      rest = undefined
      next()
    }
    if (pauseMs === 0) wake()
    else rest = setTimeout(wake, pauseMs).unref()
  }

  function giveUp(): void {
    isLate = true
    host.terminate()
  }

  function takeRunning(): AnswerSample | undefined {
    clearTimeout(running?.timer)
    const sample = running?.sample
    running = undefined
    return sample
  }

  function settle(sample: AnswerSample, { outcome, engine, other }: Verdict): void {
    count(sample, outcome)
    if (outcome === 'agreed' || outcome === 'disagreed') compared++
    if (outcome === 'disagreed') disagreed++
    if (other === undefined && outcome !== 'disagreed') return
    if (++logged > MAX_LOGGED) return
    // The hashes name the inputs without showing where somebody is.
    const { signedOperation, inputRefs, answer } = sample
    const fields = { operation: signedOperation, ours: answerText(answer), other, engine, inputs: inputRefs.join(' ') }
    if (outcome === 'disagreed') log.warn('an independent library disagrees with an answer', fields)
    else log.info('an independent library differs where doubles cannot decide', fields)
    if (logged === MAX_LOGGED) log.warn('further differences of cross-checks are only counted', { logged })
  }

  function count({ operation }: AnswerSample, outcome: CrossCheckOutcome): void {
    counter.series({ operation, outcome }).count++
  }

  return {
    begin() {
      hasBegun = true
    },
    offer(sample) {
      if (!hasBegun) return
      if (sample.body === undefined) return count(sample, 'unchecked')
      if (waiting.length >= maxCrossChecksWaiting) return count(sample, 'dropped')
      waiting.push(sample)
      if (isOpen) return next()
      isOpen = true
      host.open()
    },
    get compared() {
      return compared
    },
    get disagreed() {
      return disagreed
    },
    async close() {
      waiting.length = 0
      clearTimeout(rest)
      await host.close()
    },
  }
}

/**
 * Returns how long no check begins after one has ended.
 *
 * @param tookMs how long the thread worked for the check
 * @param share the share of the answers that is checked, above 0
 */
export function restMs(tookMs: number, share: number): number {
  const busy = Math.min(1, BUSY_PER_SHARE * share)
  return tookMs * (1 / busy - 1)
}

function startThread(heapMb: number): HostedThread<CrossCheckRequest, CrossCheckReply> {
  const youngMb = 3
  boundYoungHeap(youngMb)
  return new Worker(workerUrl('cross-check'), {
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngMb },
  })
}

function answerText(answer: AnswerSample['answer']): string | number | boolean {
  switch (answer.kind) {
    case 'numeric':
      return `${answer.measure} (signed as ${answer.integer})`
    case 'boolean':
      return answer.value
    case 'matrix':
      return answer.matrix
    case 'geometry':
      return answer.kind
  }
}
