import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SCHEMA_STRINGS, schemaUids } from '../../src/attest/schemas.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Hex } from '../../src/wire/values.ts'
import { EIFFEL_TOWER, RECIPIENT, ROAD, SQUARE, TOWN_HALL } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'
import { EAS_VERSIONS, type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const uids = schemaUids(readConfig({}, 1))
const ZERO_UID = `0x${'0'.repeat(64)}`

const REQUESTS: readonly (readonly [operation: string, body: object])[] = [
  ['distance', { from: EIFFEL_TOWER, to: TOWN_HALL }],
  ['area', { geometry: SQUARE }],
  ['length', { geometry: ROAD }],
  ['contains', { container: SQUARE, containee: EIFFEL_TOWER }],
  ['within', { geometry: EIFFEL_TOWER, target: ROAD, radius: 500 }],
  ['intersects', { geometry1: SQUARE, geometry2: ROAD }],
]

/** Encodes the nine fields of a location attestation. */
function locationData(location: string, locationType = 'geojson-point'): Hex {
  const fields = parseAbiParameters(SCHEMA_STRINGS.location)
  return encodeAbiParameters(fields, [1_700_000_000n, 'EPSG:4326', locationType, location, [], [], [], [], ''])
}

describe.skipIf(skipReason()).each(EAS_VERSIONS)('signed results of the service on EAS %s', (version) => {
  let local: LocalChain
  let service: TestService
  let chainId: number
  let isChainUp = false

  beforeAll(async () => {
    local = await startLocalChain(version)
    isChainUp = true
    chainId = local.chain.id
    service = await startTestService({ ...local.environment, RPC_TIMEOUT_MS: '5000' })
  })
  afterAll(async () => {
    await service?.stop()
    if (isChainUp) await local.stop()
  })

  const compute = (operation: string, body: object) => service.post(`/compute/v0/${operation}`, { chainId, ...body })
  const refusal = async (input: object) => {
    const answer = await compute('distance', { from: input, to: EIFFEL_TOWER })
    expect(answer.status, JSON.stringify(answer.body)).toBe(400)
    return answer.body.errors[0].code
  }

  it.each(REQUESTS)('stores a submitted %s as it was signed', async (operation, body) => {
    const { status, headers, body: answer } = await compute(operation, { ...body, recipient: RECIPIENT })
    expect(status).toBe(200)
    expect(headers.get('x-attester-nonce-source')).toBeNull()
    const nonce = await local.nonce(service.attester)
    expect(BigInt(answer.delegatedAttestation.nonce)).toBe(nonce)
    const stored = await local.submitAnswer(answer)
    expect(stored).toMatchObject({
      schema: answer.attestation.schema,
      attester: service.attester,
      recipient: RECIPIENT,
      refUID: ZERO_UID,
      revocable: true,
      expirationTime: 0n,
      data: answer.attestation.data,
    })
    expect(await local.nonce(service.attester)).toBe(nonce + 1n)
    // The nonce is used, so the same response is rejected now.
    expect(await local.rejection(answer)).toBeDefined()
  })

  it('are rejected with a wrong byte anywhere', async () => {
    const { body: answer } = await compute('distance', { ...REQUESTS[0]![1], recipient: RECIPIENT })
    expect(await local.rejection(answer)).toBeUndefined()
    const flip = (text: string, at: number) =>
      `${text.slice(0, at)}${((Number.parseInt(text[at]!, 16) + 1) % 16).toString(16)}${text.slice(at + 1)}`
    const { attestation, delegatedAttestation } = answer
    for (let at = 2; at < attestation.data.length; at += 37) {
      const data = flip(attestation.data, at)
      expect(await local.rejection({ ...answer, attestation: { ...attestation, data } })).toBeDefined()
    }
    for (let at = 2; at < 130; at += 13) {
      const signature = flip(delegatedAttestation.signature, at)
      expect(
        await local.rejection({ ...answer, delegatedAttestation: { ...delegatedAttestation, signature } }),
      ).toBeDefined()
    }
    const recipient = `0x${'11'.repeat(20)}`
    expect(await local.rejection({ ...answer, attestation: { ...attestation, recipient } })).toBeDefined()
  })

  it('treat an on-chain location like the geometry itself', async () => {
    const uid = await local.attest(uids.location, locationData(JSON.stringify(EIFFEL_TOWER)))
    const direct = await compute('distance', { from: EIFFEL_TOWER, to: TOWN_HALL })
    const chained = await compute('distance', { from: { uid: `0x${uid.slice(2).toUpperCase()}` }, to: TOWN_HALL })
    expect(chained.status).toBe(200)
    expect(chained.body.result).toBe(direct.body.result)
    expect(chained.body.inputRefs).toEqual([uid, direct.body.inputRefs[1]])
    expect(await local.submitAnswer(chained.body)).toMatchObject({ data: chained.body.attestation.data })

    const padding = 'x'.repeat(20_000) // over 16 KB: the large lane returns the reference to be resolved
    const large = await compute('distance', { from: { uid }, to: TOWN_HALL, padding })
    expect(large.body).toMatchObject({ result: direct.body.result, inputRefs: chained.body.inputRefs })
  })

  it('read an on-chain location in the notation that its type names', async () => {
    const direct = await compute('distance', { from: EIFFEL_TOWER, to: TOWN_HALL })
    const uid = await local.attest(uids.location, locationData(`POINT(${EIFFEL_TOWER.coordinates.join(' ')})`, 'wkt'))
    const chained = await compute('distance', { from: { uid }, to: TOWN_HALL })
    expect(chained.body).toMatchObject({ result: direct.body.result, inputRefs: [uid, direct.body.inputRefs[1]] })
    // The resolution-9 cell that contains the position: 0.1 km² on average, h3geo.org/docs/core-library/restable.
    const cell = await local.attest(uids.location, locationData('891fb466257ffff', 'h3-index'))
    const { body } = await compute('area', { geometry: { uid: cell } })
    expect(body.result / 105_332).toBeGreaterThan(0.6)
    expect(body.result / 105_332).toBeLessThan(1.4)
    expect(body.inputRefs).toEqual([cell])
  })

  it('reject an unusable on-chain reference with a specific code', async () => {
    expect(await refusal({ uid: `0x${'ab'.repeat(32)}` })).toBe('uid-not-found')
    const other = await local.attest(uids.boolean, `0x${'0'.repeat(64)}`)
    expect(await refusal({ uid: other })).toBe('uid-not-a-location')
    const words = await local.attest(uids.location, locationData('filled.count.soap', 'what3words'))
    expect(await refusal({ uid: words })).toBe('uid-unknown-location-type')
    const noText = await local.attest(uids.location, locationData('POINT(1)', 'wkt'))
    expect(await refusal({ uid: noText })).toBe('uid-unreadable')
    const garbage = await local.attest(uids.location, `0x${'ff'.repeat(96)}`)
    expect(await refusal({ uid: garbage })).toBe('uid-undecodable')
    const swapped = await local.attest(uids.location, locationData('{"type":"Point","coordinates":[48,102]}'))
    expect(await refusal({ uid: swapped })).toBe('latitude-range')
    const revoked = await local.attest(uids.location, locationData(JSON.stringify(EIFFEL_TOWER)))
    await local.revoke(uids.location, revoked)
    expect(await refusal({ uid: revoked })).toBe('uid-revoked')
  })

  it('accept a schema with our layout or an unknown one, and reject one that is registered for other data', async () => {
    const body = REQUESTS[0]![1]
    const code = async (schema: string) => (await compute('distance', { ...body, schema })).body.errors?.[0].code
    expect(await code(uids.boolean)).toBe('schema-mismatch')
    expect(await code(uids.location)).toBe('schema-mismatch')
    expect(await code(`0x${'cd'.repeat(32)}`)).toBeUndefined()
  })

  it('report an unreachable chain with status 500, and keep signing with the last nonce', async () => {
    await local.stop()
    isChainUp = false
    const { status, headers, body } = await compute('distance', {
      from: { uid: `0x${'ab'.repeat(32)}` },
      to: EIFFEL_TOWER,
    })
    expect(status).toBe(500)
    expect(body.detail).toContain('chain unreachable')
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    const answer = await compute('distance', REQUESTS[0]![1])
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-attester-nonce-source')).toBe('cache')
  })
})
