import { EventEmitter } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { Metrics } from '../../src/base/metrics.ts'
import { type CrossCheckParts, createCrossChecks, restMs } from '../../src/threads/cross-checks.ts'
import type { CrossCheckReply, CrossCheckRequest, Verdict } from '../../src/wire/cross-check-messages.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, ROME, SQUARE } from '../fixtures.ts'
import { createSampler } from '../sampled-answers.ts'

const sampleOf = createSampler()
const sample = sampleOf('distance', { from: EIFFEL_TOWER, to: ROME })!
const LIMITS = { crossCheckShare: 1, maxCrossChecksWaiting: 3, crossCheckMs: 60_000, crossCheckHeapMb: 64 }

/** A thread that answers when the test says so. */
class FakeThread extends EventEmitter {
  readonly received: CrossCheckRequest[] = []

  postMessage(message: CrossCheckRequest): void {
    this.received.push(message)
    if (message.type === 'close') this.emit('exit', 0)
  }

  async terminate(): Promise<void> {
    this.emit('exit', 1)
  }

  reply(message: CrossCheckReply): void {
    this.emit('message', message)
  }

  answer(verdict: Verdict): void {
    this.reply({ type: 'verdict', verdict, tookMs: 1 })
  }
}

function start(limits: Partial<CrossCheckParts['limits']> = {}) {
  const threads: FakeThread[] = []
  const metrics = new Metrics()
  const lines: { level: string; event: string; fields: unknown }[] = []
  const write = (level: string) => (event: string, fields: unknown) => lines.push({ level, event, fields })
  const checks = createCrossChecks({
    limits: { ...LIMITS, ...limits },
    log: { info: write('info'), warn: write('warn') },
    metrics,
    operations: ['distance', 'area'],
    create: () => {
      const thread = new FakeThread()
      threads.push(thread)
      return thread
    },
  })
  checks.begin()
  const counted = () =>
    Object.fromEntries(
      [...metrics.render().matchAll(/operation="(\w+)",outcome="(\w+)"} (\d+)/g)].flatMap(
        ([, operation, outcome, value]) => (value === '0' ? [] : [[`${operation} ${outcome}`, Number(value)]]),
      ),
    )
  return { checks, threads, counted, lines, metrics }
}

describe('the queue of cross-checks', () => {
  it('starts no thread before the first sample', async () => {
    const { checks, threads, metrics } = start()
    expect(threads).toEqual([])
    expect(metrics.render()).toContain('cross_checks_total{operation="area",outcome="disagreed"} 0')
    checks.offer({ ...sample, body: undefined })
    expect(threads).toEqual([])
    checks.offer(sample)
    expect(threads).toHaveLength(1)
    await checks.close()
  })

  it('checks one sample after another, and drops those for which there is no room', async () => {
    const { checks, threads, counted } = start()
    for (let i = 0; i < 5; i++) checks.offer(sample)
    expect(counted()).toEqual({ 'distance dropped': 2 })
    const [thread] = threads
    thread!.reply({ type: 'ready' })
    expect(thread!.received).toHaveLength(1)
    checks.offer(sample) // the one that runs made room
    checks.offer(sample)
    expect(counted()).toEqual({ 'distance dropped': 3 })
    for (let i = 0; i < 4; i++) thread!.answer({ outcome: 'agreed', engine: 'an engine' })
    expect(thread!.received).toHaveLength(4)
    expect(counted()).toEqual({ 'distance dropped': 3, 'distance agreed': 4 })
    expect([checks.compared, checks.disagreed]).toEqual([4, 0])
    await checks.close()
    expect(threads).toHaveLength(1)
  })

  it('rests between checks, for longer after a longer one', async () => {
    vi.useFakeTimers()
    const { checks, threads } = start({ crossCheckShare: 0.001 })
    for (let i = 0; i < 3; i++) checks.offer(sample)
    const thread = threads[0]!
    thread.reply({ type: 'ready' })
    thread.reply({ type: 'verdict', verdict: { outcome: 'unchecked' }, tookMs: 2 })
    vi.advanceTimersByTime(197)
    checks.offer(sample)
    expect(thread.received).toHaveLength(1)
    vi.advanceTimersByTime(1)
    expect(thread.received).toHaveLength(2)
    thread.reply({ type: 'verdict', verdict: { outcome: 'unchecked' }, tookMs: 1000 })
    vi.advanceTimersByTime(98_900)
    expect(thread.received).toHaveLength(2)
    vi.advanceTimersByTime(200)
    expect(thread.received).toHaveLength(3)
    vi.useRealTimers()
    await checks.close()
  })

  it('logs a difference with the hashes of the inputs, and not with their coordinates', async () => {
    const { checks, threads, counted, lines } = start()
    const thread = () => threads[0]!
    checks.offer(sample)
    thread().reply({ type: 'ready' })
    thread().answer({ outcome: 'disagreed', engine: 'an engine', other: 7 })
    checks.offer(sample)
    thread().answer({ outcome: 'undecided', engine: 'an engine', other: 8 })
    checks.offer(sample)
    thread().answer({ outcome: 'undecided', engine: 'an engine' })
    expect(counted()).toEqual({ 'distance disagreed': 1, 'distance undecided': 2 })
    expect([checks.compared, checks.disagreed]).toEqual([1, 1])
    const fields = { operation: 'distance', engine: 'an engine', inputs: sample.inputRefs.join(' ') }
    expect(sample.inputRefs).toHaveLength(2)
    expect(lines).toMatchObject([
      { level: 'warn', fields: { ...fields, other: 7 } },
      { level: 'info', fields: { ...fields, other: 8 } },
    ])
    expect(JSON.stringify(lines)).not.toContain('2.29')
    await checks.close()
  })

  it('counts a sample as unchecked when the thread ends, and goes on with another thread', async () => {
    const { checks, threads, counted, lines } = start()
    checks.offer(sample)
    checks.offer(sample)
    threads[0]!.reply({ type: 'ready' })
    threads[0]!.emit('error', new Error('out of memory'))
    threads[0]!.emit('exit', 1)
    expect(counted()).toEqual({ 'distance unchecked': 1 })
    expect(lines).toMatchObject([{ level: 'warn', fields: { reason: 'out of memory', operation: 'distance' } }])
    await eventually(() => expect(threads).toHaveLength(2))
    threads[1]!.reply({ type: 'ready' })
    threads[1]!.answer({ outcome: 'agreed' })
    expect(counted()).toEqual({ 'distance unchecked': 1, 'distance agreed': 1 })
    await checks.close()
  })

  it('gives up a check that takes too long', async () => {
    const { checks, threads, counted } = start({ crossCheckMs: 1 })
    checks.offer(sample)
    threads[0]!.reply({ type: 'ready' })
    await eventually(() => expect(counted()).toEqual({ 'distance unchecked': 1 }))
    await checks.close()
  })
})

