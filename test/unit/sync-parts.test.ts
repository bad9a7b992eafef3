import { multicall3Abi } from 'viem'
import { decodeFunctionData, encodeAbiParameters, encodeFunctionResult, parseAbiParameters } from 'viem/utils'
import { describe, expect, it } from 'vitest'
import { SCHEMA_STRINGS } from '../../src/attest/schemas.ts'
import { readH3 } from '../../src/geometry/h3.ts'
import { findSurplusBlocks, updateKnownBlocks } from '../../src/sync/chain-position.ts'
import { decodeAggregate, decodeAttestation, encodeAggregate, MULTICALL3 } from '../../src/sync/eas-attestations.ts'
import { toLocationRecord } from '../../src/sync/location-record.ts'
import { parseBlockLimit, RangeSize } from '../../src/sync/range-size.ts'
import { RpcError } from '../../src/sync/rpc.ts'
import type { Hex } from '../../src/wire/values.ts'

const CONTEXT = { chainId: 84532, chain: 'base-sepolia', blockNumber: 7, maxDataBytes: 10_000 }
const FIELDS = {
  uid: `0x${'11'.repeat(32)}`,
  attester: `0x${'22'.repeat(20)}`,
  recipient: `0x${'33'.repeat(20)}`,
  timeSeconds: 1_750_000_000,
  layout: 'nine-fields',
} as const

function attested(type: string, location: string, changes: { seconds?: bigint; memo?: string } = {}) {
  const data = encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), [
    changes.seconds ?? 1_749_999_000n,
    'EPSG:4326',
    type,
    location,
    ['gps'],
    ['0x00ff'],
    ['text/plain'],
    ['x'],
    changes.memo ?? '',
  ])
  return toLocationRecord({ ...FIELDS, data }, CONTEXT)
}

describe('a location attestation', () => {
  it('becomes a record with the same values', () => {
    expect(attested('geojson-point', '{"type":"Point","coordinates":[0,0]}', { memo: 'a\u0000b' })).toEqual({
      ok: true,
      record: {
        uid: FIELDS.uid,
        chainId: 84532,
        chain: 'base-sepolia',
        prover: FIELDS.attester,
        subject: FIELDS.recipient,
        timeSeconds: 1_750_000_000,
        eventTimeSeconds: 1_749_999_000,
        srs: 'EPSG:4326',
        locationType: 'geojson-point',
        location: '{"type":"Point","coordinates":[0,0]}',
        longitude: 0, // Regression: zero is a valid coordinate (R7).
        latitude: 0,
        bounds: [0, 0, 0, 0],
        recipeTypes: ['gps'],
        recipePayloads: ['AP8='],
        mediaTypes: ['text/plain'],
        mediaData: ['x'],
        memo: 'a\u0000b',
        blockNumber: 7,
      },
    })
  })

  it.each([
    [
      'geojson',
      '{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,2]}}',
      '{"type":"Point","coordinates":[1,2]}',
    ],
    ['coordinate-decimal+lon-lat', '2.5, 48', '{"type":"Point","coordinates":[2.5,48]}'],
    ['coordinate-decimal+lat-lon', '[48, 2.5]', '{"type":"Point","coordinates":[2.5,48]}'],
    ['wkt', ' LINESTRING Z (1 2 3, 4 5 6)', '{"type":"LineString","coordinates":[[1,2],[4,5]]}'],
    ['ewkb', '0101000020e6100000000000000000f03f0000000000000040', '{"type":"Point","coordinates":[1,2]}'],
    ['geohash', 's', '{"type":"Polygon","coordinates":[[[0,0],[45,0],[45,45],[0,45],[0,0]]]}'],
    ['h3-index', '8a2a1072b59ffff', JSON.stringify(readH3('8a2a1072b59ffff', []))],
    [
      'geojson-point',
      ' {"type":"Point","coordinates":[1,2],"note":"\\ud800"} ',
      '{"type":"Point","coordinates":[1,2],"note":"\\ud800"}',
    ],
  ])('of type %s is read: %s', (type, location, text) => {
    expect(attested(type, location)).toMatchObject({ ok: true, record: { location: text } })
  })

  it.each([
    [
      'location',
      'what3words',
      'filled.count.soap',
      'the location: is text of type "what3words", which is not supported',
    ],
    ['location', 'geojson-point', '{"type":', 'the location: is not valid JSON'],
    [
      'location',
      'geojson-point',
      '{"type":"Point","coordinates":[200,0]}',
      'the location has longitude 200, outside -180..180',
    ],
    ['location', 'coordinate-decimal+lon-lat', 'NaN, 3', 'the location: is not two decimal numbers'],
    ['location', 'wkt', 'POINT(1)', 'the location: at character 8: expected a number, found ")"'],
    [
      'location',
      'wkt',
      'POINT EMPTY',
      'the location: at character 7: the geometry is empty; empty geometries have no location',
    ],
    ['location', 'h3', '8a2a1072b59fff', 'the location: is not an H3 cell'],
    ['location', 'geohash', 'ailo', 'the location: has "a", which is not a geohash character'],
    ['location', 'wkb', '0101', 'the location: at byte 0: the data ends after 2 of 5 bytes'],
    [
      'location',
      'geojson-point',
      '{"type":"Point","coordinates":[1e999,0]}',
      'the location has a position that is not two to four finite numbers',
    ],
  ])('is quarantined for its %s: %s %s', (stage, type, location, reason) => {
    expect(attested(type, location)).toEqual({ ok: false, stage, reason })
  })

  it('is quarantined when its time is invalid, or its data is invalid or too large', () => {
    expect(
      attested('geojson-point', '{"type":"Point","coordinates":[0,0]}', { seconds: 2n ** 256n - 1n }),
    ).toMatchObject({ stage: 'time' })
    expect(toLocationRecord({ ...FIELDS, data: '0x1234' }, CONTEXT)).toMatchObject({ stage: 'data' })
    expect(attested('geojson-point', 'x'.repeat(20_000))).toMatchObject({ stage: 'size' })
  })
})

