import { describe, expect, it } from 'vitest'
import { decodeBoolean, decodeNumeric } from '../../src/attest/data.ts'
import { PROBLEMS } from '../../src/base/problem.ts'
import { runComputeTask } from '../../src/compute/task.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { LIMITS as limits, mutate, SEEDS } from '../mutated-bodies.ts'
import { scaled } from '../scale.ts'
import { startTestService } from '../service.ts'

describe('mutated bodies', () => {
  const count = scaled(150_000)

  it(`get a result or a problem, ${count} of them, and never break a worker`, async () => {
    const engine = { kernel: loadKernel(), keccak: await createKeccak(), limits }
    const seen: Record<string, number> = {}
    for (let index = 0; index < count; index++) {
      const [operation, seed] = SEEDS[index % SEEDS.length]!
      const body = mutate(seed)
      let result: ReturnType<typeof runComputeTask>
      try {
        result = runComputeTask({ operation, body, resolved: [], timestampSeconds: 1_700_000_000 }, engine, limits)
      } catch (error) {
        throw new Error(`body ${index} broke the worker: ${body.toString('base64')}`, { cause: error })
      }
      const key =
        result.type === 'computed' ? 'answered' : result.type === 'problem' ? result.problem.type : 'unresolved'
      seen[key] = (seen[key] ?? 0) + 1
      if (result.type === 'computed') {
        // The encoded data decodes to the members of the result.
        const decoded = result.kind === 'numeric' ? decodeNumeric(result.data) : decodeBoolean(result.data)
        if (!decoded.ok) throw new Error(`body ${index}: data does not decode: ${decoded.reason}`)
        const members = JSON.parse(`{${result.members}}`)
        expect(decoded.value.operation).toBe(members.operation)
        expect(decoded.value.inputRefs).toEqual(members.inputRefs)
        if (result.kind === 'numeric') expect(Number.isFinite(members.result)).toBe(true)
      } else if (result.type === 'problem') {
        const { type } = result.problem
        // A polygon that encloses nothing cannot be repaired.
        const others = ['not-implemented', 'not-repairable', 'undecided']
        if (!others.includes(type)) expect(PROBLEMS[type].status, type).toBe(400)
      }
    }
    console.log(seen)
    expect(seen['answered']).toBeGreaterThan(count / 20)
  })

  it('get no 5xx response over HTTP', async () => {
    const service = await startTestService()
    try {
      const statuses = new Set<number>()
      for (let index = 0; index < 6000; index += 50) {
        const batch = Array.from({ length: 50 }, (_, offset) => {
          const [operation, seed] = SEEDS[(index + offset) % SEEDS.length]!
          return fetch(`${service.url}/compute/v0/${operation}`, {
            method: 'POST',
            body: mutate(seed) as Uint8Array<ArrayBuffer>,
          })
        })
        for (const response of await Promise.all(batch)) {
          statuses.add(response.status)
          await response.arrayBuffer()
        }
      }
      expect([...statuses].filter((status) => status !== 200 && status !== 400 && status !== 501)).toEqual([])
    } finally {
      expect(await service.stop()).toBe(0)
    }
  })
})
