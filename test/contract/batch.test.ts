import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import requestSchema from '../../schemas/batch-request.schema.json' with { type: 'json' }
import responseSchema from '../../schemas/batch-response.schema.json' with { type: 'json' }
import computeRequestSchema from '../../schemas/compute-request.schema.json' with { type: 'json' }
import computeResponseSchema from '../../schemas/compute-response.schema.json' with { type: 'json' }
import geometrySchema from '../../schemas/geometry.schema.json' with { type: 'json' }
import inputSchema from '../../schemas/input.schema.json' with { type: 'json' }
import problemSchema from '../../schemas/problem.schema.json' with { type: 'json' }
import proofSchema from '../../schemas/verified-proof.schema.json' with { type: 'json' }
import verifySchema from '../../schemas/verify-response.schema.json' with { type: 'json' }
import { authenticateSignature } from '../../src/attest/authenticate.ts'
import { chainTable } from '../../src/attest/chains.ts'
import { decodeBoolean, decodeNumeric } from '../../src/attest/data.ts'
import { verifyMerkleProof } from '../../src/attest/merkle-proof.ts'
import { readConfig } from '../../src/config/config.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { loadSecp256k1 } from '../../src/crypto/secp256k1.ts'
import type { Hex } from '../../src/wire/values.ts'
import { EIFFEL_TOWER, ROME, SQUARE } from '../fixtures.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { NO_LOCAL_CALLERS, type SharedService, sharedService, startTestService, type TestService } from '../service.ts'

const schemas = [requestSchema, computeRequestSchema, computeResponseSchema, geometrySchema, inputSchema]
const ajv = new Ajv2020({ strict: false, schemas: [...schemas, problemSchema, proofSchema, verifySchema] })
const isBatchResponse = ajv.compile(responseSchema)

const CHAIN = 84532
const UNREADABLE = { uid: `0x${'1'.repeat(64)}` }

const distance = (id?: string | number) => ({
  op: 'distance',
  ...(id === undefined ? {} : { id }),
  from: EIFFEL_TOWER,
  to: ROME,
})

/** The samples of `/metrics`, by name with labels. */
const counters = async ({ url }: { readonly url: string }): Promise<Record<string, number>> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  )
}

