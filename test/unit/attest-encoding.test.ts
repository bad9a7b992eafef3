import { randomBytes, randomInt } from 'node:crypto'
import { encodeAbiParameters, getAddress, hashTypedData, keccak256, parseAbiParameters, toHex } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Chain, chainTable } from '../../src/attest/chains.ts'
import { decodeBoolean, decodeNumeric, decodeVerify } from '../../src/attest/decode.ts'
import { encodeBoolean, encodeMerkleRoot, encodeNumeric, encodeVerify } from '../../src/attest/encode.ts'
import {
  LOCATION_STRINGS,
  locationSchemas,
  SCHEMA_KINDS,
  SCHEMA_STRINGS,
  schemaKinds,
  schemaUid,
  schemaUids,
} from '../../src/attest/schemas.ts'
import { ATTEST_TYPES, attestTypeHash, createAttestDigest } from '../../src/attest/typed-data.ts'
import { readConfig } from '../../src/config/config.ts'
import { ConfigError } from '../../src/config/setting.ts'
import { checksumAddress } from '../../src/crypto/address.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import type { Hex } from '../../src/wire/values.ts'

const randomHex = (bytes: number): Hex => `0x${randomBytes(bytes).toString('hex')}`
const randomText = () => ['distance', 'within:50000', '', 'ünïcödé 北京', 'x'.repeat(randomInt(100))][randomInt(5)]!
const randomRefs = () => Array.from({ length: randomInt(5) }, () => randomHex(32))
const randomSeconds = () => randomInt(2 ** 47)

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

describe('attestation data', () => {
  it('equals the ABI encoding of viem for 300 random numeric results, and decodes back', () => {
    const parameters = parseAbiParameters(SCHEMA_STRINGS.numeric)
    for (let round = 0; round < 300; round++) {
      const result = BigInt(randomHex(randomInt(1, 33)))
      const [units, refs, time, operation] = [randomText(), randomRefs(), randomSeconds(), randomText()]
      const data = encodeNumeric(result, units, refs, time, operation)
      expect(data).toBe(encodeAbiParameters(parameters, [result, units, refs, BigInt(time), operation]))
      expect(decodeNumeric(data)).toEqual({
        ok: true,
        value: { result, units, inputRefs: refs, timestampSeconds: BigInt(time), operation },
      })
    }
  })

  it('equals the ABI encoding of viem for 300 random truth values, and decodes back', () => {
    const parameters = parseAbiParameters(SCHEMA_STRINGS.boolean)
    for (let round = 0; round < 300; round++) {
      const result = randomInt(2) === 1
      const [refs, time, operation] = [randomRefs(), randomSeconds(), randomText()]
      const data = encodeBoolean(result, refs, time, operation)
      expect(data).toBe(encodeAbiParameters(parameters, [result, refs, BigInt(time), operation]))
      expect(decodeBoolean(data)).toEqual({
        ok: true,
        value: { result, inputRefs: refs, timestampSeconds: BigInt(time), operation },
      })
    }
  })

  it('equals the ABI encoding of viem for 300 random verifications, and decodes back', () => {
    const parameters = parseAbiParameters(SCHEMA_STRINGS.verify)
    for (let round = 0; round < 300; round++) {
      const value = {
        proofHash: randomHex(32),
        meanDistanceMeters: randomInt(2 ** 32),
        maxDistanceMeters: randomInt(2 ** 32),
        withinRadiusBp: randomInt(2 ** 16),
        meanOverlapBp: randomInt(2 ** 16),
        minOverlapBp: randomInt(2 ** 16),
        signaturesValidBp: randomInt(2 ** 16),
        structureValidBp: randomInt(2 ** 16),
        signalsConsistentBp: randomInt(2 ** 16),
        uniquePluginRatioBp: randomInt(2 ** 16),
        stampCount: randomInt(2 ** 8),
      }
      const data = encodeVerify(value)
      expect(data).toBe(encodeAbiParameters(parameters, Object.values(value) as never))
      expect(decodeVerify(data)).toEqual({ ok: true, value })
    }
  })

  it('rejects values that do not fit their field', () => {
    expect(() => encodeNumeric(2n ** 256n, 'centimeters', [], 0, '')).toThrow(RangeError)
    expect(() => encodeNumeric(-1n, 'centimeters', [], 0, '')).toThrow(RangeError)
    expect(() => encodeBoolean(true, ['0x12'], 0, '')).toThrow(RangeError)
    expect(() => encodeBoolean(true, [], 1.5, '')).toThrow(RangeError)
    const zero = Object.fromEntries(SCHEMA_STRINGS.verify.split(',').map((field) => [field.split(' ')[1], 0]))
    const full = { ...zero, proofHash: randomHex(32) } as unknown as Parameters<typeof encodeVerify>[0]
    expect(() => encodeVerify(full)).not.toThrow()
    expect(() => encodeVerify({ ...full, proofHash: randomHex(20) })).toThrow(RangeError)
    expect(() => encodeMerkleRoot({ merkleRoot: randomHex(20), leafCount: 1, timestampSeconds: 1 })).toThrow(RangeError)
    expect(() => encodeVerify({ ...full, stampCount: 256 })).toThrow(/stampCount/)
    expect(() => encodeVerify({ ...full, meanOverlapBp: 65_536 })).toThrow(/meanOverlapBp/)
  })
})

