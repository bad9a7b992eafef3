import { describe, expect, it } from 'vitest'
import type { AttestationPayload } from '../../src/messages.ts'
import { pack } from '../../src/packed-bytes.ts'
import { packPayload, putSigned, readSigned, SIGNED_BYTES } from '../../src/signing-records.ts'
import type { SigningMessage } from '../../src/threads/signing-block.ts'
import { SigningQueue } from '../../src/threads/signing-queue.ts'
import { WaitingRoom } from '../../src/threads/waiting-room.ts'
import { eventually } from '../eventually.ts'

const payload: AttestationPayload = {
  kind: 'numeric',
  chainId: 84532,
  schema: `0x${'11'.repeat(32)}`,
  recipient: `0x${'22'.repeat(20)}`,
  data: '0x33',
}
const block = (count: number) => pack(Array.from({ length: count }, () => packPayload(payload)))
const turn = () => new Promise((resolve) => setImmediate(resolve))

function create({ maxQueueSize = 10_000, timeoutMs = 10_000 } = {}) {
  const messages: SigningMessage[] = []
  const queue = new SigningQueue({
    maxQueueSize,
    maxBatchSize: 32,
    timeoutMs,
    send: (message) => messages.push(message),
  })
  /** As the thread answers: the nonce says which payload was signed. */
  const answer = (ids: readonly number[], isBatchEnd = true) => {
    const bytes = new Uint8Array(ids.length * SIGNED_BYTES)
    ids.forEach((id, index) => {
      const compact = new Uint8Array(64)
      putSigned(bytes, index * SIGNED_BYTES, id, {
        compact,
        recovery: 0,
        nonce: id,
        nonceSource: 'chain',
        deadlineSeconds: 1,
      })
    })
    queue.take(bytes, [], isBatchEnd)
  }
  return { queue, messages, answer }
}

