import { readFileSync } from 'node:fs'
import { encodeAbiParameters, type Hex, parseAbiParameters } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { authenticateOffchain } from '../../src/attest/offchain.ts'
import { DEFAULT_UIDS, LOCATION_STRINGS, NO_RESOLVER, schemaUid } from '../../src/attest/schemas.ts'
import { ProblemError } from '../../src/base/problem.ts'
import { javascriptKeccak } from '../../src/crypto/noble.ts'
import { loadSecp256k1 } from '../../src/crypto/secp256k1.ts'
import { createInputResolver, type InputResolver } from '../../src/service/compute/inputs.ts'
import { createOffchainReader } from '../../src/service/compute/offchain.ts'
import type { ChainClient } from '../../src/threads/chain-client.ts'
import type { OffchainAttestation } from '../../src/types/generated.ts'
import { readInput } from '../../src/validation/input.ts'
import { EIFFEL_TOWER, SQUARE } from '../fixtures.ts'
import {
  ATTESTER,
  attestOffchain,
  CHAINS,
  type JsonAttestation,
  locationData,
  type MakerOptions,
  OTHER_ATTESTER,
  offchainUid,
} from '../offchain-maker.ts'
import { seededRandom } from '../random-geometry.ts'

const NOW_SECONDS = 1_750_000_000
const FOUR = schemaUid(LOCATION_STRINGS['four-strings'], NO_RESOLVER, true, javascriptKeccak())
const CONTEXT = { client: undefined, aborted: false, deadlineMs: Number.POSITIVE_INFINITY }
const OWNER = { account: undefined, missing: new Set<Hex>() }
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const { packages } = JSON.parse(
  readFileSync(new URL('../vectors/offchain-attestations.json', import.meta.url), 'utf8'),
) as { packages: { sig: JsonAttestation; signer: string }[] }
const signedPackages = packages.filter(({ sig }) => sig.version !== 0)

type Revocation = Awaited<ReturnType<ChainClient['offchainRevocation']>>
type Asked = [chainId: number, attester: string, uid: string]

/** What the chain answers, and what it was asked; without an answer there is no RPC. */
let revocation: Revocation | undefined
let asked: Asked[] = []
let resolver: InputResolver
beforeAll(async () => {
  const chainClient = {
    serves: () => revocation !== undefined,
    offchainRevocation: async (...call: Asked) => {
      asked.push(call)
      return revocation!
    },
  } as unknown as ChainClient
  const now = () => NOW_SECONDS * 1000
  const never = () => Promise.reject(new Error('not a part of this test'))
  resolver = createInputResolver({
    chainClient,
    locations: new Map([
      [DEFAULT_UIDS.location, 'nine-fields'],
      [FOUR, 'four-strings'],
    ]),
    readOffchain: await createOffchainReader({ chains: CHAINS, chainClient, now }),
    readProof: never,
    storedShapes: { require: never, readText: never } as never,
    now,
  })
})

/** Resolves `{attestation}` as the service does. `answer` is what the chain answers; without it there is no RPC. */
async function resolve(attestation: unknown, answer?: Revocation) {
  revocation = answer
  asked = []
  const input = readInput({ attestation }, ['from'], 8)
  const { resolved } = await resolver.resolve(84532, [input], CONTEXT, OWNER)
  return resolved[0]!
}

async function problemOf(attestation: unknown, answer?: Revocation) {
  const error = await resolve(attestation, answer).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ProblemError)) throw error ?? new Error(`was accepted: ${JSON.stringify(attestation)}`)
  const { type, detail, invalidParts } = error.data
  const { code, pointer, hint } = invalidParts?.[0] ?? {}
  return { type, detail, code, pointer, hint }
}

const attest = (options: MakerOptions = {}, location: object | string = EIFFEL_TOWER) =>
  attestOffchain(location, { time: BigInt(NOW_SECONDS), ...options })

