import type { ProblemData } from '../../base/problem.ts'

const SEND_LESS =
  'send fewer vertices or fewer items; POST /compute/v0/batch takes any number of operations as NDJSON (application/x-ndjson)'

/** Seconds that a client should wait if the service is overloaded. */
const RETRY_SECONDS = 1

export function tooLarge(maxBodyBytes: number): ProblemData {
  const detail = `the body is larger than ${maxBodyBytes} bytes`
  const error = { pointer: '#', detail, code: 'body-too-large', hint: SEND_LESS }
  return { type: 'payload-too-large', detail, places: [error] }
}

export function overloaded(detail: string): ProblemData {
  return { type: 'overloaded', detail, retryAfterSeconds: RETRY_SECONDS }
}
