import type { ProblemData } from '../problem.ts'

/** Seconds a client should wait when the service is full. */
const RETRY_SECONDS = 1

export function tooLarge(maxBodyBytes: number): ProblemData {
  return { type: 'payload-too-large', detail: `the body is larger than ${maxBodyBytes} bytes` }
}

export function overloaded(detail: string): ProblemData {
  return { type: 'overloaded', detail, retryAfterSeconds: RETRY_SECONDS }
}
