import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Answer, type Call, Requester, type RequestFailure, serve } from '../../src/wire/request-port.ts'

interface Sums {
  add: { argument: readonly [number, number]; result: number }
  never: { argument: undefined; result: undefined }
  buffer: { argument: number; result: Uint8Array }
}

/** What a requester rejects with in these tests: the failure itself. */
class Rejection extends Error {
  readonly failure: RequestFailure

  constructor(failure: RequestFailure) {
    super(failure.type)
    this.failure = failure
  }
}

const makeRequester = () =>
  new Requester<Sums>({
    notConnected: 'not connected yet',
    ended: 'the other side ended',
    toError: (failure) => new Rejection(failure),
  })
const failureOf = (request: Promise<unknown>) =>
  request.then(
    () => 'a result',
    (error: Rejection) => error.failure,
  )

const ports: MessagePort[] = []
afterEach(() => {
  for (const port of ports.splice(0)) port.close()
})

function channel(): { near: MessagePort; far: MessagePort } {
  const { port1: near, port2: far } = new MessageChannel()
  ports.push(near, far)
  return { near, far }
}

const HANDLERS = {
  add: async ([a, b]: readonly [number, number]) => {
    if (Number.isNaN(a)) throw new RangeError('not a number')
    return a + b
  },
  never: () => new Promise<undefined>(() => {}),
  buffer: (length: number) => new Uint8Array(length),
}

describe('a requester and a table of operations', () => {
  it('match answers with their requests, in any order', async () => {
    const requester = makeRequester()
    const sent: Call[] = []
    requester.attach((call) => sent.push(call))
    const sums = [requester.ask('add', [1, 2]), requester.ask('add', [3, 4])]
    for (const { id, argument } of sent.reverse()) {
      const [a, b] = argument as [number, number]
      requester.receive({ type: 'result', id, value: a + b })
      requester.receive({ type: 'result', id, value: 'a second answer is ignored' })
    }
    expect(await Promise.all(sums)).toEqual([3, 7])
  })

  it('work over a port that carries other messages too', async () => {
    const { near, far } = channel()
    const requester = makeRequester()
    requester.connect(near)
    serve<Sums>(far, HANDLERS)
    near.postMessage({ type: 'other' })
    far.postMessage({ type: 'other' })
    expect(await requester.ask('add', [20, 22])).toBe(42)
  })

  it('report what a handler throws, with the kind that the table gives it', async () => {
    const { near, far } = channel()
    const requester = makeRequester()
    requester.connect(near)
    serve<Sums>(far, HANDLERS, { failureKind: (error) => (error as Error).name })
    const failure = { type: 'failure', kind: 'RangeError', reason: 'not a number' }
    expect(await failureOf(requester.ask('add', [Number.NaN, 1]))).toMatchObject(failure)
    expect(await failureOf(requester.ask('missing' as 'add', [1, 1]))).toMatchObject({ kind: 'TypeError' })
  })

  it('report the time of a call, if the answering side measures it', async () => {
    const { near, far } = channel()
    const requester = makeRequester()
    requester.connect(near)
    const clock = () => () => 12.5
    serve<Sums>(far, HANDLERS, { clock })
    const times: number[] = []
    const onTime = (ms: number) => times.push(ms)
    expect(await requester.ask('add', [20, 22], { onTime })).toBe(42)
    expect(await failureOf(requester.ask('add', [Number.NaN, 1], { onTime }))).toMatchObject({ type: 'failure' })
    expect(times).toEqual([12.5, 12.5])
  })

  it('transfer the buffers of a result, and call before a call and after its answer', async () => {
    const { near, far } = channel()
    const requester = makeRequester()
    requester.connect(near)
    const events: string[] = []
    let source: Uint8Array | undefined
    const handlers = { ...HANDLERS, buffer: (length: number) => (source = new Uint8Array(length).fill(7)) }
    serve<Sums>(far, handlers, {
      transfer: (value) => [(value as Uint8Array).buffer as ArrayBuffer],
      onCall: () => events.push('call'),
      onAnswer: (answer: Answer) => events.push(`${answer.type}, ${source!.length} bytes left`),
    })
    expect(await requester.ask('buffer', 3)).toEqual(new Uint8Array([7, 7, 7]))
    expect(events).toEqual(['call', 'result, 0 bytes left'])
  })
})

