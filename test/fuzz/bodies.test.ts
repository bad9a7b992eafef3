import { describe, expect, it } from 'vitest'
import { decodeBoolean, decodeNumeric } from '../../src/attest/decode.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { OperationName } from '../../src/messages.ts'
import { PROBLEMS } from '../../src/problem.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { runComputeTask } from '../../workers/compute-task.ts'
import { startTestService } from '../service.ts'

const square = '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1],[0,0]]]}'
const SEEDS: readonly (readonly [OperationName, string])[] = [
  ['distance', `{"chainId":84532,"from":{"type":"Point","coordinates":[2.2945,48.8584]},"to":${square}}`],
  [
    'area',
    `{"chainId":84532,"geometry":{"type":"MultiPolygon","coordinates":[[[[0,0],[2,0],[1,2],[0,0]]]]},"recipient":"0x${'11'.repeat(20)}"}`,
  ],
  ['length', '{"chainId":84532,"geometry":{"type":"LineString","coordinates":[[179,0],[-179,1e1],[0,-90]]}}'],
  [
    'contains',
    `{"chainId":84532,"container":${square},"containee":{"type":"Feature","geometry":{"type":"MultiPoint","coordinates":[[0.5,0.5],[1,1]]}}}`,
  ],
  [
    'within',
    `{"chainId":84532,"geometry":{"type":"GeometryCollection","geometries":[${square}]},"target":{"type":"Point","coordinates":[-0.0,5e-324]},"radius":500.005}`,
  ],
  [
    'intersects',
    `{"chainId":84532,"geometry1":${square},"geometry2":{"type":"MultiLineString","coordinates":[[[0,0],[1,1]],[[-180,90],[180,-90]]]},"schema":"0x${'ab'.repeat(32)}"}`,
  ],
  [
    'distance',
    `{"chainId":84532,"from":{"uid":"0x${'ab'.repeat(32)}"},"to":{"verifiedProof":{"proof":{"claim":{},"stamps":[]}}}}`,
  ],
]
const PIECES = [
  '"type":',
  '1e999',
  '-0',
  '[',
  ']',
  '{',
  '}',
  ',',
  'null',
  'true',
  '""',
  '\\u0000',
  '180.00000000000003',
  '1e-400',
  '90',
  '-180',
  '"__proto__":1,',
  '"chainId":1,',
  '\ud83d\ude00',
  '0'.repeat(400),
]

const NUMBERS = [
  '0',
  '-0',
  '1',
  '1.5',
  '-1',
  '90',
  '-90',
  '180',
  '-180',
  '179.9999999',
  '89.999999',
  '1e-7',
  '5e-324',
  '0.30000000000000004',
  '91',
  '181',
  '84532',
  '31337',
  'null',
  '1e999',
]

// Park and Miller's generator: the same bodies in every run.
let state = 7
const random = (range: number) => {
  state = (state * 16807) % 2147483647
  return Math.floor((state / 2147483647) * range)
}

/** A seed with one to four bytes or pieces changed, inserted, doubled or cut. */
function mutate(text: string): Buffer {
  return random(2) === 0 ? mutateNumbers(text) : mutateBytes(text)
}

/** Other numbers in the same text: what is still JSON reaches the geometry. */
function mutateNumbers(text: string): Buffer {
  return Buffer.from(
    text.replace(/-?\d+(\.\d+)?(?=[,\]}])/g, (number) => (random(6) === 0 ? NUMBERS[random(NUMBERS.length)]! : number)),
  )
}

function mutateBytes(text: string): Buffer {
  let bytes = Buffer.from(text)
  for (let round = random(4); round >= 0; round--) {
    const at = random(bytes.length)
    const piece = Buffer.from(PIECES[random(PIECES.length)]!)
    const rest = random(5)
    if (rest === 0) bytes[at] = random(256)
    else if (rest === 1) bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])
    else if (rest === 2) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(12))])
    else if (rest === 3) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(random(at + 1))])
    else
      bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(Math.min(bytes.length, at + 1 + random(8)))])
    if (bytes.length === 0) return bytes
  }
  return bytes
}

const limits = {
  maxVertices: 50_000,
  maxParts: 10_000,
  maxCollectionDepth: 8,
  maxJsonDepth: 32,
  maxDistanceSolves: 100_000,
  chainIds: [84532, 31337],
}

describe('mutated bodies', () => {
  const count = Number(process.env['FUZZ_BODIES'] ?? 150_000)

  it(`are answered or refused with a reason, ${count} of them, and never break a worker`, async () => {
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
      const key = result.ok === true ? 'answered' : result.ok === false ? result.problem.type : 'unresolved'
      seen[key] = (seen[key] ?? 0) + 1
      if (result.ok === true) {
        // What was answered decodes to what the answer says.
        const decoded = result.kind === 'numeric' ? decodeNumeric(result.data) : decodeBoolean(result.data)
        if (!decoded.ok) throw new Error(`body ${index}: data does not decode: ${decoded.reason}`)
        expect(decoded.value.operation).toBe(result.operation)
        expect(decoded.value.inputRefs).toEqual(result.inputRefs)
        if (result.kind === 'numeric') expect(Number.isFinite(result.result)).toBe(true)
      } else if (result.ok === false) {
        expect(PROBLEMS[result.problem.type].status === 400 || result.problem.type === 'not-implemented').toBe(true)
      }
    }
    console.log(seen)
    expect(seen['answered']).toBeGreaterThan(count / 20)
  })

  it('get no 5xx over HTTP', async () => {
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