describe('the known blocks', () => {
  const blocks = Array.from({ length: 5000 }, (_, index) => ({
    number: index * 3,
    hash: `0x${index.toString(16)}` as Hex,
  })).reverse()

  it('keeps every block that is not final, and ever fewer of the older ones', () => {
    const surplus = new Set(findSurplusBlocks(blocks, 14_000))
    const kept = blocks.filter(({ number }) => !surplus.has(number)).map(({ number }) => number)
    expect(kept.filter((number) => number > 14_000)).toHaveLength(blocks.filter(({ number }) => number > 14_000).length)
    expect(kept.at(-1)).toBe(0)
    const final = kept.filter((number) => number <= 14_000)
    expect(final.length).toBeLessThan(100)
    // At any depth, the gap to the next block is at most a quarter of the distance to the final block.
    for (let index = 1; index < final.length; index++) {
      expect(final[index - 1]! - final[index]!).toBeLessThanOrEqual(Math.max(6, (14_000 - final[index]!) / 4))
    }
  })

  it('has one block for each number, the newest', () => {
    const knownBlocks = updateKnownBlocks(
      [{ number: 2, hash: '0xa' }],
      [
        { number: 2, hash: '0xb' },
        { number: 3, hash: '0xc' },
      ],
      [],
    )
    expect(knownBlocks).toEqual([
      { number: 3, hash: '0xc' },
      { number: 2, hash: '0xb' },
    ])
  })
})