describe('a request without an answer', () => {
  it('is rejected when too many are pending', async () => {
    const requester = makeRequester()
    requester.attach(() => {})
    const pending = [requester.ask('never', undefined, { maxPending: 2 }), requester.ask('never', undefined)]
    expect(await failureOf(requester.ask('add', [1, 1], { maxPending: 2 }))).toEqual({ type: 'full' })
    requester.receive({ type: 'result', id: 0, value: undefined })
    await pending[0]
    const allowed = requester.ask('add', [1, 1], { maxPending: 2 })
    requester.receive({ type: 'result', id: 2, value: 2 })
    expect(await allowed).toBe(2)
  })

  it('is rejected before the first connection, and after the last one ended', async () => {
    const requester = makeRequester()
    expect(await failureOf(requester.ask('add', [1, 1]))).toEqual({ type: 'lost', reason: 'not connected yet' })
    requester.attach(() => {})
    requester.detach('closed by its owner')
    expect(await failureOf(requester.ask('add', [1, 1]))).toEqual({ type: 'lost', reason: 'closed by its owner' })
  })

  it('is rejected when the other side closes its port', async () => {
    const { near, far } = channel()
    const requester = makeRequester()
    requester.connect(near)
    const pending = failureOf(requester.ask('never', undefined))
    far.close()
    expect(await pending).toEqual({ type: 'lost', reason: 'the other side ended' })
    expect(await failureOf(requester.ask('add', [1, 1]))).toEqual({ type: 'lost', reason: 'the other side ended' })
  })

  it('is rejected when its port is replaced, and the end of the old port does not matter to the new one', async () => {
    const [old, next] = [channel(), channel()]
    const requester = makeRequester()
    requester.connect(old.near)
    const pending = failureOf(requester.ask('never', undefined))
    serve<Sums>(old.far, HANDLERS)
    const closed = new Promise((resolve) => old.far.once('close', resolve))
    requester.connect(next.near)
    expect(await pending).toEqual({ type: 'lost', reason: 'the other side ended' })
    serve<Sums>(next.far, HANDLERS)
    // The port that was replaced is closed, which its other end sees.
    await closed
    expect(await requester.ask('add', [1, 2])).toBe(3)
  })

  it('is rejected, and not kept, when its argument cannot be sent', async () => {
    const { near } = channel()
    const requester = makeRequester()
    requester.connect(near)
    await expect(requester.ask('add', [() => 1, 1] as never)).rejects.toThrow(/could not be cloned/)
    const pending = failureOf(requester.ask('never', undefined, { maxPending: 1 }))
    near.close()
    expect(await pending).toMatchObject({ type: 'lost' })
  })
})

describe('the time limit of a request', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('rejects it, and a later answer is ignored', async () => {
    const requester = makeRequester()
    requester.attach(() => {})
    const late = failureOf(requester.ask('never', undefined, { timeoutMs: 100 }))
    const patient = requester.ask('never', undefined, { timeoutMs: 101 })
    vi.advanceTimersByTime(100)
    expect(await late).toEqual({ type: 'late' })
    requester.receive({ type: 'result', id: 0, value: undefined })
    requester.receive({ type: 'result', id: 1, value: undefined })
    expect(await patient).toBeUndefined()
  })

  it('leaves no timer behind once the request has ended in any way', async () => {
    const requester = makeRequester()
    requester.attach(() => {})
    const requests = [1, 2, 3].map((sum) => failureOf(requester.ask('add', [0, sum], { timeoutMs: 1000 })))
    expect(vi.getTimerCount()).toBe(3)
    requester.receive({ type: 'result', id: 0, value: 1 })
    requester.receive({ type: 'failure', id: 1, kind: 'failed', reason: '' })
    requester.detach()
    await Promise.all(requests)
    expect(vi.getTimerCount()).toBe(0)
  })
})
