import { keccak256, recoverTypedDataAddress } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { encodeBoolean, encodeMerkleRoot, encodeNumeric } from '../../src/attest/data.ts'
import { createNonces } from '../../src/attest/nonces.ts'
import { createSigner, type SignerParts } from '../../src/attest/signer.ts'
import type { AnySigningResult, AttestationPayload, ResultPayload } from '../../src/wire/signing-messages.ts'
import type { AttestationKind, Hex } from '../../src/wire/values.ts'
import {
  createTestSigner,
  NOW_SECONDS,
  RECIPIENT,
  SIGNED_RESULT_TYPES,
  type TestSigner,
  TTL_SECONDS,
  ZERO_UID,
} from '../attest-parts.ts'

let parts: TestSigner
beforeAll(async () => {
  parts = await createTestSigner()
})

function payload(changes: Partial<AttestationPayload> = {}): AttestationPayload {
  return {
    kind: 'boolean',
    chainId: 84532,
    schema: parts.schemas.boolean,
    recipient: RECIPIENT,
    data: encodeBoolean(true, [ZERO_UID], NOW_SECONDS, 'contains'),
    ...changes,
  }
}

function rejection(result: AnySigningResult | Promise<AnySigningResult>) {
  if (result instanceof Promise || result.ok) throw new Error('was signed')
  return result.problem
}

const TYPES = {
  legacy:
    'bytes32 schema,address recipient,uint64 expirationTime,bool revocable,bytes32 refUID,bytes data,uint256 nonce',
  v1: 'bytes32 schema,address recipient,uint64 expirationTime,bool revocable,bytes32 refUID,bytes data,uint256 value,uint256 nonce,uint64 deadline',
  v2: 'address attester,bytes32 schema,address recipient,uint64 expirationTime,bool revocable,bytes32 refUID,bytes data,uint256 value,uint256 nonce,uint64 deadline',
}

describe('the signer', () => {
  it('signs for every chain of the table with the types of its contract', async () => {
    for (const { id, profile, easVersion, easAddress } of parts.chains.values()) {
      const result = await parts.signer.sign(payload({ chainId: id }))
      if (!result.ok) throw new Error(result.problem.detail)
      expect(result).toMatchObject({ nonce: 0, nonceSource: 'default', deadlineSeconds: NOW_SECONDS + TTL_SECONDS })
      expect(result.signature).toMatch(/^0x[0-9a-f]{128}1[bc]$/)
      const fields = TYPES[profile]
        .split(',')
        .map((field) => ({ type: field.split(' ')[0]!, name: field.split(' ')[1]! }))
      const recovered = await recoverTypedDataAddress({
        domain: { name: 'EAS', version: easVersion, chainId: id, verifyingContract: easAddress },
        types: { Attest: fields },
        primaryType: 'Attest',
        message: {
          ...payload(),
          attester: parts.signer.address,
          expirationTime: 0n,
          revocable: true,
          refUID: ZERO_UID,
          value: 0n,
          nonce: 0n,
          deadline: BigInt(result.deadlineSeconds),
        },
        signature: result.signature,
      })
      expect(recovered.toLowerCase()).toBe(parts.signer.address)
    }
  })

  it('gives each chain a different signature for the same payload', async () => {
    const signatures = await Promise.all(
      [...parts.chains.keys()].map(async (chainId) => {
        const result = await parts.signer.sign(payload({ chainId }))
        return result.ok && result.signature
      }),
    )
    expect(new Set(signatures).size).toBe(parts.chains.size)
  })

  it('rejects the schema of another kind of data, in any spelling', () => {
    const numericData = encodeNumeric(1n, 'centimeters', [], NOW_SECONDS, 'distance')
    const data: Record<AttestationKind, Hex> = {
      numeric: numericData,
      boolean: payload().data,
      verify: `0x${'0'.repeat(11 * 64)}`,
      'merkle-root': encodeMerkleRoot({ merkleRoot: ZERO_UID, leafCount: 1, timestampSeconds: NOW_SECONDS }),
    }
    for (const kind of ['numeric', 'boolean', 'verify', 'merkle-root'] as const) {
      for (const other of ['numeric', 'boolean', 'verify', 'merkle-root', 'location'] as const) {
        const result = parts.signer.sign(payload({ kind, data: data[kind], schema: parts.schemas[other] }))
        if (kind === other) expect(result).toMatchObject({ ok: true })
        else expect(rejection(result)).toMatchObject({ type: 'invalid-input', detail: expect.stringContaining(other) })
      }
    }
  })

  it('signs under an unknown schema, because the main thread has already looked it up on the chain', () => {
    expect(parts.signer.sign(payload({ schema: `0x${'77'.repeat(32)}` }))).toMatchObject({ ok: true })
  })

  it('rejects data that is not the canonical encoding of its kind', () => {
    const { data } = payload()
    const numericData = encodeNumeric(1n, 'centimeters', [], NOW_SECONDS, 'distance')
    const others: Hex[] = [
      '0x',
      `${data}00`,
      `${data}${'0'.repeat(64)}`,
      data.slice(0, -64) as Hex,
      numericData,
      `0x${'00'.repeat(32)}`,
    ]
    for (const other of others) {
      expect(rejection(parts.signer.sign(payload({ data: other }))).type).toBe('internal')
    }
  })

  it('rejects an unknown kind or chain and an invalid schema or recipient', () => {
    for (const kind of ['digest', 'toString', '__proto__', 'location']) {
      expect(rejection(parts.signer.sign(payload({ kind: kind as AttestationKind }))).type).toBe('internal')
    }
    expect(rejection(parts.signer.sign(payload({ chainId: 1 })))).toMatchObject({
      type: 'invalid-input',
      invalidParts: [{ pointer: '#/chainId' }],
    })
    expect(rejection(parts.signer.sign(payload({ schema: '0x12' }))).type).toBe('invalid-input')
    expect(rejection(parts.signer.sign(payload({ schema: parts.schemas.boolean.toUpperCase() as Hex }))).type).toBe(
      'invalid-input',
    )
    expect(rejection(parts.signer.sign(payload({ recipient: '0x12' }))).type).toBe('invalid-input')
  })

  const createTestSigner = (overrides: Pick<SignerParts, 'nonces' | 'nowSeconds'>) => {
    const { secp256k1, keccak, chains } = parts
    const privateKey = Buffer.alloc(32, 1)
    return createSigner({ secp256k1, keccak, privateKey, chains, schemaKinds: new Map(), ttlSeconds: 60, ...overrides })
  }

  it('gives all items of a sequence one deadline, even when the second changes while they are signed', async () => {
    let seconds = NOW_SECONDS
    const signer = createTestSigner({
      nonces: { get: () => ({ ok: true, nonce: 7, source: 'chain' }) },
      nowSeconds: () => seconds++,
    })
    const items = [payload(), payload(), payload()]
    const signed = await signer.sign({ kind: 'sequence', chainId: items[0]!.chainId, items })
    if (!signed.ok) throw new Error(signed.problem.detail)
    expect(signed.items.map(({ nonce }) => nonce)).toEqual([7, 8, 9])
    expect(signed.items.map(({ deadlineSeconds }) => deadlineSeconds)).toEqual(Array(3).fill(NOW_SECONDS + 60))
  })

  it('rejects payloads for a chain whose contracts are not the expected ones', async () => {
    const signer = createTestSigner({
      nonces: createNonces({
        read: async () => ({ ok: false, refusalReason: 'another contract' }),
        readable: new Set([84532]),
        maxAgeMs: 1000,
        timeoutMs: 1000,
        now: () => 0,
        after: () => {},
      }),
      nowSeconds: () => NOW_SECONDS,
    })
    expect(await signer.sign(payload())).toMatchObject({
      ok: false,
      problem: { detail: expect.stringContaining('another contract') },
    })
    expect(await signer.sign(payload({ chainId: 8453 }))).toMatchObject({ ok: true })
  })
})

