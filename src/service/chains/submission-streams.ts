import { ClientCounts } from '../../base/client-counts.ts'
import { ProblemError } from '../../base/problem.ts'
import type { Limits } from '../../config/config.ts'
import type { Submission } from '../../wire/relay-messages.ts'
import type { EventSink } from '../records/record-services.ts'
import type { RequestContext } from '../request.ts'
import { isFinal, submissionJson } from './submission-state.ts'
import type { SubmissionWaits } from './submission-waits.ts'

interface SubmissionStreamParts {
  readonly waits: Pick<SubmissionWaits, 'change' | 'leave' | 'isClosed'>
  readonly limits: Pick<Limits, 'maxStreams' | 'maxStreamsPerClient' | 'streamHeartbeatMs' | 'streamLifeMs'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const RETRY_SECONDS = 10

/** Streams of server-sent events, each with the states of one submission. */
export class SubmissionStreams {
  readonly #parts: SubmissionStreamParts
  #open = 0
  readonly #openPerClient = new ClientCounts()

  constructor(parts: SubmissionStreamParts) {
    this.#parts = parts
  }

  /**
   * Writes the state now and at each change, until it is final, the stream is too old, the client has disconnected or the service stops.
   *
   * @param find reads the state, once
   * @throws {ProblemError} `overloaded` if too many streams are open
   */
  async run(find: () => Promise<Submission>, context: RequestContext, sink: EventSink): Promise<void> {
    const { client } = context
    this.#requireRoom(client)
    this.#open++
    this.#openPerClient.add(client)
    sink.onGone(() => this.#parts.waits.leave(context))
    try {
      await this.#write(await find(), context, sink)
    } finally {
      this.#open--
      this.#openPerClient.remove(client)
    }
  }

  async #write(first: Submission, context: RequestContext, sink: EventSink): Promise<void> {
    const { waits, limits, now } = this.#parts
    const endMs = now() + limits.streamLifeMs
    let submission = first
    await sink.write(event(submission))
    // Not written by the loop, which waits while the store does not answer.
    const heartbeat = setInterval(() => sink.tryWrite(HEARTBEAT), limits.streamHeartbeatMs)
    try {
      while (!(isFinal(submission) || context.aborted || waits.isClosed) && now() < endMs) {
        const next = await waits.change(submission, endMs, context)
        if (event(next) !== event(submission)) await sink.write(event(next))
        submission = next
      }
    } finally {
      clearInterval(heartbeat)
    }
  }

  #requireRoom(client: RequestContext['client']): void {
    const { maxStreams, maxStreamsPerClient } = this.#parts.limits
    const isFull = this.#open >= maxStreams
    if (!isFull && this.#openPerClient.of(client) < maxStreamsPerClient) return
    const detail = `${isFull ? 'too many' : 'too many of your'} streams of submissions are open: end one, or try again`
    throw new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: RETRY_SECONDS })
  }
}

/** A comment, which clients ignore. */
const HEARTBEAT = ':\n\n'

function event(submission: Submission): string {
  return `event: submission\ndata: ${JSON.stringify(submissionJson(submission))}\n\n`
}