describe('the width of a block range', () => {
  // Error texts of RPC providers, collected from their documentation and from issues about them.
  it.each([
    ['Query returned more than 10000 results. Try with this block range [0x64, 0x96].', 51],
    ['Log response size exceeded. Based on your parameters, this block range should work: [0x64, 0xc7]', 100],
    ['eth_getLogs is limited to a 10,000 range', 10_000],
    ['eth_getLogs range is too large, max is 1k blocks', 1000],
    ['block range is too wide, up to a 800 block range', 800],
    ['Max range: 2048', 2048],
    ['something else', undefined],
  ])('is parsed from the message of the endpoint: %s', (message, blocks) => {
    expect(parseBlockLimit(100, message)).toBe(blocks)
  })

  it('is halved without a hint, doubled when responses are short, and never above the limit', () => {
    const size = new RangeSize(8000)
    const tooWide = new RpcError('x', { code: -32005, endpointMessage: 'query returned more than 10000 results' })
    expect(size.shrink(0, 2000, tooWide)).toBe(true)
    expect(size.blocks).toBe(1000)
    for (let round = 0; round < 10; round++) size.grow(size.blocks, 0)
    expect(size.blocks).toBe(8000)
    size.grow(8000, 5000)
    expect(size.blocks).toBe(8000)
  })

  it('stays the same after an error with another cause', () => {
    const size = new RangeSize(8000)
    expect(size.shrink(0, 2000, new RpcError('x', { code: -32005, endpointMessage: 'rate limit exceeded' }))).toBe(
      false,
    )
    expect(size.shrink(0, 1, new RpcError('x', { code: -32005, endpointMessage: 'too many results' }))).toBe(false)
    expect(size.shrink(0, 2000, new RpcError('x', { failure: 'silent' }))).toBe(false)
  })
})

describe('an attestation from the contract', () => {
  const FIELDS = parseAbiParameters(
    '(bytes32 uid, bytes32 schema, uint64 time, uint64 expirationTime, uint64 revocationTime, bytes32 refUID, address recipient, address attester, bool revocable, bytes data)',
  )
  const encode = (time: bigint, revocationTime: bigint) => {
    const words = { uid: `0x${'1'.repeat(64)}`, schema: `0x${'2'.repeat(64)}`, refUID: `0x${'0'.repeat(64)}` } as const
    const addresses = { recipient: `0x${'3'.repeat(40)}`, attester: `0x${'4'.repeat(40)}` } as const
    const rest = { expirationTime: 0n, revocable: true, data: '0x1234' } as const
    return encodeAbiParameters(FIELDS, [{ ...words, ...addresses, ...rest, time, revocationTime }])
  }

  it('is decoded as viem encodes it', () => {
    expect(decodeAttestation(encode(1_700_000_000n, 1_700_000_001n))).toMatchObject({
      timeSeconds: 1_700_000_000,
      revocationTimeSeconds: 1_700_000_001,
      data: '0x1234',
    })
  })

  // Regression: the UID does not cover the time of revocation, and a time beyond 2⁵³ was passed on to the store.
  it.each([
    [2n ** 63n, 0n],
    [1_700_000_000n, 2n ** 63n],
  ])('is rejected with the times %d and %d', (time, revocationTime) => {
    expect(decodeAttestation(encode(time, revocationTime))).toBeUndefined()
  })
})

describe('aggregated calls', () => {
  const target: Hex = '0x4200000000000000000000000000000000000021'
  const calls = ['a3112a64'.padEnd(72, '1'), 'a3112a64'.padEnd(72, '2'), 'ab']

  it('are encoded as by viem', () => {
    const decoded = decodeFunctionData({ abi: multicall3Abi, data: encodeAggregate(target, calls) })
    expect(decoded.args).toEqual([calls.map((call) => ({ target, allowFailure: true, callData: `0x${call}` }))])
    expect(MULTICALL3).toMatch(/^0x[0-9a-f]{40}$/)
  })

  it('are decoded as viem encodes them, and never beyond their end', () => {
    const response = encodeFunctionResult({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      result: [
        { success: true, returnData: `0x${'ab'.repeat(100)}` },
        { success: false, returnData: '0x1234' },
        { success: true, returnData: '0x' },
      ],
    })
    expect(decodeAggregate(response, 3)).toEqual([`0x${'ab'.repeat(100)}`, '0x', '0x'])
    expect(() => decodeAggregate(response, 2)).toThrow(RpcError)
    for (let length = 2; length < response.length - 64; length += 7)
      expect(() => decodeAggregate(response.slice(0, length), 3)).toThrow(RpcError)
    for (const malformed of [null, 5, '0x', 'zz', {}]) expect(() => decodeAggregate(malformed, 3)).toThrow(RpcError)
  })
})
