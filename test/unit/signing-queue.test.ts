import { describe, expect, it } from 'vitest'
import { pack } from '../../src/base/bytes.ts'
import type { SigningMessage } from '../../src/threads/signing-block.ts'
import { SigningQueue, WaitingRoom } from '../../src/threads/signing-queue.ts'
import type { AttestationPayload } from '../../src/wire/signing-messages.ts'
import { packPayload, putSigned, readSigned, SIGNED_BYTES } from '../../src/wire/signing-records.ts'
import { eventually } from '../eventually.ts'

const payload: AttestationPayload = {
  kind: 'numeric',
  chainId: 84532,
  schema: `0x${'11'.repeat(32)}`,
  recipient: `0x${'22'.repeat(20)}`,
  data: '0x33',
}
const block = (count: number) => pack(Array.from({ length: count }, () => packPayload(payload)))
const tick = () => new Promise((resolve) => setImmediate(resolve))

function create({ maxQueueSize = 10_000, timeoutMs = 10_000 } = {}) {
  const messages: SigningMessage[] = []
  const queue = new SigningQueue({
    maxQueueSize,
    maxBatchSize: 32,
    timeoutMs,
    send: (message) => messages.push(message),
  })
  /** Answers as the signer thread does; the nonce tells which payload was signed. */
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

describe('the signing queue', () => {
  it('gives each caller its own signature, in whatever order they return', async () => {
    const { queue, messages, answer } = create()
    const signed = [queue.submit(payload), queue.submit(payload), queue.submit(payload)]
    await tick()
    expect(messages[0]!.records.ids).toEqual([0, 1, 2])
    answer([2, 0], false)
    answer([1])
    expect(await Promise.all(signed)).toMatchObject([{ nonce: 0 }, { nonce: 1 }, { nonce: 2 }])
  })

  it('sends a full message at once, and what remains at the end of the tick', async () => {
    const { queue, messages, answer } = create()
    const signed = Array.from({ length: 40 }, () => queue.submit(payload))
    expect(messages.map(({ records }) => records.ids.length)).toEqual([32])
    await tick()
    expect(messages.map(({ records }) => records.ids.length)).toEqual([32, 8])
    for (const { records } of messages) answer(records.ids)
    expect((await Promise.all(signed)).every(({ ok }) => ok)).toBe(true)
  })

  it('sends a few payloads of a chunk along with single ones, and the whole chunk in the end', async () => {
    const { queue, messages, answer } = create()
    const signed = queue.submitBlock(block(100))
    const single = queue.submit(payload)
    await tick()
    expect([messages[0]!.records.ids, messages[0]!.bulk.ids]).toEqual([[100], [0, 1, 2, 3]])
    for (let at = 0; at < messages.length; at++) {
      answer([...messages[at]!.records.ids, ...messages[at]!.bulk.ids].reverse())
      await tick()
    }
    expect(messages.flatMap(({ bulk }) => bulk.ids)).toEqual(Array.from({ length: 100 }, (_, index) => index))
    expect(await single).toMatchObject({ ok: true, nonce: 100 })
    const { signed: bytes, rejections } = await signed
    expect(rejections.size).toBe(0)
    const nonces = Array.from({ length: 100 }, (_, index) => readSigned(bytes, index * SIGNED_BYTES))
    expect(nonces.map((reply) => 'nonce' in reply && reply.nonce)).toEqual(Array.from({ length: 100 }, (_, i) => i))
  })

  it('shares the bulk share of a message between chunks and batches that are submitted one by one', async () => {
    const { queue, messages, answer } = create()
    const one = () => void queue.submit(payload, true)
    for (let count = 0; count < 200; count++) one()
    let isSigned = false
    const signed = queue.submitBlock(block(100)).then(() => {
      isSigned = true
    })
    await tick()
    for (let at = 0; at < Math.min(messages.length, 50) && !isSigned; at++) {
      const { ids } = messages[at]!.bulk
      answer(ids)
      for (let count = 0; count < ids.length; count++) one() // A new payload arrives for each one that is signed.
      await tick()
    }
    expect(isSigned).toBe(true)
    await signed
    expect(messages.length).toBeLessThan(20)
    queue.fail('over')
  })

  it('drops payloads that time out and then admits a waiting request, although others keep arriving', async () => {
    const { queue } = create({ timeoutMs: 40 })
    for (let count = 0; count < 300; count++) void queue.submit(payload)
    const admitted = queue.room.enter('a')!
    const others = setInterval(() => void queue.submit(payload), 10)
    await admitted // The signer thread never answers.
    clearInterval(others)
    queue.fail('over')
  })

  it('rejects only the invalid payload of a chunk', async () => {
    const { queue, messages, answer } = create()
    const signed = queue.submitBlock(block(3))
    await tick()
    expect(messages[0]!.bulk.ids).toEqual([0, 1, 2])
    const problem = { type: 'invalid-input', detail: 'no' } as const
    queue.take(new Uint8Array(0), [[1, { ok: false, problem }]], false)
    answer([0, 2, 2])
    expect([...(await signed).rejections]).toEqual([[1, problem]])
  })

  it('fails every pending payload when the thread dies, and of a chunk only the unsigned ones', async () => {
    const { queue, messages, answer } = create()
    const chunk = queue.submitBlock(block(40))
    const single = queue.submit(payload)
    await tick()
    answer([0, 3])
    queue.fail('gone')
    expect(await single).toMatchObject({ ok: false, problem: { type: 'overloaded', detail: 'gone' } })
    expect([...(await chunk).rejections.keys()]).toEqual(
      Array.from({ length: 40 }, (_, index) => index).filter((index) => index !== 0 && index !== 3),
    )
    const next = queue.submit(payload)
    await tick()
    answer(messages.at(-1)!.records.ids)
    expect(await next).toMatchObject({ ok: true, nonce: 41 })
  })

  it('fails payloads that wait longer than their deadline, and ignores their late signatures', async () => {
    const { queue, messages, answer } = create({ timeoutMs: 30 })
    const chunk = queue.submitBlock(block(2))
    const single = queue.submit(payload)
    expect(await single).toMatchObject({ ok: false, problem: { type: 'overloaded' } })
    expect((await chunk).rejections.size).toBe(2)
    answer([...messages[0]!.records.ids, ...messages[0]!.bulk.ids]) // These replies are too late.
    const next = queue.submit(payload)
    await tick()
    answer(messages.at(-1)!.records.ids)
    expect(await next).toMatchObject({ ok: true })
  })

  it('holds no more than its limit, payloads of chunks included', async () => {
    const { queue } = create({ maxQueueSize: 10 })
    const first = queue.submitBlock(block(12)) // A chunk is accepted whole when there is room.
    expect((await queue.submitBlock(block(2))).rejections.size).toBe(2)
    expect(await queue.submit(payload)).toMatchObject({ ok: false, problem: { type: 'overloaded' } })
    queue.fail('over')
    expect((await first).rejections.size).toBe(12)
  })

  it('resolves an empty chunk at once', async () => {
    const { queue, messages } = create()
    expect(await queue.submitBlock(block(0))).toMatchObject({ rejections: new Map() })
    await tick()
    expect(messages).toEqual([])
  })

  it('rejects an invalid payload at once', async () => {
    const { queue } = create()
    expect(await queue.submit({ ...payload, schema: '0x' })).toMatchObject({
      ok: false,
      problem: { type: 'invalid-input' },
    })
  })
})

describe('the waiting room', () => {
  it('admits as many as there is room for, in their order', async () => {
    let freeSlots = 1
    const room = new WaitingRoom(3, () => freeSlots)
    expect(room.enter('a')).toBeUndefined()
    freeSlots = 0
    const order: number[] = []
    const waiting = [0, 1].map((index) => room.enter('a')!.then(() => order.push(index)))
    expect(room.isFullFor('a')).toBe(false)
    freeSlots = 1
    // A newcomer does not overtake those who wait.
    waiting.push(room.enter('a')!.then(() => order.push(2)))
    expect(room.isFullFor('a')).toBe(true)
    room.release()
    await tick()
    freeSlots = 0 // The first one used the free slot.
    await eventually(() => expect(order.length).toBeGreaterThan(0))
    freeSlots = 5
    room.release()
    await Promise.all(waiting)
    expect(order).toEqual([0, 1, 2])
  })

  it('continues when those it admitted use no slot', async () => {
    let freeSlots = 0
    const room = new WaitingRoom(100, () => freeSlots)
    const waiting = Array.from({ length: 20 }, () => room.enter('a')!)
    freeSlots = 2
    room.release() // Only once: the others follow, two per tick.
    await Promise.all(waiting)
  })

  it('admits clients in turn', async () => {
    let freeSlots = 0
    const room = new WaitingRoom(100, () => freeSlots)
    const order: string[] = []
    const waiting = ['a', 'a', 'a', 'b'].map((client) => room.enter(client)!.then(() => order.push(client)))
    freeSlots = 4
    room.release()
    await Promise.all(waiting)
    expect(order).toEqual(['a', 'b', 'a', 'a'])
  })

  it('drops the newest request of the client with the most when it is full', async () => {
    let freeSlots = 0
    const room = new WaitingRoom(3, () => freeSlots)
    const [first, second, third] = [room.enter('a'), room.enter('a'), room.enter('a')]
    const other = room.enter('b')
    freeSlots = 3
    room.release()
    expect(await Promise.allSettled([first, second, third, other])).toMatchObject([
      { status: 'fulfilled' },
      { status: 'fulfilled' },
      { status: 'rejected', reason: { data: { type: 'overloaded', retryAfterSeconds: 1 } } },
      { status: 'fulfilled' },
    ])
  })

  it('refuses a client that has a long queue, until a second after the last refusal a long one again', () => {
    let nowMs = 0
    let freeSlots = 0
    const room = new WaitingRoom(
      10_000,
      () => freeSlots,
      () => nowMs,
    )
    const fill = (client: string) => {
      let admitted = 0
      for (; !room.isFullFor(client); admitted++) void room.enter(client)
      return admitted
    }
    const empty = () => {
      freeSlots = 10_000
      room.release()
      freeSlots = 0
    }
    expect(fill('a')).toBe(1024)
    expect(room.isFullFor('b'), 'another client').toBe(false)
    empty()
    expect(fill('a'), 'in the overload').toBe(16)
    expect(room.isFullFor('b'), 'another client in the overload').toBe(false)
    empty()
    nowMs = 999
    expect(fill('a')).toBe(16)
    empty()
    nowMs = 2000
    expect(fill('a')).toBe(1024)
  })

  it('allows a long queue again after ten seconds of refusals', () => {
    let nowMs = 0
    let freeSlots = 0
    const room = new WaitingRoom(
      10_000,
      () => freeSlots,
      () => nowMs,
    )
    while (!room.isFullFor('a')) void room.enter('a')
    freeSlots = 10_000
    room.release()
    freeSlots = 0
    const sendMany = () => {
      let refused = 0
      for (let count = 0; count < 100; count++) {
        if (room.isFullFor('b')) refused++
        else void room.enter('b')
      }
      return refused
    }
    expect(sendMany()).toBe(84)
    for (nowMs = 100; nowMs < 10_000; nowMs += 100) expect(sendMany()).toBe(100)
    expect(sendMany()).toBe(0)
  })

  it('lets few requests in at a time in an overload', async () => {
    const { queue, messages, answer } = create()
    const { room } = queue
    const signed = Array.from({ length: 160 }, () => queue.submit(payload))
    let admitted = 0
    while (!room.isFullFor('a')) {
      room.enter('a')!.then(
        () => {
          admitted++
          signed.push(queue.submit(payload))
        },
        () => {},
      )
    }
    for (let at = 0; at < 5; at++) {
      answer(messages[at]!.records.ids)
      await tick()
    }
    await Promise.all(signed.slice(0, 160))
    await tick()
    expect(admitted).toBe(24)
    answer(messages[5]!.records.ids)
    await tick()
    expect(admitted).toBe(24 + messages[5]!.records.ids.length)
  })

  it('admits requests when payloads have gone to the signer', async () => {
    const { queue, messages, answer } = create()
    // Three messages of 32 go to the signer, and 64 payloads wait here.
    const submitted = Array.from({ length: 160 }, () => queue.submit(payload))
    const admitted = queue.room.enter('a')
    expect(admitted).toBeInstanceOf(Promise)
    answer(messages[0]!.records.ids)
    await admitted
    for (let at = 1; at < messages.length; at++) {
      answer(messages[at]!.records.ids)
      await tick()
    }
    expect((await Promise.all(submitted)).every(({ ok }) => ok)).toBe(true)
  })
})
