import { describe, expect, it } from 'vitest'
import { createNonces, type NonceReading, type NonceResult } from '../../src/attest/nonces.ts'

const CHAIN = 84532

/** Sets up nonces with a clock and an RPC that the test controls. */
function simulate({ maxAgeMs = 0, timeoutMs = 500 } = {}) {
  let nowMs = 1000
  let timers: { readonly atMs: number; readonly call: () => void }[] = []
  const reads: { readonly chainId: number; readonly answer: (reading: NonceReading) => void }[] = []
  const nonces = createNonces({
    read: (chainId) => new Promise((answer) => reads.push({ chainId, answer })),
    readable: new Set([CHAIN, 8453]),
    maxAgeMs,
    timeoutMs,
    now: () => nowMs,
    after: (ms, call) => timers.push({ atMs: nowMs + ms, call }),
  })
  return {
    reads,
    get: (chainId = CHAIN) => nonces.get(chainId),
    /** Lets the callbacks of settled promises run. */
    settle,
    /** Answers a read and lets its callers continue. */
    async answer(index: number, reading: NonceReading) {
      reads[index]!.answer(reading)
      await settle()
    },
    async pass(ms: number) {
      nowMs += ms
      const due = timers.filter(({ atMs }) => atMs <= nowMs)
      timers = timers.filter(({ atMs }) => atMs > nowMs)
      for (const { call } of due) call()
      await settle()
    },
  }
}

const settle = () => new Promise<void>((done) => setImmediate(done))

const good = (nonce: number): NonceReading => ({ ok: true, nonce })
const silent: NonceReading = { ok: false, refusalReason: undefined }
const answer = (nonce: number, source: 'chain' | 'cache' | 'default'): NonceResult => ({ ok: true, nonce, source })

