import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TransportExchange } from '../../src/http/transport/exchange.ts'
import { InFlight } from '../../src/http/transport/in-flight.ts'
import type { Exchange, HttpHandler } from '../../src/http/transport/port.ts'
import type { RequestHead } from '../../src/http/transport/request-head.ts'

const KIB = 1024
const LIMITS = {
  ...{ maxInFlightBytes: 1024 * KIB, maxClientBodyBytes: 600 * KIB, maxOpenBodiesPerAddress: 8 },
  ...{
    smallBodyBytes: 16 * KIB,
    smallBodyReserveBytes: 64 * KIB,
    maxBodyBytes: 1024 * KIB,
    maxStreamBytes: 1024 * KIB,
    maxLineStreamsPerClient: 8,
  },
  ...{
    requestDeadlineMs: 10_000,
    streamIdleMs: 30_000,
    refusedBodyBytes: 0,
    refusedBodyMs: 0,
    receiveTimeoutMs: 10_000,
  },
}

const OVERLOADED = {
  status: 503,
  headers: { pairs: [], firstName: '', remainder: new Uint8Array(0) },
  fields: [],
  body: '',
}

/** An exchange on a socket that does nothing. */
class SilentExchange extends TransportExchange {
  readonly peer = new Uint8Array(4)
  protected readonly copyChunk = undefined

  hasRoom = true

  receive(bytes: number): void {
    this.take(new Uint8Array(bytes), false)
  }

  protected send(): void {}
  protected sendAndDiscard(): void {}
  protected startBody(): void {}
  protected pauseBody(): void {}
  protected resumeBody(): void {}
  protected sendHead(): void {}
  protected sendChunk(): boolean {
    return this.hasRoom
  }
  protected onDrain(): void {}
  protected sendEnd(): void {}
  protected hangUp(): void {}
}

/** Opens streams whose problems are collected. */
function streams() {
  const inFlight = new InFlight(LIMITS)
  const declined: Exchange[] = []
  const handler = {
    decline: (exchange: Exchange) => {
      declined.push(exchange)
      exchange.answer(OVERLOADED)
    },
    abandoned: (exchange: Exchange) => declined.push(exchange),
  } as unknown as HttpHandler
  const open = (owner: string) => {
    const head = { bodyBytes: undefined } as RequestHead
    const exchange = new SilentExchange(inFlight, handler, {
      method: 'POST',
      path: '/',
      query: '',
      head,
      peer: new Uint8Array(4),
      startedMs: 0,
    })
    exchange.streamBody(owner, { take() {}, end() {} })
    return exchange
  }
  const pass = (ms: number) => {
    vi.advanceTimersByTime(ms)
    inFlight.expire(performance.now())
  }
  return { open, declined, pass }
}

describe('a paused stream', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('gets its time again when it may send', () => {
    const { open, declined } = streams()
    const [paused, other] = [open('a'), open('b')]
    paused.receive(500 * KIB)
    paused.pause()
    vi.advanceTimersByTime(5000)
    paused.resume()
    other.receive(500 * KIB)
    expect(declined).toEqual([other])
    vi.advanceTimersByTime(1001)
    open('c').receive(500 * KIB)
    expect(declined).toEqual([other, paused])
  })

  it('is not called silent, however long the service pauses it, but is when it may send again', () => {
    const { open, declined, pass } = streams()
    const stream = open('a')
    stream.receive(KIB)
    stream.pause()
    pass(LIMITS.streamIdleMs + 1)
    pass(LIMITS.streamIdleMs + 1)
    expect(declined).toEqual([])
    stream.resume()
    pass(LIMITS.streamIdleMs - 1)
    expect(declined).toEqual([])
    pass(2)
    expect(declined).toEqual([stream])
  })

  it('ends when its client does not read the response', () => {
    const { open, declined, pass } = streams()
    const stream = open('a')
    stream.receive(KIB)
    stream.pause()
    stream.beginResponse(OVERLOADED)
    stream.hasRoom = false
    stream.write('results')
    pass(LIMITS.streamIdleMs - 1)
    expect(declined).toEqual([])
    pass(2)
    expect(declined).toEqual([stream])
  })
})
