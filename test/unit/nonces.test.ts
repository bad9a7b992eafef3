import { describe, expect, it } from 'vitest'
import { createNonces, type NonceAnswer, type NonceReading } from '../../src/attest/nonces.ts'

const CHAIN = 84532

/** A clock and an RPC that do what the test says. */
function simulate({ maxAgeMs = 2000, timeoutMs = 500 } = {}) {
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
    /** Lets promises that are settled call back. */
    settle: () => new Promise<void>((done) => setImmediate(done)),
    async pass(ms: number) {
      nowMs += ms
      const due = timers.filter(({ atMs }) => atMs <= nowMs)
      timers = timers.filter(({ atMs }) => atMs > nowMs)
      for (const { call } of due) call()
      await new Promise<void>((done) => setImmediate(done))
    },
  }
}

const good = (nonce: number): NonceReading => ({ ok: true, nonce })
const silent: NonceReading = { ok: false, refusal: undefined }
const answer = (nonce: number, source: 'chain' | 'cache' | 'default'): NonceAnswer => ({ ok: true, nonce, source })

describe('nonces', () => {
  it('gives 0 at once for a chain without RPC and reads nothing', () => {
    const simulation = simulate()
    expect(simulation.get(31337)).toEqual(answer(0, 'default'))
    expect(simulation.reads).toEqual([])
  })

  it('reads once for all who ask at one time, and answers at once while the nonce is young', async () => {
    const simulation = simulate({ maxAgeMs: 2000 })
    const asked = Array.from({ length: 100 }, () => simulation.get())
    expect(simulation.reads).toHaveLength(1)
    simulation.reads[0]!.answer(good(5))
    expect(await Promise.all(asked)).toEqual(Array(100).fill(answer(5, 'chain')))
    await simulation.pass(1999)
    expect(simulation.get()).toEqual(answer(5, 'chain'))
    await simulation.pass(1)
    const again = simulation.get()
    expect(simulation.reads).toHaveLength(2)
    simulation.reads[1]!.answer(good(9))
    expect(await again).toEqual(answer(9, 'chain'))
  })

  it('counts the age from the question, not from the answer', async () => {
    const simulation = simulate({ maxAgeMs: 400 })
    void simulation.get()
    await simulation.pass(300)
    simulation.reads[0]!.answer(good(1))
    await simulation.settle()
    await simulation.pass(99)
    expect(simulation.get()).toEqual(answer(1, 'chain'))
    await simulation.pass(1)
    expect(simulation.get()).toBeInstanceOf(Promise)
  })

  it('reads for every batch with an age of 0, one read at a time', async () => {
    const simulation = simulate({ maxAgeMs: 0 })
    for (let round = 0; round < 3; round++) {
      const asked = [simulation.get(), simulation.get()]
      expect(simulation.reads).toHaveLength(round + 1)
      simulation.reads[round]!.answer(good(round))
      expect(await Promise.all(asked)).toEqual([answer(round, 'chain'), answer(round, 'chain')])
    }
  })

  it('takes a nonce that fell: a reorganisation undoes submissions', async () => {
    const simulation = simulate({ maxAgeMs: 0 })
    for (const [index, nonce] of [7, 6].entries()) {
      const asked = simulation.get()
      simulation.reads[index]!.answer(good(nonce))
      expect(await asked).toEqual(answer(nonce, 'chain'))
    }
  })

  it('ends the wait at the time limit with 0, or with the last known nonce', async () => {
    const simulation = simulate({ timeoutMs: 500, maxAgeMs: 1000 })
    const first = simulation.get()
    await simulation.pass(500)
    expect(await first).toEqual(answer(0, 'default'))
    // Nobody waits again for a read that is overdue already.
    expect(simulation.get()).toEqual(answer(0, 'default'))
    expect(simulation.reads).toHaveLength(1)
    simulation.reads[0]!.answer(good(4))
    await simulation.settle()
    // Late, and yet known from now on.
    expect(simulation.get()).toEqual(answer(4, 'chain'))
    await simulation.pass(1000)
    const second = simulation.get()
    await simulation.pass(500)
    expect(await second).toEqual(answer(4, 'cache'))
  })

  it('does not ask a dead RPC for every request', async () => {
    const simulation = simulate({ maxAgeMs: 2000, timeoutMs: 500 })
    const asked = simulation.get()
    simulation.reads[0]!.answer(silent)
    expect(await asked).toEqual(answer(0, 'default'))
    await simulation.pass(1999)
    expect(simulation.get()).toEqual(answer(0, 'default'))
    expect(simulation.reads).toHaveLength(1)
    await simulation.pass(1)
    const again = simulation.get()
    expect(simulation.reads).toHaveLength(2)
    simulation.reads[1]!.answer(good(3))
    expect(await again).toEqual(answer(3, 'chain'))
  })

  it('keeps a refusal until the chain is right again, through silence', async () => {
    const simulation = simulate({ maxAgeMs: 1000, timeoutMs: 500 })
    const refused: NonceAnswer = { ok: false, refusal: 'another contract' }
    const first = simulation.get()
    simulation.reads[0]!.answer({ ok: false, refusal: 'another contract' })
    expect(await first).toEqual(refused)
    expect(simulation.get()).toEqual(refused)
    await simulation.pass(1000)
    const second = simulation.get()
    simulation.reads[1]!.answer(silent)
    expect(await second).toEqual(refused)
    await simulation.pass(1000)
    const third = simulation.get()
    simulation.reads[2]!.answer(good(2))
    expect(await third).toEqual(answer(2, 'chain'))
  })

  it('lets no chain wait for another', async () => {
    const simulation = simulate()
    const slow = simulation.get(CHAIN)
    const quick = simulation.get(8453)
    expect(simulation.reads.map(({ chainId }) => chainId)).toEqual([CHAIN, 8453])
    simulation.reads[1]!.answer(good(1))
    expect(await quick).toEqual(answer(1, 'chain'))
    await simulation.pass(500)
    expect(await slow).toEqual(answer(0, 'default'))
  })

  it('does not let the time limit of an old read end a new one', async () => {
    const simulation = simulate({ maxAgeMs: 0, timeoutMs: 500 })
    const first = simulation.get()
    await simulation.pass(400)
    simulation.reads[0]!.answer(good(1))
    await first
    const second = simulation.get()
    await simulation.pass(100) // the first read's limit
    const third = simulation.get()
    simulation.reads[1]!.answer(good(2))
    expect(await second).toEqual(answer(2, 'chain'))
    expect(await third).toEqual(answer(2, 'chain'))
  })
})
