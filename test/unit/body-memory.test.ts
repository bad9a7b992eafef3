import { describe, expect, it, vi } from 'vitest'
import { type ProblemData, ProblemError } from '../../src/base/problem.ts'
import { BodyMemory, type ClientShare, type HeldBody } from '../../src/http/transport/body-memory.ts'
import { SEED } from '../seeded.ts'

const KIB = 1024
const LIMITS = {
  maxBodyBytes: 64 * KIB,
  maxLineStreamsPerClient: 4,
  maxInFlightBytes: 1024 * KIB,
  maxClientBodyBytes: 512 * KIB,
  maxOpenBodiesPerAddress: 100,
  smallBodyBytes: 16 * KIB,
  smallBodyReserveBytes: 128 * KIB,
}

/** One body of a client, as a transport holds it. */
class Body implements HeldBody {
  heldBytes = 0
  progressMs = performance.now()
  isAwaited = true
  problem: ProblemData | undefined
  readonly share: ClientShare
  readonly #memory: BodyMemory

  isHeldBack = false

  readonly isStreamed: boolean

  constructor(memory: BodyMemory, owner: string, isStreamed = false) {
    this.#memory = memory
    this.isStreamed = isStreamed
    const share = memory.open(owner, this)
    if (!('owner' in share)) throw new ProblemError(share)
    this.share = share
  }

  /** Sends one piece of a stream, unless it has to wait. */
  stream(bytes: number): void {
    if (this.isHeldBack || !this.send(bytes)) return
    this.isHeldBack = this.#memory.holdBack(this.share, this)
  }

  release(bytes: number): void {
    this.#memory.release(this.share, this, bytes)
  }

  continueReading(): void {
    this.isHeldBack = false
  }

  /** @returns true if the memory took the bytes */
  send(bytes: number): boolean {
    this.problem ??= this.#memory.reserve(this.share, this, bytes)
    if (this.problem === undefined) return true
    this.end()
    return false
  }

  /** The last byte has arrived, but there is no response yet. */
  arrive(): void {
    this.isAwaited = false
    this.#memory.finish(this.share, this)
  }

  end(): void {
    this.#memory.close(this.share, this)
  }

  giveUp(problem: ProblemData): void {
    this.problem = problem
    this.end()
  }
}

