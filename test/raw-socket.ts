/** One TCP connection on which a test sends bytes of its choice. */
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  /** Names in lower case; of a repeated header the last value. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface RawOutcome {
  readonly answers: readonly RawAnswer[]
  /** What came after the last complete response. */
  readonly rest: string
  readonly closed: boolean
}

/**
 * A string is sent as latin1; a number is a pause in ms, to split segments; `END` closes our half; an object waits for
 * that many complete responses before it sends.
 */
export type RawStep = string | Buffer | number | { readonly after: number; readonly send: string }

/**
 * Sends the steps, then waits for `wanted` responses, for the other side to close, or for the time limit.
 *
 * @param options.wanted Infinity waits for the close
 * @param options.hasBodies false for responses to HEAD
 */
export async function sendRaw(
  port: number,
  steps: readonly RawStep[],
  { wanted = Number.POSITIVE_INFINITY, limitMs = 120_000, hasBodies = true } = {},
): Promise<RawOutcome> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let received = ''
  let closed = false
  let count = 0
  let later = steps.find((step) => typeof step === 'object' && 'after' in step)
  const done = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, limitMs)
    const finish = () => {
      clearTimeout(timer)
      resolve()
    }
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      count = parseAnswers(received, hasBodies).answers.length
      if (later !== undefined && count >= later.after) {
        socket.write(later.send, 'latin1')
        later = undefined
      }
      if (count >= wanted) finish()
    })
    socket.on('end', () => {
      closed = true
      finish()
    })
    socket.on('close', () => {
      closed = true
      finish()
    })
    // A reset also closes the connection; the bytes before it count.
    socket.on('error', () => {})
  })
  await writeSteps(socket, steps)
  await done
  socket.destroy()
  return { ...parseAnswers(received, hasBodies), closed }
}

async function writeSteps(socket: Socket, steps: readonly RawStep[]): Promise<void> {
  for (const step of steps) {
    if (typeof step === 'number') await new Promise((resolve) => setTimeout(resolve, step))
    else if (step === 'END') socket.end()
    else if (typeof step === 'object' && 'after' in step) continue
    else if (!socket.destroyed) await new Promise((resolve) => socket.write(toBytes(step), resolve))
  }
}

function toBytes(step: string | Buffer): Buffer {
  return typeof step === 'string' ? Buffer.from(step, 'latin1') : step
}

/** Reads as many complete responses as there are, without `100 Continue`. @param hasBodies false for responses to HEAD */
export function parseAnswers(text: string, hasBodies = true): { answers: RawAnswer[]; rest: string } {
  const answers: RawAnswer[] = []
  let rest = text
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return { answers, rest }
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n')
    const status = Number(statusLine.split(' ')[1])
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = hasBodies ? Number(headers['content-length'] ?? 0) : 0
    const body = rest.slice(end + 4, end + 4 + length)
    if (body.length < length) return { answers, rest }
    rest = rest.slice(end + 4 + length)
    if (status !== 100) answers.push({ status, headers, body })
  }
}
