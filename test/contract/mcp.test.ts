import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { McpOptions } from '../../src/mcp/serve.ts'
import { eventually } from '../eventually.ts'
import { type Loose, NOW, proofOf, stampOf } from '../evidence.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { nodeFlags } from '../node-flags.ts'
import { startTestService, type TestService } from '../service.ts'

const root = resolve(import.meta.dirname, '../..')
const park = {
  type: 'Polygon',
  coordinates: [
    [
      [2.29, 48.85],
      [2.3, 48.85],
      [2.3, 48.86],
      [2.29, 48.86],
      [2.29, 48.85],
    ],
  ],
}
const line = {
  type: 'LineString',
  coordinates: [
    [2.29, 48.85],
    [2.3, 48.86],
  ],
}

/** Arguments that start the built server in a separate process. */
const serverArguments = (options: McpOptions): string[] => [
  ...nodeFlags(root),
  '-e',
  `import('./dist/src/mcp/serve.js').then((m) => m.serveMcp(${JSON.stringify(options)}))`,
]

async function connect(options: McpOptions): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: serverArguments(options), cwd: root }),
  )
  // The client checks the results of listed tools against their output schemas.
  await client.listTools()
  return client
}

async function call(client: Client, name: string, args: Loose = {}): Promise<Loose> {
  const { content, structuredContent, isError } = (await client.callTool({ name, arguments: args })) as Loose
  expect(content).toHaveLength(1)
  expect(content[0].type).toBe('text')
  return { text: content[0].text, structured: structuredContent, isError: isError === true }
}

