import { describe, expect, it } from 'vitest'
import { FairQueue } from '../../src/base/fair-queue.ts'

describe('a fair queue', () => {
  it('serves clients in turn, and each in order of arrival', () => {
    const queue = new FairQueue<string>(100)
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.push(item[0], item)
    expect(queue.first).toBe('a1')
    expect(Array.from({ length: 6 }, () => queue.shift())).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3'])
    expect(queue.shift()).toBeUndefined()
    expect(queue.size).toBe(0)
  })

  it('gives the client whose turn has passed no second one before the others', () => {
    const queue = new FairQueue<string>(100)
    queue.push('a', 'a1')
    queue.push('b', 'b1')
    expect(queue.shift()).toBe('a1')
    queue.push('a', 'a2')
    expect([queue.shift(), queue.shift()]).toEqual(['b1', 'a2'])
  })

  it('passes over a client that has to wait, which keeps its turn', () => {
    const queue = new FairQueue<string>(100)
    for (const item of ['a1', 'a2', 'b1', 'b2']) queue.push(item[0], item)
    const isNotA = (client: unknown) => client !== 'a'
    expect([queue.shift(isNotA), queue.shift(), queue.shift(isNotA), queue.shift(isNotA)]).toEqual([
      'b1',
      'a1',
      'b2',
      undefined,
    ])
    expect(queue.shift()).toBe('a2')
  })

  it('gives clients the same share of the time, however much their items cost', () => {
    const queue = new FairQueue<string>(1000)
    const costs = { heavy: 30, light: 2 }
    const spent = { heavy: 0, light: 0 }
    for (let index = 0; index < 400; index++) {
      queue.push('heavy', 'heavy')
      queue.push('light', 'light')
    }
    for (let served = 0; served < 300; served++) {
      const item = queue.shift() as 'heavy' | 'light'
      spent[item] += costs[item]
      queue.charge(item, costs[item])
    }
    expect(Math.abs(spent.heavy - spent.light)).toBeLessThanOrEqual(costs.heavy)
  })

  it('charges a client that nobody waited for with no more than its last item', () => {
    const queue = new FairQueue<string>(1000)
    for (let index = 0; index < 50; index++) {
      queue.push('heavy', 'heavy')
      expect(queue.shift()).toBe('heavy')
      queue.charge('heavy', 100)
    }
    expect(queue.owedBy('heavy')).toBe(100)
    queue.push('heavy', 'heavy')
    // The light client is served first until its items have cost as much: 34 of them, and then the turn is that of the heavy one.
    const order: (string | undefined)[] = []
    for (let index = 0; index < 40; index++) {
      queue.push('light', 'light')
      const item = queue.shift()
      order.push(item)
      queue.charge(item, item === 'heavy' ? 100 : 3)
    }
    expect(order.indexOf('heavy')).toBe(34)
  })

  it('tells what a client owes, which becomes less while others are served', () => {
    const queue = new FairQueue<string>(1000)
    queue.charge('heavy', 10)
    expect([queue.owedBy('heavy'), queue.owedBy('light')]).toEqual([10, 0])
    queue.charge('light', 4)
    queue.push('light', 'light')
    expect(queue.shift()).toBe('light')
    expect([queue.owedBy('heavy'), queue.owedBy('light')]).toEqual([6, 0])
  })

  it('drops the newest item of the client with the most when it is full', () => {
    const queue = new FairQueue<string>(4)
    for (const item of ['a1', 'a2', 'a3', 'a4']) expect(queue.push('a', item)).toBeUndefined()
    expect(queue.push('a', 'a5')).toBe('a5')
    expect(queue.push('b', 'b1')).toBe('a4')
    expect(queue.push('b', 'b2')).toBe('a3')
    expect(queue.push('b', 'b3')).toBe('b3')
    expect(queue.push('c', 'c1')).toMatch(/[ab]2/)
    expect(queue.size).toBe(4)
  })

  it('keeps a place for each of as many clients as it has places, however many items others send', () => {
    const queue = new FairQueue<string>(8)
    for (let index = 0; index < 1000; index++) queue.push(index % 3, `flood ${index}`)
    for (let client = 10; client < 15; client++) {
      queue.push(client, `honest ${client}`)
      for (let index = 0; index < 10; index++) queue.push(index % 3, 'flood')
    }
    expect(queue.clear().filter((item) => item.startsWith('honest'))).toHaveLength(5)
    expect(queue.size).toBe(0)
  })

  it('counts what is served before a new item of a client', () => {
    const queue = new FairQueue<string>(100)
    for (const item of ['a1', 'a2', 'a3', 'a4', 'b1']) queue.push(item[0], item)
    expect(queue.countAhead('a')).toBe(5)
    expect(queue.countAhead('b')).toBe(3)
    expect(queue.countAhead('c')).toBe(2)
  })

  it('removes all items for which a test holds, and keeps the turns', () => {
    const queue = new FairQueue<string>(6)
    for (const item of ['a1', 'a2', 'b1', 'c1', 'c2']) queue.push(item[0], item)
    expect(queue.removeAll((item) => item.endsWith('1'))).toEqual(['a1', 'b1', 'c1'])
    expect([queue.size, queue.shift(), queue.shift(), queue.shift()]).toEqual([2, 'a2', 'c2', undefined])
  })

  it('removes an item wherever it stands', () => {
    const queue = new FairQueue<string>(4)
    for (const item of ['a1', 'a2', 'b1']) queue.push(item[0], item)
    queue.remove('a', 'a1')
    queue.remove('b', 'b1')
    queue.remove('c', 'c1')
    expect(queue.size).toBe(1)
    expect(queue.shift()).toBe('a2')
  })
})