describe.each(ADAPTERS)('batches over %s', (adapter) => {
  let service: SharedService
  beforeAll(async () => {
    service = await sharedService(adapter)
  })

  const batch = (body: object) => service.post('/compute/v0/batch', { chainId: CHAIN, ...body })
  const lines = async (text: string | Uint8Array, query = `?chainId=${CHAIN}&attest=none`) => {
    const response = await fetch(`${service.url}/compute/v0/batch${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: text as string,
    })
    const responseText = await response.text()
    return { status: response.status, type: response.headers.get('content-type'), responseText }
  }
  const parsed = (responseText: string) =>
    responseText
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))

  it('answers each item like a single request', async () => {
    const items = [
      distance('a'),
      { op: 'area', geometry: SQUARE },
      { op: 'contains', container: SQUARE, containee: EIFFEL_TOWER },
      { op: 'within', geometry: EIFFEL_TOWER, target: ROME, radius: 2_000_000 },
    ]
    const { status, body } = await batch({ items })
    expect(status).toBe(200)
    expect(body).toMatchObject({ chainId: CHAIN, attest: 'each', count: 4, failed: 0 })
    for (const [index, { op, id, ...rest }] of (items as (Record<string, unknown> & { op: string })[]).entries()) {
      const alone = await service.post(`/compute/v0/${op}`, { chainId: CHAIN, ...rest })
      const { id: echoed, ...result } = body.results[index]
      expect(echoed).toBe(id)
      expect(result).toMatchObject({
        result: alone.body.result,
        operation: alone.body.operation,
        inputRefs: alone.body.inputRefs,
        attestation: { schema: alone.body.attestation.schema, attester: alone.body.attestation.attester },
      })
      expect(Object.keys(result)).toEqual(Object.keys(alone.body))
    }
  })

  it('signs nothing with attest=none', async () => {
    const { body } = await batch({ attest: 'none', items: [distance(7)] })
    expect(Object.keys(body.results[0])).toEqual(['id', 'result', 'units', 'operation', 'timestamp', 'inputRefs'])
    expect(body.results[0].id).toBe(7)
  })

  it.each([
    ['each', { attest: 'each' }, 'default'],
    ['merkle', { attest: 'merkle' }, 'default'],
    ['a sequence', { sequence: 'consecutive' }, 'default'],
    ['none', { attest: 'none' }, null],
  ])('sends the source of the nonces in a header: %s', async (_what, options, source) => {
    const alone = await service.post('/compute/v0/distance', { chainId: CHAIN, from: EIFFEL_TOWER, to: ROME })
    expect(alone.headers.get('x-attester-nonce-source')).toBe('default')
    const { headers, body } = await batch({ ...options, items: [{ op: 'area' }, distance(), distance()] })
    expect(body.failed).toBe(1)
    expect(headers.get('x-attester-nonce-source')).toBe(source)
    const none = await batch({ ...options, items: [] })
    expect(none.headers.get('x-attester-nonce-source')).toBe(null)
  })

  it("sends the source of the first results' nonces with a stream too", async () => {
    const head = async (query: string) => {
      const response = await fetch(`${service.url}/compute/v0/batch?chainId=${CHAIN}${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson' },
        body: `${JSON.stringify(distance())}\n`,
      })
      await response.text()
      return response.headers.get('x-attester-nonce-source')
    }
    expect([await head(''), await head('&attest=none')]).toEqual(['default', null])
  })

  it.each([{ attest: 'each' }, { attest: 'merkle' }, { attest: 'none' }, { sequence: 'consecutive' }])(
    'counts items by outcome, with %j',
    async (options) => {
      const before = await counters(service)
      const items = [distance(), { op: 'area' }, distance(), 17, { op: 'distance', from: UNREADABLE, to: EIFFEL_TOWER }]
      await batch({ ...options, items })
      const after = await counters(service)
      const more = (outcome: string) => {
        const name = `batch_items_total{outcome="${outcome}"}`
        return (after[name] ?? 0) - (before[name] ?? 0)
      }
      expect([more('ok'), more('invalid-input'), more('bad-request')]).toEqual([2, 2, 1])
    },
  )

  it('counts the lines of a stream by outcome', async () => {
    const before = await counters(service)
    const long = JSON.stringify({ ...distance(), note: 'x'.repeat(1_100_000) })
    await lines(`${JSON.stringify(distance())}\n${long}\n`)
    const after = await counters(service)
    for (const outcome of ['ok', 'payload-too-large']) {
      const name = `batch_items_total{outcome="${outcome}"}`
      expect((after[name] ?? 0) - (before[name] ?? 0), outcome).toBe(1)
    }
  })

  it('puts results under one root, without the items that fail', async () => {
    const items = [
      distance('a'),
      { op: 'area', geometry: EIFFEL_TOWER },
      { ...distance('c'), chainId: 8453 },
      distance('d'),
    ]
    const { body } = await batch({ attest: 'merkle', items })
    expect(body).toMatchObject({ attest: 'merkle', count: 4, failed: 2, merkle: { leafCount: 2 } })
    expect(body.merkle.attestation.attester).toBe(service.attester)
    const [first, second, third, fourth] = body.results
    expect(first.proof).toHaveLength(1)
    expect(fourth).toMatchObject({ id: 'd', data: first.data })
    expect(second.error.errors[0].pointer).toBe('#/items/1/geometry')
    expect(third.error.errors[0]).toMatchObject({ pointer: '#/items/2/chainId', code: 'other-chain' })
    const none = await batch({ attest: 'merkle', items: [17] })
    expect(none.body).toMatchObject({ merkle: null, count: 1, failed: 1 })
  })

  it('keeps the order of a thousand results under one root, with failed items between them', async () => {
    const items = Array.from({ length: 1000 }, (_, id) => {
      if (id % 300 < 3) return { op: 'area', id, geometry: EIFFEL_TOWER }
      if (id > 500 && id % 7 === 0) return { ...distance(id), chainId: 8453 }
      return id % 5 === 0 ? { ...distance(`é${id}\n`), from: ROME } : distance(id)
    })
    const { body } = await batch({ attest: 'merkle', items })
    const keccak = await createKeccak()
    const proved = body.results.filter((result: { id: unknown; error?: object; proof: Hex[] }, index: number) => {
      expect(result.id).toBe(items[index]!.id)
      if (result.error !== undefined) return false
      return verifyMerkleProof(result as never, result.proof, body.merkle.root, keccak)
    })
    expect(proved.length).toBe(body.merkle.leafCount)
    expect(proved.length + body.failed).toBe(1000)
  })

  it.each([
    ['41 items in a sequence', { sequence: 'consecutive', items: Array(41).fill(distance()) }, 'sequence-too-long'],
    ['a root for an unsupported chain', { attest: 'merkle', chainId: 999_999, items: [] }, 'unsupported-chain'],
    [
      'a root for an unsupported chain, with results',
      { attest: 'merkle', chainId: 999_999, items: [{ ...distance(), chainId: CHAIN }] },
      'unsupported-chain',
    ],
    // Decision 17. Each item failed at a member that it does not have, or was computed.
    [
      'results for an unsupported chain',
      { chainId: 999_999, items: [distance(), { ...distance(), chainId: CHAIN }] },
      'unsupported-chain',
    ],
    [
      'unsigned results for an unsupported chain',
      { chainId: 999_999, attest: 'none', items: [distance()] },
      'unsupported-chain',
    ],
    ['a sequence without signatures', { sequence: 'consecutive', attest: 'none', items: [] }, 'sequence-unsigned'],
  ])('rejects %s', async (_what, body, code) => {
    const rejected = await batch(body)
    expect(rejected.status).toBe(400)
    expect(rejected.body.errors[0].code).toBe(code)
  })

  it.each(['attest=merkle', 'sequence=consecutive'])(
    'rejects a stream with %s, which needs the complete list',
    async (option) => {
      const { status, responseText } = await lines(`${JSON.stringify(distance())}\n`, `?chainId=${CHAIN}&${option}`)
      expect(status).toBe(400)
      expect(JSON.parse(responseText).errors[0].code).toBe('not-for-streams')
    },
  )

  it.each([{ attest: 'each' }, { attest: 'merkle' }, { attest: 'none' }, { attest: 'each', sequence: 'consecutive' }])(
    'returns a response that matches the schema with %j',
    async (options) => {
      const items = [
        distance('a'),
        { op: 'within', geometry: EIFFEL_TOWER, target: SQUARE, radius: 10 },
        { op: 'area' },
        distance(),
      ]
      for (const list of [items, items.slice(2, 3), []]) {
        const { status, body } = await batch({ ...options, items: list })
        expect(status).toBe(200)
        expect(isBatchResponse(body), JSON.stringify(isBatchResponse.errors)).toBe(true)
        expect(isBatchResponse({ ...body, results: [{ ...body.results[0], result: 'x' }] })).toBe(false)
      }
    },
  )

  it('reports an invalid item at its index and computes the others', async () => {
    const items = [
      distance('first'),
      { op: 'distance', id: 'second', from: EIFFEL_TOWER, to: { type: 'Point', coordinates: [2, 95] } },
      { op: 'circumference', id: 'third' },
      17,
      { op: 'distance', id: 'fifth', from: UNREADABLE, to: EIFFEL_TOWER },
      distance('last'),
    ]
    const { status, body } = await batch({ items })
    expect(status).toBe(200)
    expect(body).toMatchObject({ count: 6, failed: 4 })
    const [first, second, third, fourth, fifth, last] = body.results
    expect(first.result).toBe(last.result)
    expect(second).toMatchObject({
      id: 'second',
      error: { status: 400, errors: [{ pointer: '#/items/1/to/coordinates/1' }] },
    })
    expect(second.error.type).toMatch(/\/errors\/invalid-input$/)
    expect(third.error.errors[0].pointer).toBe('#/items/2/op')
    expect(fourth.error.errors[0].pointer).toBe('#/items/3')
    expect(fifth).toMatchObject({ id: 'fifth', error: { errors: [{ pointer: '#/items/4/from', code: 'no-rpc' }] } })
  })

  it('splits 2,500 items into chunks and returns the results in order', async () => {
    const items = Array.from({ length: 2500 }, (_, id) => distance(id))
    const { body } = await batch({ attest: 'none', items })
    expect(body.count).toBe(2500)
    expect(body.results.map(({ id }: { id: number }) => id)).toEqual(items.map(({ id }) => id))
  })

  it.each([
    ['no list', { chainId: CHAIN }, '#/items'],
    ['a list that is an object', { chainId: CHAIN, items: {} }, '#/items'],
    ['no chain', { items: [] }, '#/chainId'],
    ['an unknown way to attest', { chainId: CHAIN, attest: 'maybe', items: [] }, '#/attest'],
    ['an invalid recipient', { chainId: CHAIN, recipient: '0x12', items: [] }, '#/recipient'],
  ])('rejects a batch with %s', async (_what, body, pointer) => {
    const rejected = await service.post('/compute/v0/batch', body)
    expect(rejected.status).toBe(400)
    expect(rejected.body.errors[0].pointer).toBe(pointer)
  })

  it.each([
    '{"chainId":84532,"items":[',
    '{"chainId":84532,"items":[]',
    '{"items":[],"items":[],"chainId":1}',
    '[]',
    '',
  ])('rejects %j, which is not a batch', async (text) => {
    const rejected = await service.post('/compute/v0/batch', text)
    expect(rejected.status).toBe(400)
    expect(rejected.body.type).toMatch(/bad-request|invalid-input/)
  })

  it.each([
    ['lines', `${JSON.stringify(distance())}\n${JSON.stringify(distance())}\n`],
    ['one line', JSON.stringify(distance())],
    ['a bare list', JSON.stringify([distance()])],
    ['a list by another name', JSON.stringify({ chainId: CHAIN, operations: [distance()] })],
  ])('explains how to send items when a document holds %s', async (_what, text) => {
    const { status, body } = await service.post('/compute/v0/batch', text)
    expect(status).toBe(400)
    expect(body.errors[0].hint).toMatch(/"items": \[.*content-type: application\/x-ndjson/)
  })

  it('rejects more than 10,000 items and says what to do instead', async () => {
    const rejected = await batch({ items: Array(10_001).fill(0) })
    expect(rejected.status).toBe(400)
    expect(rejected.body.errors[0]).toMatchObject({ code: 'too-many-items', hint: expect.stringContaining('NDJSON') })
  })

  it('accepts a body of more than 1 MiB, the limit of a single request', async () => {
    const items = Array.from({ length: 3000 }, (_, id) => ({ ...distance(id), note: 'x'.repeat(300) }))
    const { status, body } = await batch({ attest: 'none', items })
    expect([status, body.count, body.failed]).toEqual([200, 3000, 0])
  })

  it('rejects an oversized envelope without reading it', async () => {
    const large = { items: [distance()], x: Array(20_000).fill(0) }
    expect(await batch(large)).toMatchObject({ status: 413, body: { errors: [{ code: 'envelope-too-large' }] } })
    const { items: _, ...without } = large
    expect(await batch(without)).toMatchObject({ status: 400 })
  })

  it('echoes the id of a rejected item, and rejects a number that a double cannot hold', async () => {
    const items = [
      { op: 'nope', id: 'a' },
      { op: 'distance', id: 7, from: EIFFEL_TOWER },
      { op: 'distance', id: 'c', from: EIFFEL_TOWER, to: ROME, chainId: 'x' },
      { op: 'distance', id: 'large', from: EIFFEL_TOWER, to: ROME, pad: 'x'.repeat(1_100_000) },
      distance(2 ** 53),
      distance(0.5),
    ]
    for (const attest of ['each', 'merkle', 'none']) {
      const { status, body } = await batch({ attest, items })
      expect(status).toBe(200)
      const ids = body.results.map(({ id }: { id?: unknown }) => id)
      expect(ids).toEqual(['a', 7, 'c', 'large', undefined, undefined])
      const statuses = body.results.map(({ error }: { error: { status: number } }) => error.status)
      expect(statuses).toEqual([400, 400, 400, 413, 400, 400])
    }
  })

  it('answers a stream of lines line by line', async () => {
    const text = `${JSON.stringify(distance('a'))}\n\n  \r\nnot json\n${JSON.stringify({ op: 'area', geometry: SQUARE })}`
    const { status, type, responseText } = await lines(text)
    expect(status).toBe(200)
    expect(type).toBe('application/x-ndjson; charset=utf-8')
    const [first, second, third] = parsed(responseText)
    expect(first).toMatchObject({ id: 'a', operation: 'distance' })
    expect(second.error).toMatchObject({ status: 400, errors: [{ pointer: '#', code: 'not-json' }] })
    expect(third).toMatchObject({ operation: 'area' })
  })

  it('signs the results of lines with attest=each', async () => {
    const { responseText } = await lines(`${JSON.stringify(distance())}\n`, `?chainId=${CHAIN}`)
    expect(parsed(responseText)[0].attestation.attester).toBe(service.attester)
  })

  it('signs each of a thousand results for its own recipient and chain, with failed items between them', async () => {
    const [keccak, secp256k1] = [await createKeccak(), await loadSecp256k1()]
    const chains = chainTable(readConfig({}, 1))
    const recipientOf = (id: number) => `0x${(id % 9).toString(16).padStart(40, '0')}`
    const items = Array.from({ length: 1000 }, (_, id) => {
      // Some items of the first chunk fail, none of the later ones.
      if (id < 100 && id % 30 === 7) return { op: 'area', id: `é ${id}`, geometry: EIFFEL_TOWER }
      const common = { id: `é ${id}`, recipient: recipientOf(id), chainId: id % 4 === 0 ? 8453 : CHAIN }
      if (id % 3 === 0) return { op: 'contains', ...common, container: SQUARE, containee: EIFFEL_TOWER }
      return { ...distance(), ...common, to: { type: 'Point', coordinates: [id / 10, 1] } }
    })
    const { body } = await batch({ items })
    const streamed = await lines(items.map((item) => `${JSON.stringify(item)}\n`).join(''), `?chainId=${CHAIN}`)
    for (const results of [body.results, parsed(streamed.responseText)]) {
      expect(results.length).toBe(1000)
      for (const [id, result] of results.entries()) {
        expect(result.id).toBe(`é ${id}`)
        if (id < 100 && id % 30 === 7) {
          expect(result.error.status).toBe(400)
          continue
        }
        const { attestation } = result
        expect(attestation.recipient.toLowerCase()).toBe(recipientOf(id))
        const chain = chains.get(id % 4 === 0 ? 8453 : CHAIN)!
        const attesters = [service.attester.toLowerCase()]
        const signed = {
          attestation: { ...attestation, expirationTime: 0 },
          delegatedAttestation: result.delegatedAttestation,
        }
        expect(authenticateSignature(signed, { chain, attesters, keccak, secp256k1 })).toMatchObject({ ok: true })
        const data = id % 3 === 0 ? decodeBoolean(attestation.data) : decodeNumeric(attestation.data)
        if (!data.ok) throw new Error(data.reason)
        const shown = typeof data.value.result === 'bigint' ? Number(data.value.result) / 100 : data.value.result
        expect(shown).toBe(result.result)
      }
    }
  })

  it('keeps the order of 5,000 lines', async () => {
    const text = Array.from({ length: 5000 }, (_, id) => `${JSON.stringify(distance(id))}\n`).join('')
    const { responseText } = await lines(text)
    expect(parsed(responseText).map(({ id }) => id)).toEqual(Array.from({ length: 5000 }, (_, id) => id))
  })

  it('rejects a line of more than 1 MiB at its index', async () => {
    const long = JSON.stringify({ ...distance('long'), note: 'x'.repeat(1_100_000) })
    const { responseText } = await lines(
      `${JSON.stringify(distance('a'))}\n${long}\n${JSON.stringify(distance('b'))}\n`,
    )
    const [first, second, third] = parsed(responseText)
    expect([first.id, third.id]).toEqual(['a', 'b'])
    expect(second.error).toMatchObject({ status: 413, detail: expect.stringContaining('1048576') })
  })

  it('rejects invalid stream options before it computes anything', async () => {
    const { status, responseText } = await lines(`${JSON.stringify(distance())}\n`, '?chainId=Base')
    expect(status).toBe(400)
    expect(JSON.parse(responseText).errors[0].pointer).toBe('#/chainId')
  })

  it.each([
    ['sequence=junk', 'sequence', 'enum'],
    ['attest=junk', 'attest', 'enum'],
    ['attest=', 'attest', 'enum'],
    ['chainId=abc', 'chainId', 'wrong-type'],
    ['chainId=', 'chainId', 'wrong-type'],
    ['chainId=84532.5', 'chainId', 'wrong-type'],
    ['chainId=-1', 'chainId', 'wrong-type'],
    ['chainId=0', 'chainId', 'out-of-range'],
    ['chainId=999999', 'chainId', 'unsupported-chain'],
    ['chainId=84532&chainId=84532', 'chainId', 'duplicate-parameter'],
    ['chainId=84532&attest=none&attest=each', 'attest', 'duplicate-parameter'],
    ['chainId=84532&atest=none', 'atest', 'unknown-parameter'],
    ['chainId=84532&%zz', '%zz', 'unknown-parameter'],
    ['recipient=0x12', 'recipient', 'wrong-format'],
  ])('rejects a stream with ?%s and names the parameter', async (query, name, code) => {
    const { status, responseText } = await lines(`${JSON.stringify(distance())}\n`, `?${query}`)
    expect(status).toBe(400)
    const { detail, errors } = JSON.parse(responseText)
    expect(detail.startsWith(`${name}: `), detail).toBe(true)
    expect(errors[0].code).toBe(code)
  })

  it('accepts every stream option at its default value', async () => {
    const { status, responseText } = await lines(
      `${JSON.stringify(distance())}\n`,
      `?chainId=${CHAIN}&attest=each&sequence=same`,
    )
    expect(status).toBe(200)
    expect(parsed(responseText)[0].attestation.attester).toBe(service.attester)
  })

  it('gives a hint that fits the missing member', async () => {
    const { body } = await batch({
      items: [
        { op: 'distance', from: EIFFEL_TOWER },
        { from: EIFFEL_TOWER, to: ROME },
        { op: 'within', geometry: EIFFEL_TOWER, target: ROME },
        { op: 'distance', form: EIFFEL_TOWER, to: ROME },
      ],
    })
    const invalidParts = body.results.map(({ error }: { error: { errors: object[] } }) => error.errors[0])
    expect(invalidParts).toEqual([
      { pointer: '#/items/0/to', detail: 'is missing', code: 'missing-member' },
      {
        pointer: '#/items/1/op',
        detail: 'is missing',
        code: 'missing-member',
        hint: 'send one of distance, area, length, contains, within, intersects, relate, equals, disjoint, touches, crosses, overlaps, covers, coveredBy, direct, waypoints, nearest, buffer, repair',
      },
      {
        pointer: '#/items/2/radius',
        detail: 'is missing',
        code: 'missing-member',
        hint: 'send the largest distance from the location in metres, for example "radius": 100',
      },
      {
        pointer: '#/items/3/from',
        detail: 'is missing',
        code: 'missing-member',
        hint: 'found "form": did you mean "from"?',
      },
    ])
    const { responseText } = await lines(`${JSON.stringify(distance())}\n`, '')
    expect(parsed(responseText)[0].error.errors[0]).toMatchObject({
      pointer: '#/chainId',
      hint: expect.stringContaining('?chainId=84532'),
    })
    const alone = await service.post('/compute/v0/distance', { from: EIFFEL_TOWER, to: ROME })
    expect(alone.body.errors[0]).toMatchObject({ hint: expect.stringContaining('"chainId": 84532') })
  })

  it('says what to send instead of an oversized body', async () => {
    const large = await service.post('/compute/v0/distance', ' '.repeat(1_048_577))
    expect(large).toMatchObject({
      status: 413,
      body: {
        errors: [{ pointer: '#', code: 'body-too-large', hint: expect.stringContaining('application/x-ndjson') }],
      },
    })
  })

  it('rejects invalid stream options without a body, and still serves the connection', async () => {
    const { status, responseText } = await lines('', '?chainId=Base')
    expect(status).toBe(400)
    expect(JSON.parse(responseText).errors[0].pointer).toBe('#/chainId')
    expect((await lines(`${JSON.stringify(distance())}\n`)).status).toBe(200)
  })

  it('answers an empty stream with an empty body', async () => {
    expect(await lines('')).toMatchObject({ status: 200, responseText: '' })
  })
})

describe('the hourly limit', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ ...NO_LOCAL_CALLERS, RATE_LIMIT_PUBLIC: '10' })
  })
  afterAll(() => service.stop())

  it('counts items, and rejects each one beyond it at its index', async () => {
    const { status, body } = await service.post('/compute/v0/batch', {
      chainId: CHAIN,
      attest: 'none',
      items: Array.from({ length: 13 }, (_, id) => distance(id)),
    })
    expect(status).toBe(200)
    const answered = body.results.filter(({ error }: { error?: object }) => error === undefined)
    expect(answered.map(({ id }: { id: number }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(body.results[12]).toMatchObject({ id: 12, error: { status: 429 } })
    expect((await service.post('/compute/v0/batch', { chainId: CHAIN, items: [] })).status).toBe(429)
    const counted = await counters(service)
    expect(counted['batch_items_total{outcome="ok"}']).toBe(10)
    expect(counted['batch_items_total{outcome="rate-limited"}']).toBe(3)
    expect(counted['ratelimit_rejected_items_total{tier="public"}']).toBe(3)
    expect(counted['ratelimit_rejected_total{tier="public"}']).toBe(1)
  })
})
