import { buildClientSchema, getIntrospectionQuery, printSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import recordSchema from '../../schemas/location-record.schema.json' with { type: 'json' }
import { ENGINES_AND_ADAPTERS, type RecordService, startRecordService } from '../record-service.ts'
import { addressOf, recordOf, uidOf } from '../store-records.ts'

const RECORDS = Array.from({ length: 250 }, (_, index) =>
  recordOf(index, { memo: index === 3 ? '\u0000 "\ud800' : null }),
)
const FIELDS = Object.keys(recordSchema.properties).join(' ')

describe.each(ENGINES_AND_ADAPTERS)('GraphQL on %s behind %s', (engine, adapter) => {
  let service: RecordService

  beforeAll(async () => {
    service = await startRecordService(engine, { HTTP_ADAPTER: adapter }, RECORDS)
  })
  afterAll(() => service.remove())

  async function send(body: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(`${service.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    // biome-ignore lint/suspicious/noExplicitAny: the tests read any member of the body
    return { status: response.status, type: response.headers.get('content-type'), body: (await response.json()) as any }
  }
  const runQuery = (query: string, variables?: object) => send({ query, variables })
  const getJson = async (path: string) => (await fetch(`${service.url}/api/v0/location-records${path}`)).json()

  it('returns the same lists as the record API, with every member', async () => {
    const { status, type, body } = await runQuery(
      `{ locationRecords(limit: 7, prover: "${addressOf(1)}", bbox: [-180, -90, 0, 90]) { data { ${FIELDS} } count limit offset } }`,
    )
    expect([status, type]).toEqual([200, 'application/json; charset=utf-8'])
    expect(body.data.locationRecords).toEqual(await getJson(`?limit=7&prover=${addressOf(1)}&bbox=-180,-90,0,90`))
  })

  it('returns one record, null for an unknown UID, and the statistics', async () => {
    const { body } = await runQuery(`{
      known: locationRecord(uid: "${uidOf(3)}") { ${FIELDS} }
      unknown: locationRecord(uid: "${uidOf(9999)}") { uid }
      locationRecordStats { total by_chain { chain count } by_time { last_24_hours last_7_days last_30_days } revoked }
    }`)
    const stats = (await getJson('/stats')) as { by_chain: Record<string, number> }
    expect(body.data.known).toEqual(await getJson(`/${uidOf(3)}`))
    expect(body.data.unknown).toBe(null)
    expect(body.data.locationRecordStats).toEqual({
      ...stats,
      by_chain: Object.entries(stats.by_chain).map(([chain, count]) => ({ chain, count })),
    })
  })

  it('pages through all records by cursor', async () => {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const { body } = await runQuery(
        'query Page($cursor: String) { locationRecords(limit: 60, cursor: $cursor) { data { uid } next } }',
        { cursor },
      )
      seen.push(...body.data.locationRecords.data.map(({ uid }: { uid: string }) => uid))
      cursor = body.data.locationRecords.next
    } while (cursor !== null)
    expect(seen).toEqual(RECORDS.map(({ uid }) => uid).reverse())
  })

  it('shows browsers a page without inline script, whose queries are within the limits', async () => {
    const response = await fetch(`${service.url}/graphql`, { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(response.headers.get('content-security-policy')).toMatch(/default-src 'none'; script-src 'self';/)
    const html = await response.text()
    expect(html).not.toMatch(/<script(?![^>]* src="\/)|<style|https?:\/\/| on\w+=/)
    for (const [, file] of html.matchAll(/(?:src|href)="(\/graphql\/[^"]+)"/g))
      expect((await fetch(service.url + file)).status, file).toBe(200)
    const script = await (await fetch(`${service.url}/graphql/page.js`)).text()
    const [type, introspection] = ['TYPE', 'INTROSPECTION'].map(
      (name) => new RegExp(`const ${name} = [\`']([^\`']*)[\`']`).exec(script)![1]!,
    )
    const example = /<textarea id="query"[^>]*>([^<]*)</.exec(html)![1]!
    for (const query of [introspection!.replaceAll(/\$\{TYPE\}/g, type!), example]) {
      const answer = await fetch(`${service.url}/graphql`, { method: 'POST', body: JSON.stringify({ query }) })
      expect(((await answer.json()) as { errors?: unknown }).errors).toBeUndefined()
    }
  })

  it('opens a link with a query as the page in a browser, and as its answer in programs', async () => {
    const url = `${service.url}/graphql?query=${encodeURIComponent('{ locationRecords(limit: 5) { limit } }')}`
    const typeFor = async (accept: string) => (await fetch(url, { headers: { accept } })).headers.get('content-type')
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    expect(await typeFor(browser)).toBe('text/html; charset=utf-8')
    for (const accept of ['*/*', 'application/json', 'application/json, text/html'])
      expect(await typeFor(accept)).toBe('application/json; charset=utf-8')
    expect(await typeFor('text/html, application/graphql-response+json')).toMatch(/^application\/graphql-response/)
  })

  it('answers GET, with the GraphQL media type if the client accepts it', async () => {
    const url = `${service.url}/graphql?query=${encodeURIComponent('query A($n: Int) { locationRecords(limit: $n) { limit } }')}`
    const response = await fetch(`${url}&variables=${encodeURIComponent('{"n": 5}')}&operationName=A`, {
      headers: { accept: 'application/graphql-response+json' },
    })
    expect(response.headers.get('content-type')).toBe('application/graphql-response+json; charset=utf-8')
    expect(await response.json()).toEqual({ data: { locationRecords: { limit: 5 } } })
  })

  it('answers introspection, with the members of the record schema', async () => {
    const { body } = await runQuery(getIntrospectionQuery())
    const text = await (await fetch(`${service.url}/graphql/schema`)).text()
    const described = printSchema(buildClientSchema(body.data))
    expect(described.replace(/\s+/g, ' ')).toContain('type LocationRecordPage { data: [LocationRecord!]!')
    for (const field of Object.keys(recordSchema.properties)) expect(text).toMatch(new RegExp(`^  ${field}: `, 'm'))
  })

  it.each([
    ['{ locationRecords(chain: "bitcoin") { count } }', /^Invalid chain parameter: Supported chains/],
    ['{ locationRecords(limit: 0) { count } }', /^Invalid limit parameter/],
    ['{ locationRecords(bbox: [1, 2, 3]) { count } }', /^Invalid bbox format/],
    ['{ locationRecords(prover: "0x1") { count } }', /^Invalid address format/],
    ['{ locationRecords(cursor: "x") { count } }', /^Invalid cursor/],
    ['{ locationRecords(fromTimestamp: "x") { count } }', /^Invalid timestamp format/],
    ['{ locationRecord(uid: "1 or 1=1") { uid } }', /^Invalid UID format/],
  ])('reports in errors what is wrong in %s', async (query, message) => {
    const { status, body } = await runQuery(query)
    expect(status).toBe(200)
    expect(body.errors[0].message).toMatch(message)
  })

  it.each([
    ['{ locationRecords { count }', /Syntax Error/],
    ['{ locationRecords(limit: "5") { count } }', /Int cannot represent/],
    ['{ nothing }', /Cannot query field/],
    ['mutation { a }', /only queries are supported/],
    ['query A { __typename } query B { __typename }', /operationName/],
    ['query A($n: Int!) { locationRecords(limit: $n) { count } }', /was not provided/],
    ['fragment A on Query { ...A } { ...A }', /Cannot spread fragment/],
    [`{ ${Array.from({ length: 600 }, (_, index) => `a${index}: __typename`).join(' ')} }`, /500 tokens/],
    [
      '{ locationRecords(limit: 1000) { data { uid chain prover subject timestamp srs memo revoked location created_at updated_at media_data longitude } } }',
      /costs more than 12000/,
    ],
    [
      `{ ${Array.from({ length: 30 }, (_, index) => `a${index}: locationRecordStats { total }`).join(' ')} }`,
      /costs more/,
    ],
    [`${fragments(20)} { ...F0 }`, /costs more/],
    [
      'query A($n: Int = 1000) { locationRecords(limit: $n) { data { ...F } } } fragment F on LocationRecord { uid chain prover subject srs memo revoked location updated_at created_at media_data longitude latitude }',
      /costs more/,
    ],
    [
      `{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }`,
      /introspection depth/,
    ],
  ])('rejects %.80s', async (query, message) => {
    const { status, body } = await runQuery(query)
    expect([status, body.data]).toEqual([400, undefined])
    expect(body.errors[0].message).toMatch(message)
  })

  it.each([
    ['', 400, /empty/],
    ['{', 400, /not JSON/],
    ['[]', 400, /array/],
    ['{}', 400, /query is missing/],
    ['{"query":5}', 400, /query is missing/],
    ['{"query":"{a}","variables":[]}', 400, /variables must be an object/],
    ['{"query":"{a}","operationName":5}', 400, /operationName/],
    [JSON.stringify({ query: `{ a } #${'x'.repeat(70_000)}` }), 413, /65536 bytes/],
  ])(
    'rejects the body %.40s with members for GraphQL clients and for clients of the record API',
    async (text, status, detail) => {
      const rejected = await send(text)
      expect(rejected.status).toBe(status)
      expect(rejected.body.status).toBe('error')
      expect(rejected.body.detail).toMatch(detail)
      expect(rejected.body.errors[0].message).toContain(rejected.body.detail)
    },
  )

  it.each(['', '?query=', '?query=a&query=b', '?query=%7Ba%7D&variables=x'])(
    'rejects GET /graphql%s',
    async (search) => {
      expect((await fetch(`${service.url}/graphql${search}`)).status).toBe(400)
    },
  )

  it('answers /health while many clients send queries of the highest cost', async () => {
    const costlyQuery = `{ locationRecords(limit: 570) { data { ${FIELDS} } } }`
    expect((await runQuery(costlyQuery)).status).toBe(200)
    let answeredCount = 0
    const requests = Array.from({ length: 20 }, () => runQuery(costlyQuery).finally(() => answeredCount++))
    expect((await fetch(`${service.url}/health`)).status).toBe(200)
    expect(answeredCount).toBeLessThan(20)
    for (const { status } of await Promise.all(requests)) expect([200, 503]).toContain(status)
  })
})

/** Fragments that each contain the next one twice: 2ⁿ fields when expanded. */
function fragments(count: number): string {
  const texts = Array.from({ length: count }, (_, index) =>
    index === count - 1
      ? `fragment F${index} on Query { locationRecordStats { total } }`
      : `fragment F${index} on Query { ...F${index + 1} ... on Query { ...F${index + 1} } }`,
  )
  return texts.join(' ')
}