describe('the queue before the signer', () => {
  it('gives each its own signature, in whatever order they come back', async () => {
    const { queue, messages, answer } = create()
    const signed = [queue.submit(payload), queue.submit(payload), queue.submit(payload)]
    await turn()
    expect(messages[0]!.records.ids).toEqual([0, 1, 2])
    answer([2, 0], false)
    answer([1])
    expect(await Promise.all(signed)).toMatchObject([{ nonce: 0 }, { nonce: 1 }, { nonce: 2 }])
  })

  it('sends few of a chunk beside single ones, and all of it in the end', async () => {
    const { queue, messages, answer } = create()
    const signed = queue.submitBlock(block(100))
    const alone = queue.submit(payload)
    await turn()
    expect([messages[0]!.records.ids, messages[0]!.bulk.ids]).toEqual([[100], [0, 1, 2, 3]])
    for (let at = 0; at < messages.length; at++) {
      answer([...messages[at]!.records.ids, ...messages[at]!.bulk.ids].reverse())
      await turn()
    }
    expect(messages.flatMap(({ bulk }) => bulk.ids)).toEqual(Array.from({ length: 100 }, (_, index) => index))
    expect(await alone).toMatchObject({ ok: true, nonce: 100 })
    const { signed: bytes, refusals } = await signed
    expect(refusals.size).toBe(0)
    const nonces = Array.from({ length: 100 }, (_, index) => readSigned(bytes, index * SIGNED_BYTES))
    expect(nonces.map((found) => 'nonce' in found && found.nonce)).toEqual(Array.from({ length: 100 }, (_, i) => i))
  })

  it('shares its places between payloads of chunks and those of batches that come one by one', async () => {
    const { queue, messages, answer } = create()
    const one = () => void queue.submit(payload, true)
    for (let count = 0; count < 200; count++) one()
    let isSigned = false
    const signed = queue.submitBlock(block(100)).then(() => {
      isSigned = true
    })
    await turn()
    for (let at = 0; at < Math.min(messages.length, 50) && !isSigned; at++) {
      const { ids } = messages[at]!.bulk
      answer(ids)
      for (let count = 0; count < ids.length; count++) one() // as fast as they are signed
      await turn()
    }
    expect(isSigned).toBe(true)
    await signed
    expect(messages.length).toBeLessThan(20)
    queue.fail('over')
  })

  it('lets go of what waits too long, whoever still waits', async () => {
    const { queue } = create({ timeoutMs: 40 })
    for (let count = 0; count < 300; count++) void queue.submit(payload)
    const entered = queue.room.enter()!
    const others = setInterval(() => void queue.submit(payload), 10)
    await entered // the thread never answers
    clearInterval(others)
    queue.fail('over')
  })

  it('refuses one payload of a chunk alone', async () => {
    const { queue, messages, answer } = create()
    const signed = queue.submitBlock(block(3))
    await turn()
    expect(messages[0]!.bulk.ids).toEqual([0, 1, 2])
    const problem = { type: 'invalid-input', detail: 'no' } as const
    queue.take(new Uint8Array(0), [[1, { ok: false, problem }]], false)
    answer([0, 2, 2])
    expect([...(await signed).refusals]).toEqual([[1, problem]])
  })

  it('refuses everybody who waits when the thread dies, a chunk from where it was', async () => {
    const { queue, messages, answer } = create()
    const chunk = queue.submitBlock(block(40))
    const single = queue.submit(payload)
    await turn()
    answer([0, 3])
    queue.fail('gone')
    expect(await single).toMatchObject({ ok: false, problem: { type: 'overloaded', detail: 'gone' } })
    expect([...(await chunk).refusals.keys()]).toEqual(
      Array.from({ length: 40 }, (_, index) => index).filter((index) => index !== 0 && index !== 3),
    )
    const after = queue.submit(payload)
    await turn()
    answer(messages.at(-1)!.records.ids)
    expect(await after).toMatchObject({ ok: true, nonce: 41 })
  })

  it('ends what waits longer than its deadline, and forgets it', async () => {
    const { queue, messages, answer } = create({ timeoutMs: 30 })
    const chunk = queue.submitBlock(block(2))
    const single = queue.submit(payload)
    expect(await single).toMatchObject({ ok: false, problem: { type: 'overloaded' } })
    expect((await chunk).refusals.size).toBe(2)
    answer([...messages[0]!.records.ids, ...messages[0]!.bulk.ids]) // too late
    const next = queue.submit(payload)
    await turn()
    answer(messages.at(-1)!.records.ids)
    expect(await next).toMatchObject({ ok: true })
  })

  it('takes no more than it may hold, counting those of chunks', async () => {
    const { queue } = create({ maxQueueSize: 10 })
    const first = queue.submitBlock(block(12)) // a chunk that finds room is taken whole
    expect((await queue.submitBlock(block(2))).refusals.size).toBe(2)
    expect(await queue.submit(payload)).toMatchObject({ ok: false, problem: { type: 'overloaded' } })
    queue.fail('over')
    expect((await first).refusals.size).toBe(12)
  })

  it('has nothing to wait for with a chunk of nothing', async () => {
    const { queue, messages } = create()
    expect(await queue.submitBlock(block(0))).toMatchObject({ refusals: new Map() })
    await turn()
    expect(messages).toEqual([])
  })

  it('says at once what is no payload', async () => {
    const { queue } = create()
    expect(await queue.submit({ ...payload, schema: '0x' })).toMatchObject({
      ok: false,
      problem: { type: 'invalid-input' },
    })
  })
})

describe('the room before it', () => {
  it('lets in as many as there are places, in their order', async () => {
    let places = 1
    const room = new WaitingRoom(3, () => places)
    expect(room.enter()).toBeUndefined()
    places = 0
    const order: number[] = []
    const waiting = [0, 1, 2].map((index) => room.enter()!.then(() => order.push(index)))
    expect(room.isFull).toBe(true)
    places = 1
    expect(room.enter(), 'nobody passes those who wait').toBeInstanceOf(Promise)
    room.release()
    await turn()
    places = 0 // the first took its place
    await eventually(() => expect(order.length).toBeGreaterThan(0))
    places = 5
    room.release()
    await Promise.all(waiting)
    expect(order).toEqual([0, 1, 2])
  })

  it('goes on when those it let in take no place', async () => {
    let places = 0
    const room = new WaitingRoom(100, () => places)
    const waiting = Array.from({ length: 20 }, () => room.enter()!)
    places = 2
    room.release() // once: the others follow, two a turn
    await Promise.all(waiting)
  })

  it('opens for requests when payloads went to the signer', async () => {
    const { queue, messages, answer } = create()
    const submitted = Array.from({ length: 64 }, () => queue.submit(payload))
    const entered = queue.room.enter()
    expect(entered).toBeInstanceOf(Promise)
    await turn()
    await entered
    for (let at = 0; at < messages.length; at++) {
      answer(messages[at]!.records.ids)
      await turn()
    }
    expect((await Promise.all(submitted)).every(({ ok }) => ok)).toBe(true)
  })
})