describe('typed data', () => {
  // Read from the deployed contracts' `getAttestTypeHash()`; the on-chain tests read them again.
  const TYPE_HASHES = {
    legacy: '0xdbfdf8dc2b135c26253e00d5b6cbe6f20457e003fd526d97cea183883570de61',
    v1: '0xf83bb2b0ede93a840239f7e701a54d9bc35f03701f51ae153d601c6947ff3d3f',
    v2: '0xfeb2925a02bae3dae48d424a0437a2b6ac939aa9230ddc55a1a76f065d988076',
  } as const

  it.each(['legacy', 'v1', 'v2'] as const)('has the type hash of the %s contracts', (profile) => {
    expect(toHex(attestTypeHash(profile, keccak))).toBe(TYPE_HASHES[profile])
  })

  it.each(['legacy', 'v1', 'v2'] as const)('computes the same digest as viem for 300 random %s messages', (profile) => {
    const types = readTypes(profile)
    for (let round = 0; round < 300; round++) {
      const chain = {
        id: randomInt(1, 2 ** 47),
        profile,
        easVersion: `1.${randomInt(9)}.0`,
        easAddress: checksumAddress(randomHex(20)) as Hex,
      }
      const digest = createAttestDigest(chain, keccak)
      const message = {
        attester: randomHex(20),
        schema: randomHex(32),
        recipient: checksumAddress(randomHex(20)) as Hex,
        expirationTimeSeconds: randomSeconds(),
        revocable: randomInt(2) === 1,
        refUID: randomHex(32),
        data: randomBytes(randomInt(500)),
        nonce: randomInt(2 ** 47),
        deadlineSeconds: randomSeconds(),
      }
      const expected = hashTypedData({
        domain: { name: 'EAS', version: chain.easVersion, chainId: chain.id, verifyingContract: chain.easAddress },
        types: { Attest: types },
        primaryType: 'Attest',
        message: {
          ...message,
          data: toHex(message.data),
          expirationTime: BigInt(message.expirationTimeSeconds),
          value: 0n,
          nonce: BigInt(message.nonce),
          deadline: BigInt(message.deadlineSeconds),
        },
      })
      expect(toHex(digest(message))).toBe(expected)
      // Nothing of the previous message may remain in the shared buffer.
      expect(toHex(digest({ ...message, nonce: 0 }))).not.toBe(expected)
      expect(toHex(digest(message))).toBe(expected)
    }
  })

  function readTypes(profile: Chain['profile']) {
    const fields = ATTEST_TYPES[profile].slice('Attest('.length, -1).split(',')
    return fields.map((field) => ({ type: field.split(' ')[0]!, name: field.split(' ')[1]! }))
  }
})

describe('schemas', () => {
  it('have the UIDs that EAS computes for the schema strings', () => {
    const uids = schemaUids(readConfig({}, 2))
    for (const kind of SCHEMA_KINDS) {
      // keccak256(abi.encodePacked(string, address, bool)) by viem.
      const packed = `${toHex(SCHEMA_STRINGS[kind])}${'00'.repeat(20)}01` as Hex
      expect(uids[kind]).toBe(keccak256(packed))
      expect(schemaUid(SCHEMA_STRINGS[kind], `0x${'0'.repeat(40)}`, true, keccak)).toBe(uids[kind])
    }
    expect(uids.location).toBe('0xba4171c92572b1e4f241d044c32cdf083be9fd946b8766977558ca6378c824e2')
  })

  it('know the kind of configured UIDs and of other spellings of the strings', () => {
    const ownUid = randomHex(32)
    const kinds = schemaKinds(readConfig({ NUMERIC_SCHEMA_UID: ownUid }, 2))
    expect(kinds.get(ownUid)).toBe('numeric')
    expect(kinds.get(schemaUids(readConfig({}, 2)).numeric)).toBe('numeric')
    const spaced = schemaUid(SCHEMA_STRINGS.boolean.replaceAll(',', ', '), `0x${'0'.repeat(40)}`, false, keccak)
    expect(kinds.get(spaced)).toBe('boolean')
  })

  it('have a list of location schemas, each with the layout that follows from its UID or its entry', () => {
    const [ownUid, other] = [randomHex(32), randomHex(32)]
    const four = schemaUid(LOCATION_STRINGS['four-strings'], `0x${'0'.repeat(40)}`, false, keccak)
    const { location } = schemaUids(readConfig({}, 2))
    const readLocationSchemas = (text: string) => [...locationSchemas(readConfig({ LOCATION_SCHEMA_UID: text }, 2))]
    expect(readLocationSchemas('')).toEqual([[location, 'nine-fields']])
    expect(readLocationSchemas(`${ownUid}, ${four},${other}:four-strings,${location}:nine-fields`)).toEqual([
      [ownUid, 'nine-fields'],
      [four, 'four-strings'],
      [other, 'four-strings'],
      [location, 'nine-fields'],
    ])
    expect(schemaUids(readConfig({ LOCATION_SCHEMA_UID: `${ownUid},${four}` }, 2)).location).toBe(ownUid)
    const kinds = schemaKinds(readConfig({ LOCATION_SCHEMA_UID: `${ownUid},${other}:four-strings` }, 2))
    for (const uid of [ownUid, other, four, location]) expect(kinds.get(uid)).toBe('location')
    for (const text of [`${four}:nine-fields`, `${location}:four-strings`])
      expect(() => readLocationSchemas(text)).toThrow(/layout/)
    for (const text of [`${ownUid}:v1`, '0x12', `${ownUid} ${other}`, `${ownUid},${ownUid}`]) {
      expect(() => readLocationSchemas(text), text).toThrow(ConfigError)
    }
  })

  it('reject a configuration in which one UID has two kinds', () => {
    const { numeric } = schemaUids(readConfig({}, 2))
    expect(() => schemaKinds(readConfig({ BOOLEAN_SCHEMA_UID: numeric }, 2))).toThrow(ConfigError)
  })
})

