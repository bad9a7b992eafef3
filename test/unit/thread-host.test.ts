import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ThreadEnd, ThreadHost } from '../../src/threads/thread-host.ts'

/** Stands for a worker: the tests emit its events. `terminate` ends it with code 1, as Node.js does. */
class FakeThread extends EventEmitter {
  readonly posted: string[] = []

  postMessage(message: string): void {
    this.posted.push(message)
  }

  async terminate(): Promise<void> {
    if (this.listenerCount('exit') > 0) this.emit('exit', 1)
  }
}

const START_MS = 1000
let threads: FakeThread[]
let events: string[]
let ends: ThreadEnd[]
let isKept: boolean
let isExhausted: boolean

const makeHost = () =>
  new ThreadHost<string, string>({
    title: 'the thread',
    create() {
      if (isExhausted) throw new Error('no more threads')
      threads.push(new FakeThread())
      return threads.at(-1)!
    },
    startMs: START_MS,
    firstPauseMs: 100,
    closeRequest: 'close',
    closeMs: 50,
    closeStartingMs: 0,
    readStart: (reply) => (reply.startsWith('refused') ? new Error(reply) : reply === 'ready'),
    onReady: () => events.push('up'),
    onMessage: (reply) => events.push(reply),
    onError: (error) => events.push(error.message),
    onEnd(end) {
      events.push(end.wasReady ? 'down' : 'failed')
      ends.push(end)
      return isKept ? end.pauseMs : undefined
    },
  })

beforeEach(() => {
  vi.useFakeTimers()
  threads = []
  events = []
  ends = []
  isKept = true
  isExhausted = false
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

async function startHost(): Promise<ThreadHost<string, string>> {
  const host = makeHost()
  const started = host.start()
  threads[0]!.emit('message', 'ready')
  await started
  return host
}

async function end(host: ThreadHost<string, string>): Promise<void> {
  const closed = host.close()
  vi.runAllTimers()
  await closed
}

describe('the host of a thread', () => {
  it('sends messages only while the thread is ready, and passes on its messages', async () => {
    const host = makeHost()
    const started = host.start()
    expect([host.post('early'), host.isReady]).toEqual([false, false])
    threads[0]!.emit('message', 'progress')
    threads[0]!.emit('message', 'ready')
    await started
    expect([host.post('request'), host.isReady]).toEqual([true, true])
    threads[0]!.emit('message', 'reply')
    expect(events).toEqual(['progress', 'up', 'ready', 'reply'])
    expect(threads[0]!.posted).toEqual(['request'])
    await end(host)
  })

  it.each<[string, (thread: FakeThread) => void, string]>([
    ['is not ready in time', () => vi.advanceTimersByTime(START_MS), 'the thread did not start in 1000 ms'],
    ['says that it cannot start', (thread) => thread.emit('message', 'refused: no key'), 'refused: no key'],
    ['ends', (thread) => thread.emit('exit', 3), 'the thread ended while starting (3)'],
    [
      'throws',
      (thread) => {
        thread.emit('error', new Error('thrown'))
        thread.emit('exit', 1)
      },
      'thrown',
    ],
  ])('rejects a first start whose thread %s, and starts no other', async (_title, fail, reason) => {
    const host = makeHost()
    const started = host.start()
    fail(threads[0]!)
    await expect(started).rejects.toThrow(reason)
    vi.advanceTimersByTime(60_000)
    expect(threads).toHaveLength(1)
    expect(ends).toEqual([])
  })

  it('starts a thread that ended again, after pauses that double up to a limit and begin anew when it is ready', async () => {
    const host = await startHost()
    threads[0]!.emit('error', new Error('thrown'))
    threads[0]!.emit('exit', 1)
    expect([host.isReady, host.post('lost')]).toEqual([false, false])
    expect(ends[0]).toEqual({ wasReady: true, code: 1, error: new Error('thrown'), pauseMs: 100 })
    const pauses = [100, 200, 400, 800, 1600, 3200, 5000, 5000]
    for (const [index, pauseMs] of pauses.entries()) {
      expect(ends.at(-1)!.pauseMs).toBe(pauseMs)
      vi.advanceTimersByTime(pauseMs - 1)
      expect(threads).toHaveLength(index + 1)
      vi.advanceTimersByTime(1)
      expect(threads).toHaveLength(index + 2)
      if (index < pauses.length - 1) threads.at(-1)!.emit('exit', 1)
    }
    expect(ends.at(-1)).toMatchObject({ wasReady: false, error: new Error('the thread ended while starting (1)') })
    threads.at(-1)!.emit('message', 'ready')
    host.terminate()
    expect(ends.at(-1)).toMatchObject({ wasReady: true, error: undefined, pauseMs: 100 })
    await end(host)
  })

  it('repeats a start that nobody waits for', async () => {
    const host = makeHost()
    host.open()
    threads[0]!.emit('message', 'refused')
    expect(ends[0]).toMatchObject({ wasReady: false, error: new Error('refused') })
    vi.advanceTimersByTime(100)
    threads[1]!.emit('message', 'ready')
    expect(host.isReady).toBe(true)
    await end(host)
  })

  it('repeats a start for which the system has no thread, but not the first', async () => {
    const host = await startHost()
    isExhausted = true
    host.terminate()
    vi.advanceTimersByTime(100)
    expect(ends.at(-1)).toMatchObject({ wasReady: false, error: new Error('no more threads'), pauseMs: 200 })
    isExhausted = false
    vi.advanceTimersByTime(200)
    expect(threads).toHaveLength(2)
    await end(host)

    isExhausted = true
    await expect(makeHost().start()).rejects.toThrow('no more threads')
  })

  it('leaves the thread down when its owner wants so', async () => {
    const host = await startHost()
    isKept = false
    host.terminate()
    vi.advanceTimersByTime(60_000)
    expect(threads).toHaveLength(1)
    await end(host)
  })
})

describe('closing a thread', () => {
  it('asks it to end and starts no other', async () => {
    const host = await startHost()
    const closed = host.close()
    expect(host.isClosing).toBe(true)
    expect(threads[0]!.posted).toEqual(['close'])
    threads[0]!.emit('exit', 0)
    await closed
    expect(events.at(-1)).toBe('down')
    vi.advanceTimersByTime(60_000)
    expect(threads).toHaveLength(1)
  })

  it('terminates one that does not end in time', async () => {
    const host = await startHost()
    const closed = host.close()
    vi.advanceTimersByTime(49)
    expect(ends).toEqual([])
    vi.advanceTimersByTime(1)
    await closed
    expect(ends).toMatchObject([{ code: 1 }])
  })

  it('terminates one that is starting again, and cancels a start that is planned', async () => {
    const starting = await startHost()
    starting.terminate()
    vi.advanceTimersByTime(100)
    const closed = starting.close()
    vi.advanceTimersByTime(0)
    await closed
    expect(ends).toMatchObject([{ wasReady: true }, { wasReady: false }])
    expect(threads).toHaveLength(2)

    threads = []
    const planned = await startHost()
    planned.terminate()
    await planned.close()
    vi.advanceTimersByTime(60_000)
    expect(threads).toHaveLength(1)
  })
})
