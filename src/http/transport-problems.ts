import type { ProblemData } from '../problem.ts'

const SEND_LESS =
  'send fewer vertices or fewer items; POST /compute/v0/batch takes any number of operations as lines (application/x-ndjson)'

/** Seconds a client should wait when the service is full. */
const RETRY_SECONDS = 1

export function tooLarge(maxBodyBytes: number): ProblemData {
  const detail = `the body is larger than ${maxBodyBytes} bytes`
  const place = { pointer: '#', detail, code: 'body-too-large', hint: SEND_LESS }
  return { type: 'payload-too-large', detail, places: [place] }
}

export function overloaded(detail: string): ProblemData {
  return { type: 'overloaded', detail, retryAfterSeconds: RETRY_SECONDS }
}
