import { recoverTypedDataAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EIFFEL_TOWER, SQUARE, TOWN_HALL } from '../fixtures.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

// The requests of deployed clients of this interface, with only the address changed: bodies with every member that they
// write, the members and headers that they read, and the message that they pass to EAS.
const ZERO = `0x${'0'.repeat(40)}`
const NUMERIC = '0xc2b013ecb68d59b28f5d301203ec630335d97c37b400b16b359db6972572e02a'
const BOOLEAN = '0x4958625091a773dcfb37a1c33099a378f32a975a7fb61f33d53c4be7589898f5'
const line = { type: 'LineString', coordinates: SQUARE.coordinates[0]!.slice(0, 2) }

describe('a deployed client', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ ...NO_LOCAL_CALLERS, RATE_LIMIT_PUBLIC: '100' })
  })
  afterAll(async () => {
    await service.stop()
  })

  const ask = (operation: string, members: object, schema: string) =>
    service.post(`/compute/v0/${operation}`, { chainId: 84532, ...members, schema, recipient: ZERO })

  it.each([
    ['distance', { from: EIFFEL_TOWER, to: TOWN_HALL }, NUMERIC, 'meters', 2],
    ['area', { geometry: SQUARE }, NUMERIC, 'square_meters', 1],
    ['length', { geometry: line }, NUMERIC, 'meters', 1],
    ['contains', { container: SQUARE, containee: EIFFEL_TOWER }, BOOLEAN, undefined, 2],
    ['within', { geometry: EIFFEL_TOWER, target: TOWN_HALL, radius: 500 }, BOOLEAN, undefined, 2],
    ['intersects', { geometry1: SQUARE, geometry2: line }, BOOLEAN, undefined, 2],
  ])('reads every member of %s', async (operation, members, schema, units, inputs) => {
    const { status, body, headers } = await ask(operation, members, schema)
    expect(status).toBe(200)
    expect(typeof body.result).toBe(units === undefined ? 'boolean' : 'number')
    expect(body.units).toBe(units)
    expect(body.operation).toBe(operation === 'within' ? 'within:50000' : operation)
    expect(Number.isInteger(body.timestamp)).toBe(true)
    expect(body.inputRefs).toHaveLength(inputs)
    for (const ref of body.inputRefs) expect(ref).toMatch(/^0x[0-9a-f]{64}$/)
    expect(body.attestation).toMatchObject({ schema, attester: service.attester, recipient: ZERO })
    expect(body.delegatedAttestation).toMatchObject({ attester: service.attester, nonce: 0 })
    // Clients read their tier from this header.
    expect(headers.get('ratelimit-limit')).toMatch(/^100\b/)
    expect(headers.get('x-ratelimit-limit')).toBe('100')
  })

  it('builds the EAS message that the signature covers: revocable, no expiration, no refUID', async () => {
    const { body } = await ask('distance', { from: EIFFEL_TOWER, to: TOWN_HALL }, NUMERIC)
    const { attestation, delegatedAttestation } = body
    // The client splits the signature into r, s and v.
    expect(attestation.signature).toMatch(/^0x[0-9a-f]{128}(1b|1c)$/)
    const recovered = await recoverTypedDataAddress({
      domain: {
        name: 'EAS',
        version: '1.2.0',
        chainId: 84532,
        verifyingContract: '0x4200000000000000000000000000000000000021',
      },
      types: {
        Attest: [
          { name: 'schema', type: 'bytes32' },
          { name: 'recipient', type: 'address' },
          { name: 'expirationTime', type: 'uint64' },
          { name: 'revocable', type: 'bool' },
          { name: 'refUID', type: 'bytes32' },
          { name: 'data', type: 'bytes' },
          { name: 'value', type: 'uint256' },
          { name: 'nonce', type: 'uint256' },
          { name: 'deadline', type: 'uint64' },
        ],
      },
      primaryType: 'Attest',
      message: {
        schema: attestation.schema,
        recipient: attestation.recipient,
        expirationTime: 0n,
        revocable: true,
        refUID: `0x${'0'.repeat(64)}`,
        data: attestation.data,
        value: 0n,
        nonce: BigInt(delegatedAttestation.nonce),
        deadline: BigInt(delegatedAttestation.deadline),
      },
      signature: attestation.signature,
    })
    expect(recovered).toBe(delegatedAttestation.attester)
  })

  it('sends geometries taken from Features, and UIDs as objects', async () => {
    const uid = `0x${'1'.repeat(64)}`
    const { status, body } = await ask('distance', { from: { uid }, to: EIFFEL_TOWER }, NUMERIC)
    // Without an RPC the attestation cannot be read: the response is a problem with the members that the client shows.
    expect(status).toBe(400)
    expect(body).toMatchObject({
      type: expect.any(String),
      title: expect.any(String),
      status,
      detail: expect.any(String),
    })
  })

  it('reads the health and the name of the service', async () => {
    expect(await (await fetch(`${service.url}/health`)).json()).toMatchObject({ status: 'ok' })
    expect(await (await fetch(service.url)).json()).toMatchObject({ name: 'Trigpoint', endpoints: expect.any(Object) })
  })

  it('reads plugins, and the members of a verified proof that it shows', async () => {
    const { plugins } = (await (await fetch(`${service.url}/verify/v0/plugins`)).json()) as { plugins: object[] }
    const text = expect.any(String)
    for (const plugin of plugins) {
      expect(plugin).toMatchObject({ name: text, version: text, environments: expect.any(Array), description: text })
    }
  })
})