describe('an off-chain attestation as an input', () => {
  it.each(signedPackages.map((signed) => [signed.sig.version, signed.sig.domain['chainId'], signed] as const))(
    'is accepted as the EAS SDK signs it: version %s for chain %s',
    async (_version, chainId, signed) => {
      const resolved = await resolve(signed)
      expect(resolved).toMatchObject({ field: 'from', ref: signed.sig.uid, uncheckedChainId: Number(chainId) })
      const expected = resolved.locationType === 'geojson-point' ? EIFFEL_TOWER : SQUARE
      expect(JSON.parse(resolved.geometry)).toEqual(expected)
    },
  )

  it('is rejected in version 0, with the version to sign instead', async () => {
    const legacy = packages.filter(({ sig }) => sig.version === 0)
    expect(legacy).toHaveLength(2)
    for (const signed of legacy) {
      const { version: _, ...message } = signed.sig.message
      for (const changed of [signed, { ...signed, sig: { ...signed.sig, message } }])
        expect(await problemOf(changed)).toMatchObject({
          code: 'attestation-version',
          pointer: '#/from/attestation/sig/message/version',
          detail: expect.stringContaining('version 0 (legacy)'),
        })
    }
  })

  it.each([1, 2] as const)(
    'is accepted in each form of version %s that names the signer, as viem signs it',
    async (version) => {
      const { sig, signer } = await attest({ version })
      const { types: _, version: __, ...bare } = sig
      const { r, s, v } = sig.signature
      const withDomainType = {
        ...sig,
        types: {
          ...(sig['types'] as object),
          EIP712Domain: [
            { name: 'name', type: 'string' },
            { name: 'version', type: 'string' },
            { name: 'chainId', type: 'uint256' },
            { name: 'verifyingContract', type: 'address' },
          ],
        },
      }
      const texts = {
        ...sig,
        domain: { ...sig.domain, chainId: '84532' },
        message: { ...sig.message, time: String(NOW_SECONDS), expirationTime: '0' },
      }
      for (const form of [
        { sig, signer },
        { ...sig, signer },
        { ...bare, signer: signer.toLowerCase() },
        { sig: { ...sig, signature: `${r}${s.slice(2)}${v.toString(16)}` }, signer },
        { sig: { ...sig, signature: { r, s, v: v - 27 } }, signer },
        { sig: withDomainType, signer },
        { sig: texts, signer },
        { sig: { ...sig, uid: `0x${sig.uid.slice(2).toUpperCase()}` }, signer },
      ]) {
        expect((await resolve(form)).ref).toBe(sig.uid)
      }
    },
  )

  it('may name any chain without an exception, also one beyond the integers of doubles', async () => {
    const [{ sig, signer }] = signedPackages as [(typeof signedPackages)[number]]
    const chainId = '18446744073709551615'
    const attestation = { ...sig, domain: { ...sig.domain, chainId } } as unknown as OffchainAttestation
    const easAddress = sig.domain['verifyingContract'] as Hex
    const chains = new Map([[Number(chainId), { id: Number(chainId), name: 'stated', easAddress }]])
    const checked = authenticateOffchain(
      { attestation, signer },
      {
        chains,
        keccak: javascriptKeccak(),
        secp256k1: await loadSecp256k1(),
      },
    )
    expect(checked).toMatchObject({ ok: false, check: 'signer' })
  })

  it('takes the version of the domain from the attestation, because contracts and tools name others', async () => {
    const chain = CHAINS.get(8453)!
    for (const easVersion of ['1.0.1', '1.3', '0.26']) {
      const signed = await attest({ chain: { ...chain, easVersion } })
      expect(await resolve(signed)).toMatchObject({ ref: signed.sig.uid, uncheckedChainId: 8453 })
    }
    const signed = await attest({ chain: { ...chain, easVersion: 'latest' } })
    expect(await problemOf(signed)).toMatchObject({ pointer: '#/from/attestation/sig/domain/version' })
  })

  it('has the layout of its schema', async () => {
    const data = encodeAbiParameters(parseAbiParameters(LOCATION_STRINGS['four-strings']), [
      '0.1',
      'EPSG:4326',
      'wkt',
      'POINT(2.2945 48.8584)',
    ])
    expect(await resolve(await attest({ schema: FOUR, data }))).toMatchObject({
      geometry: 'POINT(2.2945 48.8584)',
      locationType: 'wkt',
    })
  })

  it('may be signed up to the clock skew ahead, and until it expires', async () => {
    const signed = async (options: MakerOptions) => attest(options)
    const now = BigInt(NOW_SECONDS)
    expect(await resolve(await signed({ time: now + 300n }))).toHaveProperty('ref')
    expect(await problemOf(await signed({ time: now + 301n }))).toMatchObject({
      code: 'attestation-time',
      pointer: '#/from/attestation/sig/message/time',
    })
    for (const expirationTime of [now + 1n, 2n ** 64n - 1n])
      expect(await resolve(await signed({ expirationTime }))).toHaveProperty('ref')
    for (const expirationTime of [1n, now])
      expect(await problemOf(await signed({ expirationTime }))).toMatchObject({
        code: 'attestation-expired',
        pointer: '#/from/attestation/sig/message/expirationTime',
      })
  })

  it('is asked for at the EAS contract of its chain, and rejected if its signer revoked it', async () => {
    const signed = await attest({ revocable: false })
    expect(await resolve(signed, { ok: true, value: 0n })).not.toHaveProperty('uncheckedChainId')
    expect(asked).toEqual([[84532, ATTESTER.address.toLowerCase(), signed.sig.uid]])
    expect(await problemOf(signed, { ok: true, value: 1_700_000_000n })).toMatchObject({
      type: 'invalid-input',
      code: 'attestation-revoked',
      pointer: '#/from/attestation/sig/uid',
    })
    const down = { ok: false, reason: 'down', cause: 'unreachable' } as const
    expect(await problemOf(signed, down)).toMatchObject({ type: 'internal' })
  })

  it.each([
    ['is no object', () => 'text', '#/from/attestation', 'wrong-type'],
    ['has no message', () => ({ uid: '0x', signature: '0x' }), '#/from/attestation/message', 'missing-member'],
    ['has a sig that is no object', () => ({ sig: 1, signer: '0x' }), '#/from/attestation/sig', 'wrong-type'],
    ['names no signer', async () => (await attest()).sig, '#/from/attestation/signer', 'missing-member'],
    [
      'names no address',
      async () => ({ ...(await attest()), signer: 'me' }),
      '#/from/attestation/signer',
      'wrong-format',
    ],
    [
      'names another signer',
      async () => ({ ...(await attest()), signer: OTHER_ATTESTER.address }),
      '#/from/attestation/signer',
      'attestation-signer',
    ],
    [
      'is for an unknown chain',
      () => attest({ chain: { ...CHAINS.get(84532)!, id: 5 } }),
      '#/from/attestation/sig/domain/chainId',
      'attestation-chain',
    ],
    [
      'is for another contract',
      () => attest({ chain: { ...CHAINS.get(84532)!, easAddress: `0x${'12'.repeat(20)}` } }),
      '#/from/attestation/sig/domain/verifyingContract',
      'attestation-contract',
    ],
    [
      'is for another program',
      () => attest({ domainName: 'EAS' }),
      '#/from/attestation/sig/domain/name',
      'wrong-value',
    ],
    [
      'has an unknown schema',
      () => attest({ schema: DEFAULT_UIDS.numeric }),
      '#/from/attestation/sig/message/schema',
      'attestation-not-a-location',
    ],
    [
      'has data of another layout',
      () => attest({ data: '0x1234' }),
      '#/from/attestation/sig/message/data',
      'attestation-undecodable',
    ],
    [
      'has another reference system',
      () => attest({ data: locationData(EIFFEL_TOWER, 'geojson', 'EPSG:3857') }),
      '#/from/attestation/sig/message/data',
      'attestation-srs',
    ],
    [
      'has an unknown kind of location',
      () => attest({ data: locationData('here', 'address') }),
      '#/from/attestation/sig/message/data',
      'attestation-unknown-location-type',
    ],
  ])('is rejected where it %s', async (_what, make, pointer, code) => {
    expect(await problemOf(await make())).toMatchObject({ type: 'invalid-input', pointer, code })
  })

  it.each([
    [{ data: '0x1234' }, 'encode (uint256 eventTimestamp,string srs,string locationType,string location,'],
    [{ data: locationData('here', 'address') }, 'geojson, wkt, wkb, h3, geohash'],
    [{ data: locationData(EIFFEL_TOWER, 'geojson', 'EPSG:3857') }, 'EPSG:4326'],
  ])('says what to attest in place of %j', async (changes, hint) => {
    expect((await problemOf(await attest(changes as never))).hint).toContain(hint)
  })

  it('is rejected with a sentence that names the limit of a time, and the length of a part of the signature', async () => {
    const { sig, signer } = await attest()
    const time = { sig: { ...sig, message: { ...sig.message, time: '9'.repeat(30) } }, signer }
    expect((await problemOf(time)).detail).toContain('must be below 2^64, the limit of a uint64, found string')
    const { r, s, v } = { r: '0x12', s: `0x${'1'.repeat(64)}`, v: 27 }
    const short = { sig: { ...sig, signature: { r, s, v } }, signer }
    expect((await problemOf(short)).detail).toContain('must be 0x and 64 hex digits, found string "0x12"')
  })

  it('is rejected with its schema in upper case, which would give it a UID that was never revoked', async () => {
    const signed = await attest()
    const message = signed.sig.message
    const schema = `0x${String(message['schema']).slice(2).toUpperCase()}` as Hex
    const uid = offchainUid({
      ...(message as unknown as Parameters<typeof offchainUid>[0]),
      time: BigInt(NOW_SECONDS),
      expirationTime: 0n,
      schema,
    })
    expect(uid).not.toBe(signed.sig.uid)
    const changed = { ...signed, sig: { ...signed.sig, uid, message: { ...message, schema } } }
    expect(await problemOf(changed, { ok: true, value: 0n })).toMatchObject({
      pointer: '#/from/attestation/sig/message/schema',
      detail: expect.stringContaining('lower case'),
    })
  })

  it('is rejected after each of 500 changes', async () => {
    const random = seededRandom(20_261_128)
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!
    const kinds = new Map<string, number>()
    const codes = new Set<string | undefined>()
    for (let count = 0; count < 500; count++) {
      const source = pick(signedPackages)
      const name = MUTATION_NAMES[count % MUTATION_NAMES.length]!
      const changed = structuredClone(source)
      MUTATIONS[name]!(changed, random)
      expect([name, JSON.stringify(changed) !== JSON.stringify(source)]).toEqual([name, true])
      const problem = await problemOf(changed, { ok: true, value: 0n })
      expect([name, problem.type]).toEqual([name, 'invalid-input'])
      expect(problem.pointer).toMatch(/^#\/from\/attestation\//)
      codes.add(problem.code)
      kinds.set(name, (kinds.get(name) ?? 0) + 1)
    }
    expect(kinds.size).toBe(MUTATION_NAMES.length)
    for (const check of ['uid', 'signer', 'signature', 'chain', 'contract', 'types', 'version', 'salt'])
      expect(codes).toContain(`attestation-${check}`)
  })
})

type Package = { sig: JsonAttestation; signer: string }

/** Changes one hex digit of a text after `0x`. */
function changeDigit(text: string, random: () => number): string {
  const at = 2 + Math.floor(random() * (text.length - 2))
  const digit = (Number.parseInt(text[at]!, 16) + 1 + Math.floor(random() * 15)) % 16
  return `${text.slice(0, at)}${digit.toString(16)}${text.slice(at + 1)}`
}

/** Writes the UID that the message has now, as a forger would. */
function repairUid({ sig }: Package): void {
  const message = sig.message as unknown as Parameters<typeof offchainUid>[0]
  sig.uid = offchainUid({
    ...message,
    time: BigInt(message.time),
    expirationTime: BigInt(message.expirationTime),
  })
}

const HEX_FIELDS = ['schema', 'recipient', 'refUID', 'data'] as const

const MUTATIONS: Readonly<Record<string, (signed: Package, random: () => number) => void>> = {
  ...Object.fromEntries(
    HEX_FIELDS.flatMap((name) => [
      [name, ({ sig }: Package, random) => (sig.message[name] = changeDigit(String(sig.message[name]), random))],
      [
        `${name} with its UID`,
        (signed: Package, random) => {
          signed.sig.message[name] = changeDigit(String(signed.sig.message[name]).toLowerCase(), random)
          repairUid(signed)
        },
      ],
      [`${name} cut off`, ({ sig }: Package) => (sig.message[name] = String(sig.message[name]).slice(0, -2))],
      [`${name} missing`, ({ sig }: Package) => delete sig.message[name]],
    ]) as [string, (signed: Package, random: () => number) => void][],
  ),
  time: ({ sig }) => (sig.message['time'] = Number(sig.message['time']) + 1),
  'time with its UID': (signed) => {
    signed.sig.message['time'] = Number(signed.sig.message['time']) - 60
    repairUid(signed)
  },
  'expirationTime with its UID': (signed) => {
    signed.sig.message['expirationTime'] = 4_000_000_000
    repairUid(signed)
  },
  'time past uint64': ({ sig }) => (sig.message['time'] = '18446744073709551616'),
  'negative time': ({ sig }) => (sig.message['time'] = -1),
  'fraction of a second': ({ sig }) => (sig.message['time'] = 1.5),
  'revocable with its UID': (signed) => {
    signed.sig.message['revocable'] = !signed.sig.message['revocable']
    repairUid(signed)
  },
  'a salt added, changed or missing': (signed, random) => {
    const { message } = signed.sig
    if (message['salt'] === undefined) message['salt'] = `0x${'11'.repeat(32)}`
    else if (random() < 0.5) delete message['salt']
    else message['salt'] = changeDigit(String(message['salt']), random)
    repairUid(signed)
  },
  'the other version': (signed) => {
    const { message } = signed.sig
    const version = message['version'] === 1 ? 2 : 1
    signed.sig.version = version
    message['version'] = version
    delete signed.sig['types']
    if (version === 2) message['salt'] = `0x${'00'.repeat(32)}`
    else delete message['salt']
    repairUid(signed)
  },
  'another version outside': ({ sig }) => (sig.version = sig.version === 1 ? 2 : 1),
  'version 0': (signed) => {
    signed.sig.message['version'] = 0
    repairUid(signed)
  },
  'version 3': (signed) => {
    signed.sig.message['version'] = 3
    repairUid(signed)
  },
  types: ({ sig }, random) => {
    const { Attest } = sig['types'] as { Attest: { name: string; type: string }[] }
    const field = Attest[Math.floor(random() * Attest.length)]!
    if (random() < 0.5) field.type = 'uint8'
    else field.name += 'x'
  },
  'types of the other order': ({ sig }) => (sig['types'] as { Attest: unknown[] }).Attest.reverse(),
  'another type': ({ sig }) => ((sig['types'] as Record<string, unknown>)['Permit'] = []),
  'no types': ({ sig }) => (sig['types'] = {}),
  primaryType: ({ sig }) => (sig['primaryType'] = 'Attestation'),
  'a foreign chain': ({ sig }, random) => (sig.domain['chainId'] = 1 + Math.floor(random() * 1000)),
  'another known chain': ({ sig }) => {
    const chain = CHAINS.get(Number(sig.domain['chainId']) === 42161 ? 42220 : 42161)!
    Object.assign(sig.domain, { chainId: chain.id, verifyingContract: chain.easAddress })
  },
  'another contract': ({ sig }, random) =>
    (sig.domain['verifyingContract'] = changeDigit(String(sig.domain['verifyingContract']), random)),
  'another version of the domain': ({ sig }) => (sig.domain['version'] = '9.9.9'),
  'another name of the domain': ({ sig }) => (sig.domain['name'] = 'EAS'),
  uid: ({ sig }, random) => (sig.uid = changeDigit(sig.uid, random)),
  'uid cut off': ({ sig }) => (sig.uid = sig.uid.slice(0, -2)),
  r: ({ sig }, random) => (sig.signature.r = changeDigit(sig.signature.r, random)),
  s: ({ sig }, random) => (sig.signature.s = changeDigit(sig.signature.s, random)),
  'the other v': ({ sig }) => (sig.signature.v = 55 - sig.signature.v),
  'a v of another kind': ({ sig }) => (sig.signature.v = 2),
  'a high s': ({ sig }) => {
    sig.signature.s = `0x${(ORDER - BigInt(sig.signature.s)).toString(16).padStart(64, '0')}`
    sig.signature.v = 55 - sig.signature.v
  },
  's cut off': ({ sig }) => (sig.signature.s = sig.signature.s.slice(0, -2)),
  'an r of 0': ({ sig }) => (sig.signature.r = `0x${'0'.repeat(64)}`),
  'another signer': (signed) => (signed.signer = OTHER_ATTESTER.address),
  'a changed signer': (signed, random) => (signed.signer = changeDigit(signed.signer, random)),
  'no signer': (signed) => delete (signed as Partial<Package>).signer,
  'no signature': ({ sig }) => delete (sig as Partial<JsonAttestation>).signature,
  'no domain': ({ sig }) => delete (sig as Partial<JsonAttestation>).domain,
}
const MUTATION_NAMES = Object.keys(MUTATIONS)