describe('the MCP server', () => {
  let service: TestService
  let client: Client
  beforeAll(async () => {
    service = await startTestService({ RECORDS: '1', SAMPLE_RECORDS: '1' })
    client = await connect({ url: service.url, chainId: 84532, apiKey: service.developerKey })
    // The record store opens after the service starts to listen.
    await eventually(async () => expect((await call(client, 'records_stats'))['structured']?.total).toBe(5000))
  })
  afterAll(async () => {
    await client.close()
    await service.stop()
  })

  it('lists its tools, all read-only, with self-contained schemas', async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'compute_distance',
      'compute_area',
      'compute_length',
      'compute_contains',
      'compute_within',
      'compute_intersects',
      'compute_relate',
      'compute_geometry',
      'verify_stamp',
      'verify_proof',
      'verify_result',
      'records_list',
      'records_get',
      'records_stats',
    ])
    for (const { name, inputSchema, outputSchema, annotations } of tools) {
      expect(annotations?.readOnlyHint, name).toBe(true)
      for (const schema of [inputSchema, outputSchema!]) {
        const ajv = new Ajv2020({ strict: true, strictTypes: false, strictTuples: false, strictRequired: false })
        expect(() => ajv.compile(schema), name).not.toThrow()
      }
    }
    const within = new Ajv2020({ strict: false }).compile(
      tools.find(({ name }) => name === 'compute_within')!.inputSchema,
    )
    expect(within({ geometry: EIFFEL_TOWER, target: { uid: `0x${'ab'.repeat(32)}` }, radius: 5 })).toBe(true)
    const salted = { input: EIFFEL_TOWER, salt: 'random' }
    expect(within({ geometry: salted, target: salted, radius: 5 })).toBe(true)
    expect(within({ geometry: EIFFEL_TOWER, target: 'Paris', radius: 5 })).toBe(false)
    expect(within({ geometry: EIFFEL_TOWER, target: TOWN_HALL })).toBe(false)
  })

  it('keeps the list of tools small, because a model reads it in each conversation', async () => {
    const { tools } = await client.listTools()
    const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
    expect(bytes({ tools })).toBeLessThanOrEqual(24_000)
    // Most operations have a tool of their own, so an operation has to be cheap.
    for (const tool of tools.filter(({ name }) => name.startsWith('compute_')))
      expect(bytes(tool), tool.name).toBeLessThanOrEqual(1_550)
  })

  it('relates geometries by a predicate, by a pattern, or by their matrix, which is not signed', async () => {
    const inputs = { geometry1: park, geometry2: EIFFEL_TOWER }
    const covers = await call(client, 'compute_relate', { ...inputs, predicate: 'covers' })
    expect(covers['structured']).toMatchObject({ operation: 'covers', result: true, attestation: {} })
    const pattern = await call(client, 'compute_relate', { ...inputs, pattern: 'T*F**FFF*' })
    expect(pattern['text']).toMatch(/^relate:T\*F\*\*FFF\*: false\nSigned by /)
    const matrix = await call(client, 'compute_relate', inputs)
    expect(matrix['text']).toMatch(/^relate: 0F2FF1FF2\nA matrix is not signed\.\nInputs: 0x/)
    expect(matrix['structured']).toMatchObject({ matrix: '0F2FF1FF2' })
    // Regression: the text left out the salt that the service drew, without which nobody can show the input.
    const salted = { ...inputs, geometry2: { input: EIFFEL_TOWER, salt: 'random' } }
    for (const members of [{}, { predicate: 'covers' }])
      expect((await call(client, 'compute_relate', { ...salted, ...members }))['text']).toMatch(
        /\nSalts: none, 0x[0-9a-f]{64}$/m,
      )
    const both = await call(client, 'compute_relate', { ...inputs, predicate: 'covers', pattern: 'T********' })
    expect(both).toMatchObject({ isError: true, text: 'send a predicate or a pattern, not both' })
    const unknown = await call(client, 'compute_relate', { ...inputs, predicate: 'surrounds' })
    expect(unknown['text']).toMatch(/^predicate must be one of equals, /)
  })

  it.each([
    ['distance', { from: EIFFEL_TOWER, to: TOWN_HALL }, 'distance: 4,238.77 m'],
    ['area', { geometry: park }, /^area: 8[\d,.]+ m²/],
    ['length', { geometry: line }, /^length: 1,3[\d.]+ m/],
    ['contains', { container: park, containee: EIFFEL_TOWER }, 'contains: true'],
    ['contains', { container: park, containee: EIFFEL_TOWER, edges: 'geodesic' }, 'contains:geodesic: true'],
    ['within', { geometry: EIFFEL_TOWER, target: TOWN_HALL, radius: 500 }, 'within:50000: false'],
    ['intersects', { geometry1: park, geometry2: line }, 'intersects: true'],
  ])('computes %s as the service does, with the result as text', async (name, args, text) => {
    const response = await call(client, `compute_${name}`, args)
    const { body } = await service.post(`/compute/v0/${name}`, { chainId: 84532, ...args })
    const { result, operation, inputRefs } = body
    expect(response['structured']).toMatchObject({ result, operation, inputRefs })
    const [first, signed] = response['text'].split('\n')
    if (typeof text === 'string') expect(first).toBe(text)
    else expect(first).toMatch(text)
    expect(signed).toMatch(
      new RegExp(`^Signed by ${service.attester} for chain 84532, recipient: any; .* until 20\\d\\d-`),
    )
  })

  it('computes a geometry, which is not signed', async () => {
    const members = { operation: 'direct', from: EIFFEL_TOWER, azimuthDegrees: 90, distanceMeters: 1000 }
    const { text, structured } = await call(client, 'compute_geometry', members)
    expect(text).toMatch(/^direct: 2\.308\d+, 48\.858\d+\nref: 0x[0-9a-f]{64}\nazimuthDegrees: 90\.01/)
    expect(text).toMatch(/\nNot signed\.$/)
    expect(structured.ref).toMatch(/^0x/)
    const around = await call(client, 'compute_geometry', { operation: 'buffer', geometry: EIFFEL_TOWER, radius: 1000 })
    expect(around['text']).toMatch(/^buffer: Polygon\nref: 0x[0-9a-f]{64}\nerrorMeters: 0\.311/)
    const bowtie = {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [2, 2],
          [2, 0],
          [0, 2],
          [0, 0],
        ],
      ],
    }
    const repaired = await call(client, 'compute_geometry', { operation: 'repair', geometry: bowtie })
    expect(repaired['text']).toMatch(/^repair: MultiPolygon\nref: 0x[0-9a-f]{64}\nareaMovedSquareMeters: 0\n/)
    expect(repaired['structured'].changes).toHaveLength(1)
    const wrong = await call(client, 'compute_geometry', { ...members, operation: 'area' })
    expect(wrong['isError']).toBe(true)
    const missing = await call(client, 'compute_geometry', { ...members, distanceMeters: -1 })
    expect(missing['text']).toContain('distanceMeters')
  })

  it('signs for another chain and a recipient when a call names them', async () => {
    const recipient = `0x${'11'.repeat(20)}`
    const { text, structured } = await call(client, 'compute_area', { geometry: park, chainId: 11155111, recipient })
    expect(text).toContain('for chain 11155111, recipient: 0x1111')
    expect(structured.attestation.recipient).toBe(recipient)
  })

  it('returns a problem as an error with its pointer and hint', async () => {
    const swapped = await call(client, 'compute_distance', {
      from: { type: 'Point', coordinates: [48, 102] },
      to: EIFFEL_TOWER,
    })
    expect(swapped).toEqual({
      isError: true,
      structured: undefined,
      text: 'Invalid Input (400): from.coordinates[1]: latitude 102 is outside -90..90\n#/from/coordinates/1: GeoJSON order is [longitude, latitude]',
    })
    const nothing = await call(client, 'compute_area')
    expect(nothing).toMatchObject({ isError: true, text: 'geometry is missing' })
    const misspelt = await call(client, 'compute_area', { geometry: park, recipent: `0x${'11'.repeat(20)}` })
    expect(misspelt).toMatchObject({
      isError: true,
      text: 'recipent is not an argument; the arguments are chainId, geometry, schema, recipient',
    })
    const text = await call(client, 'compute_area', { geometry: 'POLYGON((0 0, 1 0, 1 1, 0 0))' })
    expect(text['text']).toContain('send a geometry as a GeoJSON object')
    const chain = await call(client, 'compute_area', { geometry: park, chainId: 5 })
    expect(chain['text']).toMatch(/^Invalid Input \(400\): chainId: chain 5 is not supported/)
  })

  it('rejects an unknown tool with a protocol error', async () => {
    await expect(client.callTool({ name: 'compute_volume', arguments: {} })).rejects.toThrow(
      'there is no tool compute_volume',
    )
  })

  it('verifies a stamp and a proof', async () => {
    const stamp = stampOf('gpsd')
    const good = await call(client, 'verify_stamp', { stamp })
    expect(good['structured'].valid).toBe(true)
    expect(good['text']).toMatch(/^The stamp is valid: signatures verify, structure is valid, signals are consistent\./)
    const forged = await call(client, 'verify_stamp', { stamp: { ...stamp, location: TOWN_HALL } })
    expect(forged['structured'].valid).toBe(false)
    expect(forged['text']).toMatch(/^The stamp is not valid: signatures do not verify,.*\nsignature 0: /)
    const proof = proofOf([stamp], { location: EIFFEL_TOWER, time: { start: NOW - 60, end: NOW + 120 } })
    const judged = await call(client, 'verify_proof', { proof, options: { chainId: 84532 } })
    expect(judged['structured'].credibility.meta.stampCount).toBe(1)
    expect(judged['text']).toMatch(/^1 stamps: 0 m from the claim on average, 0 m at most, 100 % within its radius\./)
    expect(judged['text']).toContain(`Signed by ${service.attester} for chain 84532`)
    const malformed = await call(client, 'verify_proof', {
      proof: { ...proof, claim: { ...proof['claim'], radius: -1 } },
    })
    expect(malformed['text']).toMatch(/^Validation Error \(400\): proof\.claim\.radius: /)
  })

  it('verifies a response on this machine, and fails a changed one', async () => {
    const { structured: response } = await call(client, 'compute_distance', { from: EIFFEL_TOWER, to: TOWN_HALL })
    const verified = await call(client, 'verify_result', {
      answer: response,
      chainId: 84532,
      inputs: [EIFFEL_TOWER, TOWN_HALL],
    })
    expect(verified['structured'].ok).toBe(true)
    expect(verified['text']).toContain('pass recomputed: gives 4,238.77 m again')
    expect(verified['text']).toContain('pass signer:')
    const changed = await call(client, 'verify_result', { answer: { ...response, result: 1 } })
    expect(changed['structured'].ok).toBe(false)
    expect(changed['text']).toMatch(/^The result does not verify\./)
    const other = await call(client, 'verify_result', { answer: response, attester: `0x${'22'.repeat(20)}` })
    expect(other['structured'].checks).toContainEqual(expect.objectContaining({ id: 'signer', status: 'fail' }))
  })

  it('lists records in pages of a readable size', async () => {
    const { structured, text } = await call(client, 'records_list', { bbox: [-180, 0, 180, 90] })
    expect(structured.data).toHaveLength(20)
    expect(text.split('\n')).toHaveLength(21)
    expect(text).toMatch(/^\d+ records match, these are 1 to 20\.\n0x[0-9a-f]{64} on /)
    const most = await call(client, 'records_list', { limit: 1000, chain: structured.data[0].chain })
    expect(most['structured'].data).toHaveLength(100)
    const one = await call(client, 'records_get', { uid: structured.data[0].uid })
    expect(one['structured']).toEqual(structured.data[0])
    const stats = await call(client, 'records_stats')
    expect(stats['text']).toMatch(/^5,?000 records, /)
    const absent = await call(client, 'records_get', { uid: `0x${'00'.repeat(32)}` })
    expect(absent).toMatchObject({ isError: true })
    expect(absent['text']).toMatch(/^Location record not found \(404\): /)
    const chain = await call(client, 'records_list', { chain: 'mars' })
    expect(chain['text']).toMatch(/^Invalid chain parameter \(400\): /)
  })
})

