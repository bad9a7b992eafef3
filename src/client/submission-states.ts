import type { Submission } from '../types/generated.ts'
import { readServerEvents } from './lines.ts'
import { type CallOptions, ConnectionError, type Transport } from './transport.ts'

/**
 * Yields the state of a submission now and at each change. When a stream ends before the final state, opens it again.
 *
 * @throws {ConnectionError} if streams without a state follow each other, `maxRetries` of them after the first
 */
export async function* submissionStates(
  transport: Transport,
  path: string,
  options: CallOptions,
): AsyncGenerator<Submission, void, undefined> {
  let last = ''
  // Streams in a row without a state, and without a new one.
  for (let failures = 0, repeats = 0; ; ) {
    let hasState = false
    let hasNewState = false
    let error: unknown
    try {
      const response = await transport.open({ method: 'GET', path }, options)
      for await (const { event, data } of readServerEvents(response.pieces())) {
        if (event !== 'submission') continue
        hasState = true
        // The first state of a stream that was opened again may be known already.
        if (data === last) continue
        hasNewState = true
        last = data
        const submission: Submission = JSON.parse(data)
        yield submission
        if (submission.status === 'finalized' || submission.status === 'failed') return
      }
      error = new ConnectionError(`the stream ended without a state: ${path}`)
    } catch (thrown) {
      if (options.signal?.aborted === true) throw options.signal.reason
      if (!(thrown instanceof ConnectionError)) throw thrown
      error = thrown
    }
    failures = hasState ? 0 : failures + 1
    if (failures > transport.maxRetries(options)) throw error
    // A proxy may end each stream after its first state. Each stream counts towards the hourly limit, so the pauses become longer.
    repeats = hasNewState ? 0 : repeats + 1
    await transport.pause(repeats, options)
  }
}