describe('chains', () => {
  it('are five public ones and a local one, without RPC', () => {
    const chains = chainTable(readConfig({}, 2))
    expect([...chains.keys()].sort((a, b) => a - b)).toEqual([8453, 31337, 42161, 42220, 84532, 11155111])
    for (const { easAddress, schemaRegistryAddress, rpcUrls } of chains.values()) {
      expect(easAddress).toBe(getAddress(easAddress.toLowerCase()))
      expect(schemaRegistryAddress).toBe(getAddress(schemaRegistryAddress.toLowerCase()))
      expect(rpcUrls).toEqual([])
    }
  })

  it('use the settings of the operator, and derive the version from the profile and the profile from the version', () => {
    const address = randomHex(20)
    const environment = { RPC_URL_84532: 'http://a,http://b', EAS_ADDRESS_8453: address, EAS_VERSION_8453: '1.0.1' }
    const chains = chainTable(readConfig({ ...environment, EAS_PROFILE_42161: 'v2', EAS_VERSION_31337: '1.4.0' }, 2))
    expect(chains.get(84532)).toMatchObject({ rpcUrls: ['http://a', 'http://b'], profile: 'v1', easVersion: '1.2.0' })
    expect(chains.get(8453)).toMatchObject({ easAddress: getAddress(address), profile: 'legacy', easVersion: '1.0.1' })
    expect(chains.get(42161)).toMatchObject({ profile: 'v2', easVersion: '1.3.0' })
    expect(chains.get(31337)).toMatchObject({ profile: 'v2', easVersion: '1.4.0' })
  })

  it('include another chain if all its settings are given, and reject it otherwise', () => {
    const complete = { EAS_ADDRESS_10: randomHex(20), SCHEMA_REGISTRY_10: randomHex(20), EAS_VERSION_10: '1.0.1' }
    expect(chainTable(readConfig(complete, 2)).get(10)).toMatchObject({ id: 10, name: 'chain-10', profile: 'legacy' })
    for (const name of Object.keys(complete)) {
      expect(() => chainTable(readConfig({ ...complete, [name]: '' }, 2)), name).toThrow(ConfigError)
    }
    expect(() => chainTable(readConfig({ RPC_URL_10: 'http://a' }, 2))).toThrow(/EAS_ADDRESS_10/)
    expect(() => chainTable(readConfig({ EAS_VERSION_8453: 'newest' }, 2))).toThrow(ConfigError)
  })
})

describe('checksumAddress', () => {
  it('spells 300 random addresses as viem does, in any case', () => {
    for (let round = 0; round < 300; round++) {
      const address = randomHex(20)
      expect(checksumAddress(address)).toBe(getAddress(address))
      expect(checksumAddress(`0x${address.slice(2).toUpperCase()}`)).toBe(getAddress(address))
    }
    expect(checksumAddress(`0x${'0'.repeat(40)}`)).toBe(getAddress(`0x${'0'.repeat(40)}`))
  })

  it('rejects text that is not an address', () => {
    for (const text of ['', '0x', `0x${'0'.repeat(41)}`, `0x${'g'.repeat(40)}`]) {
      expect(() => checksumAddress(text)).toThrow(RangeError)
    }
  })
})