describe('the MCP server without a service', () => {
  it('names the address that does not answer', async () => {
    const client = await connect({ url: 'http://127.0.0.1:9', chainId: 84532 })
    const { isError, text } = await call(client, 'compute_area', { geometry: park })
    expect(isError).toBe(true)
    expect(text).toBe(
      'no response from the service at http://127.0.0.1:9. Start a service there (npm start), or pass another address with --url.',
    )
    await client.close()
  })

  it('computes without a service when local is set, and does not sign', async () => {
    const client = await connect({ url: 'http://127.0.0.1:9', local: true })
    const { tools } = await client.listTools()
    expect(tools).toHaveLength(9)
    const direct = { operation: 'direct', from: EIFFEL_TOWER, azimuthDegrees: 90, distanceMeters: 1000 }
    expect((await call(client, 'compute_geometry', direct))['structured'].geometry.type).toBe('Point')
    expect((await call(client, 'compute_geometry', { ...direct, azimuthDegrees: 'east' }))['isError']).toBe(true)
    const response = await call(client, 'compute_distance', { from: EIFFEL_TOWER, to: TOWN_HALL })
    expect(response).toEqual({
      isError: false,
      text: 'distance: 4,238.77 m\nComputed on this machine, not signed.',
      structured: { operation: 'distance', result: 4238.77, units: 'meters', signed: false },
    })
    const within = await call(client, 'compute_within', { geometry: EIFFEL_TOWER, target: TOWN_HALL, radius: 4238.77 })
    expect(within['structured']).toEqual({ operation: 'within:423877', result: true, signed: false })
    const inputs = { geometry1: EIFFEL_TOWER, geometry2: TOWN_HALL }
    const met = await call(client, 'compute_intersects', { ...inputs, edges: 'geodesic' })
    expect(met['structured']).toEqual({ operation: 'intersects:geodesic', result: false, signed: false })
    const unknown = await call(client, 'compute_intersects', { ...inputs, edges: 'rhumb' })
    expect(unknown).toMatchObject({ isError: true, text: 'edges must be geodesic, or absent' })
    for (const [args, text] of [
      [{ from: EIFFEL_TOWER }, 'to is missing'],
      [{ from: EIFFEL_TOWER, to: { type: 'Point', coordinates: [1, 95] } }, 'to has latitude 95, outside -90..90'],
      [
        { from: EIFFEL_TOWER, to: { uid: `0x${'ab'.repeat(32)}` } },
        'to has to be a geometry, because no service is used here',
      ],
    ] as const) {
      expect(await call(client, 'compute_distance', args)).toMatchObject({ isError: true, text })
    }
    const nothing = { type: 'Point', coordinates: [] }
    const matrix = await call(client, 'compute_relate', { geometry1: park, geometry2: nothing })
    expect(matrix['structured']).toEqual({ operation: 'relate', matrix: 'FF2FF1FF2', signed: false })
    const disjoint = await call(client, 'compute_relate', {
      geometry1: park,
      geometry2: nothing,
      predicate: 'disjoint',
    })
    expect(disjoint['structured']).toEqual({ operation: 'disjoint', result: true, signed: false })
    const pattern = { geometry1: park, geometry2: EIFFEL_TOWER, pattern: 'T********' }
    expect((await call(client, 'compute_relate', pattern))['text']).toMatch(/^relate:T\*{8}: true\n/)
    const radius = await call(client, 'compute_within', { geometry: EIFFEL_TOWER, target: TOWN_HALL, radius: 'far' })
    expect(radius['text']).toMatch(/^radius must be a number of metres/)
    await client.close()
  })

  it('writes only protocol messages, answers the requests sent before its input ends, and then exits', async () => {
    const child = spawn(process.execPath, serverArguments({ url: 'http://127.0.0.1:9', local: true }), {
      cwd: root,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const written: Buffer[] = []
    child.stdout.on('data', (piece) => written.push(piece))
    const message = (id: number, method: string, params: Loose) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
    const clientInfo = { name: 'test', version: '1' }
    child.stdin.write(message(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }))
    child.stdin.write('no JSON\n')
    child.stdin.end(message(2, 'tools/call', { name: 'compute_area', arguments: { geometry: park } }))
    const code = await new Promise((done) => child.once('exit', done))
    expect(code).toBe(0)
    const replies = Buffer.concat(written).toString('utf8').trimEnd().split('\n')
    expect(replies.map((response) => JSON.parse(response).id)).toEqual([1, 2])
    expect(JSON.parse(replies[1]!).result.structuredContent).toMatchObject({
      operation: 'area',
      units: 'square_meters',
    })
  })
})