describe('nonces', () => {
  it('returns 0 at once for a chain without RPC, and reads nothing', async () => {
    const simulation = simulate()
    expect(simulation.get(31337)).toEqual(answer(0, 'default'))
    await simulation.settle()
    expect(simulation.reads).toEqual([])
  })

  it('shares one read among the requests that arrive before it begins', async () => {
    const simulation = simulate()
    const requested = Array.from({ length: 100 }, () => simulation.get())
    await simulation.settle()
    expect(simulation.reads).toHaveLength(1)
    await simulation.answer(0, good(5))
    expect(await Promise.all(requested)).toEqual(Array(100).fill(answer(5, 'chain')))
    expect(simulation.reads).toHaveLength(1)
  })

  it('never answers a request with a read that began before the request arrived', async () => {
    const simulation = simulate()
    const early = simulation.get()
    await simulation.settle()
    // A block uses nonce 5 after the read was sent and before it was answered.
    const late = [simulation.get(), simulation.get()]
    await simulation.answer(0, good(5))
    expect(await early).toEqual(answer(5, 'chain'))
    expect(simulation.reads).toHaveLength(2)
    const later = simulation.get()
    await simulation.answer(1, good(6))
    expect(await Promise.all(late)).toEqual([answer(6, 'chain'), answer(6, 'chain')])
    await simulation.answer(2, good(7))
    expect(await later).toEqual(answer(7, 'chain'))
  })

  it('has at most one read in flight and one waiting, however many requests arrive', async () => {
    const simulation = simulate()
    const requested: (NonceResult | Promise<NonceResult>)[] = []
    for (let round = 0; round < 50; round++) {
      requested.push(simulation.get())
      await simulation.settle()
    }
    expect(simulation.reads).toHaveLength(1)
    await simulation.answer(0, good(1))
    expect(simulation.reads).toHaveLength(2)
    await simulation.answer(1, good(2))
    expect(simulation.reads).toHaveLength(2)
    expect(await Promise.all(requested)).toEqual([answer(1, 'chain'), ...Array(49).fill(answer(2, 'chain'))])
  })

  it('answers at once from a read younger than the maximum age', async () => {
    const simulation = simulate({ maxAgeMs: 2000 })
    const first = simulation.get()
    await simulation.settle()
    await simulation.answer(0, good(5))
    expect(await first).toEqual(answer(5, 'chain'))
    await simulation.pass(1999)
    expect(simulation.get()).toEqual(answer(5, 'chain'))
    await simulation.pass(1)
    const again = simulation.get()
    await simulation.settle()
    expect(simulation.reads).toHaveLength(2)
    await simulation.answer(1, good(9))
    expect(await again).toEqual(answer(9, 'chain'))
  })

  it('measures the age from the start of the read, not from its end', async () => {
    const simulation = simulate({ maxAgeMs: 400 })
    void simulation.get()
    await simulation.settle()
    await simulation.pass(300)
    await simulation.answer(0, good(1))
    await simulation.pass(99)
    expect(simulation.get()).toEqual(answer(1, 'chain'))
    await simulation.pass(1)
    expect(simulation.get()).toBeInstanceOf(Promise)
  })

  it('joins a read in flight only while that read is younger than the maximum age', async () => {
    const simulation = simulate({ maxAgeMs: 100 })
    void simulation.get()
    await simulation.settle()
    await simulation.pass(99)
    const joins = simulation.get()
    await simulation.pass(1)
    const waits = simulation.get()
    await simulation.answer(0, good(1))
    expect(await joins).toEqual(answer(1, 'chain'))
    await simulation.answer(1, good(2))
    expect(await waits).toEqual(answer(2, 'chain'))
  })

  it('accepts a nonce that went down, because a reorganisation undoes submissions', async () => {
    const simulation = simulate()
    for (const [index, nonce] of [7, 6].entries()) {
      const requested = simulation.get()
      await simulation.settle()
      await simulation.answer(index, good(nonce))
      expect(await requested).toEqual(answer(nonce, 'chain'))
    }
  })

  it('stops waiting at the time limit and returns the last known nonce, or 0', async () => {
    const simulation = simulate({ timeoutMs: 500 })
    const first = simulation.get()
    await simulation.settle()
    const queued = simulation.get()
    await simulation.pass(500)
    expect(await first).toEqual(answer(0, 'default'))
    // An overdue read delays neither the requests that wait for the next read nor those that arrive now.
    expect(await queued).toEqual(answer(0, 'default'))
    expect(simulation.get()).toEqual(answer(0, 'default'))
    expect(simulation.reads).toHaveLength(1)
    await simulation.answer(0, good(4))
    const second = simulation.get()
    await simulation.settle()
    await simulation.pass(500)
    expect(await second).toEqual(answer(4, 'cache'))
  })

  it('does not call a dead RPC for every request, and retries with growing pauses', async () => {
    const simulation = simulate({ timeoutMs: 500 })
    for (const [index, pauseMs] of [500, 1000, 2000, 2000].entries()) {
      const requested = simulation.get()
      await simulation.settle()
      expect(simulation.reads).toHaveLength(index + 1)
      const queued = simulation.get()
      await simulation.answer(index, silent)
      expect(await requested).toEqual(answer(0, 'default'))
      expect(await queued).toEqual(answer(0, 'default'))
      await simulation.pass(pauseMs - 1)
      expect(simulation.get()).toEqual(answer(0, 'default'))
      await simulation.pass(1)
    }
    const again = simulation.get()
    await simulation.settle()
    await simulation.answer(4, good(3))
    expect(await again).toEqual(answer(3, 'chain'))
    // A successful read ends the pauses.
    const fails = simulation.get()
    await simulation.settle()
    await simulation.answer(5, silent)
    expect(await fails).toEqual(answer(3, 'cache'))
    await simulation.pass(500)
    expect(simulation.get()).toBeInstanceOf(Promise)
  })

  it('retries a dead RPC soon, however old a nonce the operator allows', async () => {
    const simulation = simulate({ maxAgeMs: 3_600_000, timeoutMs: 500 })
    void simulation.get()
    await simulation.settle()
    await simulation.answer(0, silent)
    await simulation.pass(500)
    expect(simulation.get()).toBeInstanceOf(Promise)
  })

  it('keeps reporting a problem of the chain until a read shows that it is solved, even while the RPC is silent', async () => {
    const simulation = simulate()
    const rejected: NonceResult = { ok: false, refusalReason: 'another contract' }
    const readings = [{ ok: false, refusalReason: 'another contract' }, silent, good(2)] as const
    for (const [index, expected] of [rejected, rejected, answer(2, 'chain')].entries()) {
      const requested = simulation.get()
      await simulation.settle()
      await simulation.answer(index, readings[index]!)
      expect(await requested).toEqual(expected)
      if (index < 2) expect(simulation.get()).toEqual(rejected)
      await simulation.pass(2000)
    }
  })

  it('does not make one chain wait for another', async () => {
    const simulation = simulate()
    const slow = simulation.get(CHAIN)
    const quick = simulation.get(8453)
    await simulation.settle()
    expect(simulation.reads.map(({ chainId }) => chainId)).toEqual([CHAIN, 8453])
    await simulation.answer(1, good(1))
    expect(await quick).toEqual(answer(1, 'chain'))
    await simulation.pass(500)
    expect(await slow).toEqual(answer(0, 'default'))
  })

  it('does not end a new read when the time limit of an old one passes', async () => {
    const simulation = simulate({ timeoutMs: 500 })
    const first = simulation.get()
    await simulation.settle()
    await simulation.pass(400)
    await simulation.answer(0, good(1))
    await first
    const second = simulation.get()
    await simulation.settle()
    await simulation.pass(100) // The time limit of the first read passes.
    const third = simulation.get()
    await simulation.answer(1, good(2))
    await simulation.answer(2, good(3))
    expect(await second).toEqual(answer(2, 'chain'))
    expect(await third).toEqual(answer(3, 'chain'))
  })
})
