import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import examples from '../../schemas/examples.json' with { type: 'json' }
import { verifyResult } from '../../src/client/client.ts'
import type { ExampleRequest } from '../../src/http/pages/explanations.ts'
import { exampleAnswer, explanations } from '../../src/http/pages/problem-pages.ts'
import { untilReadable } from '../record-service.ts'
import { startTestService, type TestService } from '../service.ts'

interface Example {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly headers?: Record<string, string>
  readonly request?: unknown
  readonly status: number
  readonly answer: unknown
}

/** Members that differ between runs: times, and everything signed over them. */
const CHANGING = [
  'timestamp',
  'deadline',
  'data',
  'signature',
  'signatures',
  'evaluatedAt',
  'time',
  'uid',
  'root',
  'proof',
  'commit',
  'requestId',
]

/** Whether a member differs between runs; checks of a stamp's times also measure from now. */
function isChanging(key: string, member: unknown): boolean {
  return CHANGING.includes(key) || (key === 'measured' && typeof member === 'number' && Math.abs(member) > 1e6)
}

function withoutChanging(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutChanging)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      isChanging(key, member) ? typeof member : withoutChanging(member),
    ]),
  )
}

// Examples of records need another store, and a response that is signed again has to be recent.
const repeatable = (Object.entries(examples) as unknown as [string, Example[]][])
  .filter(([operation]) => operation !== 'resign')
  .flatMap(([operation, list]) => list.map((example) => ({ title: `${operation} ${example.name}`, ...example })))
  .filter(({ path }) => !/^\/(api|ogc|graphql|ready|health)/.test(path))
const signed = (examples as unknown as Record<string, Example[]>)['distance']!

describe('the examples of the OpenAPI document', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({
      SIGNER_PRIVATE_KEY: `0x${'1'.padStart(64, '0')}`,
      PUBLIC_URL: 'http://127.0.0.1:3000',
    })
  })
  afterAll(() => service.stop())

  it.each(repeatable)(
    'match the responses of the service: $title',
    async ({ method, path, headers, request, status, answer }) => {
      const response = await fetch(service.url + path, {
        method,
        headers: headers ?? {},
        ...(request === undefined ? {} : { body: JSON.stringify(request) }),
      })
      expect(response.status).toBe(status)
      expect(withoutChanging(await response.json())).toEqual(withoutChanging(answer))
    },
  )

  it.each(signed)('are signed by the key that they name: $name', async ({ request, answer }) => {
    const { from, to } = request as Record<'from' | 'to', { type: 'Point'; coordinates: [number, number] }>
    const { timestamp } = answer as { timestamp: number }
    const verdict = await verifyResult(answer, {
      inputs: [from, to],
      nowSeconds: timestamp,
      attester: service.attester,
    })
    expect(verdict.ok).toBe(true)
  })
})

describe('the examples of the error pages', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ RECORDS: '1', PUBLIC_URL: 'http://127.0.0.1:3000' })
    await untilReadable(service.url)
  })
  afterAll(() => service.stop())

  const repeatable = explanations().flatMap(({ title, example }) =>
    'situation' in example.request ? [] : [{ title, example, request: example.request as ExampleRequest }],
  )

  it('are requests wherever one request is enough', () => {
    expect(repeatable.length).toBeGreaterThan(25)
  })

  it.each(repeatable)('match the responses of the service: $title', async ({ example, request }) => {
    const { method, path, headers = {}, body } = request
    const response = await fetch(service.url + path, { method, headers, ...(body === undefined ? {} : { body }) })
    const expected = exampleAnswer(example, 'http://127.0.0.1:3000/errors')
    expect(await response.json()).toEqual(
      'requestId' in expected ? { ...expected, requestId: expect.any(String) } : expected,
    )
  })
})
