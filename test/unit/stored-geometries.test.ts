import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/compute/engine.ts'
import { runPrepareTask } from '../../src/compute/stored-shape.ts'
import { readConfig } from '../../src/config/config.ts'
import { createStoredGeometries, findRefs } from '../../src/service/stored/geometries.ts'
import type { StoreClient } from '../../src/threads/store-client.ts'
import { StoreFault } from '../../src/wire/store-messages.ts'
import type { PrepareTask } from '../../src/wire/stored-messages.ts'
import type { Hex } from '../../src/wire/values.ts'

const config = readConfig({}, 2)
const limits = { ...config.limits, maxVertices: 1000, maxParts: 100, chainIds: [84532] }
const engine = createEngine(limits)
const text = (lon: number) => `{"coordinates":[${lon},2],"type":"Point"}`
const refOf = (lon: number): Hex => engine.keccak.hashHex(Buffer.from(text(lon)))
const context = { client: 'a', aborted: false, deadlineMs: Number.POSITIVE_INFINITY }

/** A service whose store has the geometries of `owned`, as `account longitude`, and whose clock stands still. */
function service(owned: Set<string>) {
  const asked: string[] = []
  const state = { nowMs: 1_800_000_000_000, isAway: false, prepared: 0 }
  const has = (account: string, ref: Hex) =>
    [1, 2, 3].find((lon) => refOf(lon) === ref && owned.has(`${account} ${lon}`))
  const store = {
    untilOpen: async () => {},
    async ask(operation: string, argument: { account: string; refs: Hex[]; ref: Hex }) {
      asked.push(operation)
      if (state.isAway) throw new StoreFault('unavailable', 'away')
      const { account, refs, ref } = argument
      if (operation === 'useGeometries') return refs.filter((one) => has(account, one) !== undefined)
      if (operation === 'deleteGeometry') return true
      const lon = has(account, ref)
      return lon && { ref, text: text(lon), bytes: 1, createdMs: 0, expiresMs: 0 }
    },
  } as unknown as StoreClient
  const pool = {
    async runPrepare({ chunk }: { chunk: PrepareTask }) {
      state.prepared++
      return runPrepareTask(chunk, engine, limits)
    },
  }
  return { geometries: createStoredGeometries({ config, pool, now: () => state.nowMs }, store), asked, state }
}

const body = (...lons: number[]) => Buffer.from(JSON.stringify(lons.map((lon) => ({ ref: refOf(lon) }))))

describe('the references in a body', () => {
  it('are found without parsing it, each once, in lower case', () => {
    const [one, two] = [refOf(1), refOf(2)]
    const upper = one.toUpperCase().replace('0X', '0x')
    const found = findRefs(
      Buffer.from(`{"a":{"ref": \n"${one}"},"b":{"ref":"${upper}"},"ref":"no","c":{"ref":"${two}"}}`),
    )
    expect(found).toEqual([one, two])
    expect(findRefs(Buffer.from('{"from":{"type":"Point"}}'))).toEqual([])
    expect(findRefs(Buffer.from('"ref"'))).toEqual([])
  })
})

describe('stored geometries in memory', () => {
  it('are read once, and the store is asked again after a second', async () => {
    const { geometries, asked, state } = service(new Set(['a 1']))
    const first = await geometries.findMentioned(body(1), 'a', context)
    expect(first.shapes.map(({ ref }) => ref)).toEqual([refOf(1)])
    expect(asked).toEqual(['useGeometries', 'readGeometry'])
    const again = geometries.findMentioned(body(1), 'a', context)
    expect(again).not.toBeInstanceOf(Promise)
    expect((again as typeof first).shapes[0]).toBe(first.shapes[0])
    state.nowMs += config.limits.storedFreshMs
    expect((await geometries.findMentioned(body(1), 'a', context)).shapes).toHaveLength(1)
    expect(asked).toEqual(['useGeometries', 'readGeometry', 'useGeometries'])
    expect(state.prepared).toBe(1)
  })

  it('are read once for requests at the same time', async () => {
    const { geometries, asked, state } = service(new Set(['a 1']))
    await Promise.all(Array.from({ length: 5 }, () => geometries.findMentioned(body(1), 'a', context)))
    expect([asked, state.prepared]).toEqual([['useGeometries', 'readGeometry'], 1])
  })

  it('are not those of another account, although they are in memory', async () => {
    const { geometries, state } = service(new Set(['a 1', 'b 2']))
    await geometries.findMentioned(body(1), 'a', context)
    const mentioned = await geometries.findMentioned(body(1, 2), 'b', context)
    expect(mentioned.shapes.map(({ ref }) => ref)).toEqual([refOf(2)])
    expect([...mentioned.missing]).toEqual([refOf(1)])
    expect(geometries.findMentioned(body(1), undefined, context)).toMatchObject({ shapes: [] })
    const input = { form: 'stored', ref: refOf(1), path: ['geometry'] } as const
    await expect(geometries.require([input], 'b', context)).rejects.toMatchObject({ data: { type: 'not-found' } })
    await expect(geometries.require([input], undefined, context)).rejects.toMatchObject({
      data: { type: 'unauthorized' },
    })
    expect(state.prepared).toBe(2)
  })

  it('end with their deletion: at once here, after a second where another process deleted them', async () => {
    const owned = new Set(['a 1', 'a 2'])
    const { geometries, state } = service(owned)
    await geometries.findMentioned(body(1, 2), 'a', context)
    owned.delete('a 1')
    await geometries.delete(refOf(1), 'a', context)
    expect([...(await geometries.findMentioned(body(1), 'a', context)).missing]).toEqual([refOf(1)])
    owned.delete('a 2')
    expect((await geometries.findMentioned(body(2), 'a', context)).shapes).toHaveLength(1)
    state.nowMs += config.limits.storedFreshMs
    expect([...(await geometries.findMentioned(body(2), 'a', context)).missing]).toEqual([refOf(2)])
  })

  it('can be used while the store is away, if they were used before', async () => {
    const { geometries, state } = service(new Set(['a 1', 'a 2']))
    await geometries.findMentioned(body(1), 'a', context)
    state.nowMs += config.limits.storedFreshMs
    state.isAway = true
    expect((await geometries.findMentioned(body(1), 'a', context)).shapes).toHaveLength(1)
    await expect(geometries.findMentioned(body(2), 'a', context)).rejects.toMatchObject({
      data: { type: 'overloaded' },
    })
  })
})