/** Two grids of lines with 28,900 crossings. */
function manyCrossings() {
  const steps = Array.from({ length: 170 }, (_, index) => index / 100)
  const lines = (coordinates: number[][][]) => ({ type: 'MultiLineString', coordinates })
  return {
    geometry1: lines(steps.map((x) => [[x, -1], [x, 3]])), // biome-ignore format: short
    geometry2: lines(steps.map((y) => [[-1, y + 0.003], [3, y + 0.003]])), // biome-ignore format: short
  }
}

describe('the thread of cross-checks', () => {
  it('judges samples with the built entry, also after a thread has used up its memory', async () => {
    const metrics = new Metrics()
    const log = { info: () => {}, warn: () => {} }
    // JTS needs more memory for the crossings.
    const limits = { ...LIMITS, crossCheckHeapMb: 8 }
    const checks = createCrossChecks({ limits, log, metrics, operations: [] })
    checks.begin()
    const area = sampleOf('area', { geometry: SQUARE })!
    checks.offer(sample)
    checks.offer({ ...area, answer: { kind: 'numeric', measure: 1, integer: 10_000n, scale: 10_000 } })
    await eventually(() => expect(checks.disagreed).toBe(1))
    expect(checks.compared).toBe(2)
    checks.offer(sampleOf('intersects', manyCrossings())!)
    checks.offer(sample)
    await eventually(() => expect(checks.compared).toBe(3))
    expect(metrics.render()).toContain('cross_checks_total{operation="intersects",outcome="unchecked"} 1')
    await checks.close()
  })
})

describe('the sampler', () => {
  const request = { from: EIFFEL_TOWER, to: ROME }

  it('takes the share that it was given', () => {
    let state = 1
    const random = () => {
      state = (state * 48_271) % 2_147_483_647
      return state / 2_147_483_647
    }
    const some = createSampler(0.1, random)
    let taken = 0
    for (let i = 0; i < 5000; i++) if (some('distance', request) !== undefined) taken++
    // Five standard deviations of a binomial distribution are 106.
    expect(Math.abs(taken - 500)).toBeLessThan(106)
  })

  it('copies the request, and counts large ones without copying them', () => {
    expect(sample.body?.buffer.byteLength).toBe(sample.body?.byteLength)
    const coordinates = Array.from({ length: 40_000 }, (_, index) => [index / 1000, 1])
    expect(sampleOf('length', { geometry: { type: 'LineString', coordinates } })).toMatchObject({
      operation: 'length',
      body: undefined,
    })
  })
})

describe('the rest after a check', () => {
  it('lets checks take 10 times their share of a core', () => {
    expect(restMs(2, 0.001)).toBeCloseTo(198) // 2 ms of 200
    expect(restMs(2, 0.01)).toBeCloseTo(18)
  })

  it('does not slow checks down if every tenth answer or more is checked', () => {
    expect(restMs(2, 0.1)).toBe(0)
    expect(restMs(2, 1)).toBe(0)
  })
})