describe('the memory of bodies', () => {
  it('is shared: a client with stalled bodies cannot keep another one out', () => {
    const memory = new BodyMemory(LIMITS)
    const flood = Array.from({ length: 65 }, () => new Body(memory, 'attacker'))
    const taken = flood.filter((body) => body.send(100 * KIB)).length
    expect(taken).toBe(5)
    const honest = Array.from({ length: 3 }, () => new Body(memory, 'honest'))
    expect(honest.every((body) => body.send(100 * KIB))).toBe(true)
  })

  it('takes the memory of a stalled body for another client, from the client that holds the most', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const memory = new BodyMemory(LIMITS)
      const attackers = ['a', 'b', 'c'].flatMap((owner) => Array.from({ length: 4 }, () => new Body(memory, owner)))
      for (const body of attackers) body.send(64 * KIB)
      const little = new Body(memory, 'little')
      expect(little.send(100 * KIB)).toBe(true)
      const refused = new Body(memory, 'honest')
      expect(refused.send(200 * KIB)).toBe(false)
      vi.advanceTimersByTime(1001)
      const honest = new Body(memory, 'honest')
      expect(honest.send(200 * KIB)).toBe(true)
      expect(attackers.filter(({ problem }) => problem !== undefined).length).toBeGreaterThan(0)
      expect(little.problem).toBeUndefined()
    } finally {
      vi.useRealTimers()
    }
  })

  it('never takes the memory of a body that is complete, paused or still arriving', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const memory = new BodyMemory(LIMITS)
      const [complete, paused, arriving] = ['a', 'b', 'c'].map((owner) => new Body(memory, owner)) as [Body, Body, Body]
      for (const body of [complete, paused, arriving]) body.send(250 * KIB)
      complete.arrive()
      paused.isAwaited = false
      vi.advanceTimersByTime(5000)
      arriving.progressMs = performance.now()
      expect(new Body(memory, 'late').send(200 * KIB)).toBe(false)
      expect([complete, paused, arriving].map(({ problem }) => problem)).toEqual([undefined, undefined, undefined])
    } finally {
      vi.useRealTimers()
    }
  })

  it('holds fast streams of one client back, so that all of them go on in turn and none is broken off', () => {
    const memory = new BodyMemory(LIMITS)
    const streams = Array.from({ length: 4 }, () => new Body(memory, 'fast', true))
    let sent = 0
    for (let round = 0; round < 1000; round++) {
      for (const stream of streams) stream.stream(32 * KIB)
      // Results of the fullest stream are written.
      const fullest = streams.toSorted((a, b) => b.heldBytes - a.heldBytes)[0]!
      sent += fullest.heldBytes
      fullest.release(fullest.heldBytes)
    }
    expect(streams.map(({ problem }) => problem)).toEqual(Array(4).fill(undefined))
    expect(sent).toBeGreaterThan(1000 * 32 * KIB)
    for (const stream of streams) stream.end()
    expect(memory.bytes).toBe(0)
  })

  it('lets each held-back stream hold a whole line', () => {
    const memory = new BodyMemory(LIMITS)
    const streams = Array.from({ length: 4 }, () => new Body(memory, 'lines', true))
    new Body(memory, 'lines').send(150 * KIB)
    for (const stream of streams) for (let piece = 0; piece < 10; piece++) stream.stream(16 * KIB)
    for (const { heldBytes, isHeldBack } of streams)
      expect([heldBytes, isHeldBack]).toEqual([LIMITS.maxBodyBytes + 16 * KIB, true])
  })

  it('allows one client a number of streams, and others theirs', () => {
    const memory = new BodyMemory(LIMITS)
    const streams = Array.from({ length: 4 }, () => new Body(memory, 'many', true))
    expect(() => new Body(memory, 'many', true)).toThrow('4 streams of lines of this client are open')
    new Body(memory, 'other', true)
    new Body(memory, 'many')
    streams[0]!.end()
    new Body(memory, 'many', true)
  })

  it('keeps counting for a client whose earlier response ends after its share was empty', () => {
    const memory = new BodyMemory(LIMITS)
    const empty = new Body(memory, 'a')
    empty.arrive() // without a byte; its response follows later
    expect(new Body(memory, 'a').send(400 * KIB)).toBe(true)
    empty.end()
    expect(new Body(memory, 'a').send(200 * KIB)).toBe(false)
  })

  it('finds a stalled body for one client while another one is refused at its own limit', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    try {
      const memory = new BodyMemory(LIMITS)
      const stalled = new Body(memory, 'stalled')
      stalled.send(300 * KIB)
      vi.advanceTimersByTime(1001)
      for (let index = 0; index < 2; index++) new Body(memory, 'full').send(250 * KIB)
      expect(new Body(memory, 'full').send(100 * KIB)).toBe(false)
      expect(new Body(memory, 'honest').send(200 * KIB)).toBe(true)
      expect(stalled.problem).toBeDefined()
    } finally {
      vi.useRealTimers()
    }
  })

  it('keeps room for small bodies when large ones have taken the rest, but not for many small ones of one client', () => {
    const memory = new BodyMemory(LIMITS)
    for (const owner of ['a', 'b']) for (let index = 0; index < 16; index++) new Body(memory, owner).send(28 * KIB)
    expect(new Body(memory, 'c').send(28 * KIB)).toBe(false)
    const small = Array.from({ length: 20 }, () => new Body(memory, 'd').send(4 * KIB))
    expect(small.filter((taken) => taken).length).toBe(4)
    expect(new Body(memory, 'e').send(4 * KIB)).toBe(true)
  })

  it('accepts the end of a large body while small ones hold memory that it could not take', () => {
    const memory = new BodyMemory(LIMITS)
    const [first, second] = [new Body(memory, 'a'), new Body(memory, 'b')]
    expect([first.send(448 * KIB), second.send(448 * KIB)]).toEqual([true, true])
    expect(new Body(memory, 'c').send(8 * KIB)).toBe(true)
    expect(first.send(0)).toBe(true)
  })

  it('counts exactly: after any sequence of bodies nothing is held, and no limit was exceeded', () => {
    const random = numbers(SEED)
    const memory = new BodyMemory(LIMITS)
    const bodies = new Set<Body>()
    for (let step = 0; step < 20_000; step++) {
      const owner = `client ${Math.floor(random() * 6)}`
      const body = random() < 0.4 ? new Body(memory, owner) : [...bodies][Math.floor(random() * bodies.size)]
      if (body === undefined) continue
      bodies.add(body)
      if (body.problem === undefined && random() < 0.7) body.send(Math.ceil(random() * 60 * KIB))
      else if (body.problem === undefined) body.end()
      if (body.problem !== undefined || body.heldBytes === 0) {
        if (body.problem === undefined) body.end()
        bodies.delete(body)
      }
      const held = [...bodies].reduce((sum, { heldBytes }) => sum + heldBytes, 0)
      expect(memory.bytes).toBe(held)
      expect(held).toBeLessThanOrEqual(LIMITS.maxInFlightBytes)
    }
    for (const body of bodies) body.end()
    expect(memory.bytes).toBe(0)
  })
})

/** Returns a generator of numbers in [0, 1), the same for the same seed (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}