describe('a result signed without a nonce', () => {
  const salt: Hex = `0x${'5a'.repeat(32)}`
  function result(changes: Partial<ResultPayload> = {}): ResultPayload {
    return { ...payload(), kind: 'result', dataKind: 'boolean', salt, ...changes }
  }

  it('is the EIP-712 signature of the attester in a domain without a contract, on every chain', async () => {
    for (const chainId of parts.chains.keys()) {
      const signed = parts.signer.sign(result({ chainId }))
      if (!signed.ok) throw new Error(signed.problem.detail)
      expect(signed).toEqual({ ok: true, signature: signed.signature, deadlineSeconds: NOW_SECONDS + TTL_SECONDS })
      const { schema, recipient, data } = result()
      const recovered = await recoverTypedDataAddress({
        domain: { name: 'GeoResult', version: '1', chainId },
        types: SIGNED_RESULT_TYPES,
        primaryType: 'SignedResult',
        message: { schema, recipient, dataHash: keccak256(data), deadline: BigInt(signed.deadlineSeconds), salt },
        signature: signed.signature,
      })
      expect(recovered.toLowerCase()).toBe(parts.signer.address)
    }
  })

  it('does not pass as a signature of the attestation with the same data, nor the reverse', () => {
    const attested = parts.signer.sign(payload())
    const signed = parts.signer.sign(result())
    expect(attested).toMatchObject({ ok: true, nonce: 0 })
    expect(signed.ok && attested !== signed && 'signature' in attested && attested.signature).not.toBe(
      signed.ok && signed.signature,
    )
  })

  it('differs only by its salt', () => {
    const first = parts.signer.sign(result())
    const second = parts.signer.sign(result({ salt: `0x${'5b'.repeat(32)}` }))
    expect(first.ok && first.signature).not.toBe(second.ok && second.signature)
    expect(parts.signer.sign(result())).toEqual(first)
  })

  it('is rejected for other kinds, other layouts, schemas of other kinds and invalid salts', () => {
    for (const dataKind of ['verify', 'merkle-root', 'result', 'location', '__proto__', undefined]) {
      expect(rejection(parts.signer.sign(result({ dataKind: dataKind as never }))).type).toBe('internal')
    }
    expect(rejection(parts.signer.sign(result({ dataKind: 'numeric' })))).toMatchObject({ type: 'invalid-input' })
    const unknown: Hex = `0x${'77'.repeat(32)}`
    expect(rejection(parts.signer.sign(result({ dataKind: 'numeric', schema: unknown }))).type).toBe('internal')
    expect(rejection(parts.signer.sign(result({ data: `${result().data as Hex}00` }))).type).toBe('internal')
    expect(rejection(parts.signer.sign(result({ schema: parts.schemas['merkle-root'] })))).toMatchObject({
      type: 'invalid-input',
      detail: expect.stringContaining('merkle-root'),
    })
    for (const bad of ['0x', `0x${'5A'.repeat(32)}`, `0x${'5a'.repeat(31)}`, undefined]) {
      expect(rejection(parts.signer.sign(result({ salt: bad as Hex }))).type).toBe('internal')
    }
    expect(rejection(parts.signer.sign(result({ chainId: 1 })))).toMatchObject({
      invalidParts: [{ pointer: '#/chainId' }],
    })
  })
})
