import { type ClientRequest, request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { EIFFEL_TOWER, ROME } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'

const QUERY = '/compute/v0/batch?chainId=84532&attest=none'
const line = (id: number) =>
  `${JSON.stringify({
    op: 'distance',
    id,
    from: EIFFEL_TOWER,
    to: ROME,
  })}\n`
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

interface Stream {
  readonly message: ClientRequest
  text: string
  /** True once the client received the end of the response, not only the end of the connection. */
  isComplete: boolean
  readonly errors: string[]
  readonly closed: Promise<void>
}

function openStream(service: TestService): Stream {
  const headers = { 'content-type': 'application/x-ndjson' }
  const message = request(`${service.url}${QUERY}`, { method: 'POST', headers })
  const errors: string[] = []
  const failed = (error: NodeJS.ErrnoException) => void errors.push(error.code ?? error.message)
  const closed = new Promise<void>((resolve) => message.on('close', resolve))
  const stream: Stream = { message, text: '', isComplete: false, errors, closed }
  message.on('error', failed)
  message.on('response', (response) => {
    response.setEncoding('utf8')
    response.on('error', failed)
    response.on('data', (text: string) => {
      stream.text += text
    })
    response.on('end', () => {
      stream.isComplete = response.complete
      message.end()
    })
  })
  return stream
}

/** Returns the ids of the results, each of which must be a complete line of JSON. */
function answeredIds({ text }: Stream): number[] {
  if (text === '') return []
  expect(text.endsWith('\n')).toBe(true)
  return text
    .trimEnd()
    .split('\n')
    .map((answer) => JSON.parse(answer).id)
}

describe.each(['uws', 'node'])('streams of lines when the service stops, over %s', (adapter) => {
  it('are answered up to the last complete line, and end properly', async () => {
    // A stop that waited for the client would never finish.
    const service = await startTestService({ HTTP_ADAPTER: adapter, DRAIN_TIMEOUT_MS: '600000' })
    const stream = openStream(service)
    stream.message.write(line(0) + line(1) + line(2) + line(3).slice(0, 40))
    await expect.poll(() => answeredIds(stream).length, { timeout: 120_000 }).toBe(3)
    const stopped = service.stop()
    await stream.closed
    expect(stream).toMatchObject({ isComplete: true, errors: [] })
    expect(answeredIds(stream)).toEqual([0, 1, 2])
    expect(await stopped).toBe(0)
  })

  it('are not reset while their clients keep sending', async () => {
    const service = await startTestService({ HTTP_ADAPTER: adapter })
    const streams = Array.from({ length: 4 }, () => openStream(service))
    const sent = streams.map(async (stream) => {
      let id = 0
      while (!stream.isComplete && stream.errors.length === 0 && id < 1e6) {
        const lines = Array.from({ length: 50 }, () => line(id++)).join('')
        if (stream.message.write(lines)) await pause(1)
        else await Promise.race([new Promise((resolve) => stream.message.once('drain', resolve)), stream.closed])
      }
      return id
    })
    await expect.poll(() => streams.every(({ text }) => text.length > 500_000), { timeout: 120_000 }).toBe(true)
    const stopped = service.stop()
    for (const [index, stream] of streams.entries()) {
      await stream.closed
      expect(stream).toMatchObject({ isComplete: true, errors: [] })
      const ids = answeredIds(stream)
      expect(ids).toEqual(Array.from(ids, (_, id) => id))
      expect(ids.length).toBeLessThanOrEqual(await sent[index]!)
    }
    expect(await stopped).toBe(0)
  })
})
