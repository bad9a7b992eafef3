import { keccak256, recoverTypedDataAddress } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { encodeBoolean, encodeMerkleRoot, encodeNumeric } from '../../src/attest/encode.ts'
import { createNonces } from '../../src/attest/nonces.ts'
import { createSigner, type SignerParts } from '../../src/attest/signer.ts'
import type { AnySigningResult, AttestationKind, AttestationPayload, Hex, ResultPayload } from '../../src/messages.ts'
import { createTestSigner, NOW_SECONDS, RECIPIENT, type TestSigner, TTL_SECONDS, ZERO_UID } from '../attest-parts.ts'

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

function refusal(result: AnySigningResult | Promise<AnySigningResult>) {
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
  it('signs for every chain of the table in the layout of its contract', async () => {
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

  it('gives each chain a signature of its own for the same payload', async () => {
    const signatures = await Promise.all(
      [...parts.chains.keys()].map(async (chainId) => {
        const result = await parts.signer.sign(payload({ chainId }))
        return result.ok && result.signature
      }),
    )
    expect(new Set(signatures).size).toBe(parts.chains.size)
  })

  it('refuses the schema of another kind of data, whatever its spelling', () => {
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
        else expect(refusal(result)).toMatchObject({ type: 'invalid-input', detail: expect.stringContaining(other) })
      }
    }
  })

  it('signs under a schema it does not know: main has asked the chain about it', () => {
    expect(parts.signer.sign(payload({ schema: `0x${'77'.repeat(32)}` }))).toMatchObject({ ok: true })
  })

  it('refuses data that is not the one encoding of its kind', () => {
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
      expect(refusal(parts.signer.sign(payload({ data: other }))).type).toBe('internal')
    }
  })

  it('refuses a kind, a chain, a schema or a recipient that is none', () => {
    for (const kind of ['digest', 'toString', '__proto__', 'location']) {
      expect(refusal(parts.signer.sign(payload({ kind: kind as AttestationKind }))).type).toBe('internal')
    }
    expect(refusal(parts.signer.sign(payload({ chainId: 1 })))).toMatchObject({
      type: 'invalid-input',
      places: [{ pointer: '#/chainId' }],
    })
    expect(refusal(parts.signer.sign(payload({ schema: '0x12' }))).type).toBe('invalid-input')
    expect(refusal(parts.signer.sign(payload({ schema: parts.schemas.boolean.toUpperCase() as Hex }))).type).toBe(
      'invalid-input',
    )
    expect(refusal(parts.signer.sign(payload({ recipient: '0x12' }))).type).toBe('invalid-input')
  })

  const signerOf = (given: Pick<SignerParts, 'nonces' | 'nowSeconds'>) => {
    const { secp256k1, keccak, chains } = parts
    const privateKey = Buffer.alloc(32, 1)
    return createSigner({ secp256k1, keccak, privateKey, chains, schemaKinds: new Map(), ttlSeconds: 60, ...given })
  }

  it('gives a sequence one deadline, also when a second ends while it is signed', async () => {
    let seconds = NOW_SECONDS
    const signer = signerOf({
      nonces: { get: () => ({ ok: true, nonce: 7, source: 'chain' }) },
      nowSeconds: () => seconds++,
    })
    const items = [payload(), payload(), payload()]
    const signed = await signer.sign({ kind: 'sequence', chainId: items[0]!.chainId, items })
    if (!signed.ok) throw new Error(signed.problem.detail)
    expect(signed.items.map(({ nonce }) => nonce)).toEqual([7, 8, 9])
    expect(signed.items.map(({ deadlineSeconds }) => deadlineSeconds)).toEqual(Array(3).fill(NOW_SECONDS + 60))
  })

  it('refuses a chain whose contracts were found to be others', async () => {
    const signer = signerOf({
      nonces: createNonces({
        read: async () => ({ ok: false, refusal: 'another contract' }),
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
  const types = {
    SignedResult: [
      { name: 'schema', type: 'bytes32' },
      { name: 'recipient', type: 'address' },
      { name: 'dataHash', type: 'bytes32' },
      { name: 'deadline', type: 'uint64' },
      { name: 'salt', type: 'bytes32' },
    ],
  }

  it('is the EIP-712 signature of the attester in a domain without a contract, on every chain', async () => {
    for (const chainId of parts.chains.keys()) {
      const signed = parts.signer.sign(result({ chainId }))
      if (!signed.ok) throw new Error(signed.problem.detail)
      expect(signed).toEqual({ ok: true, signature: signed.signature, deadlineSeconds: NOW_SECONDS + TTL_SECONDS })
      const { schema, recipient, data } = result()
      const recovered = await recoverTypedDataAddress({
        domain: { name: 'GeoResult', version: '1', chainId },
        types,
        primaryType: 'SignedResult',
        message: { schema, recipient, dataHash: keccak256(data), deadline: BigInt(signed.deadlineSeconds), salt },
        signature: signed.signature,
      })
      expect(recovered.toLowerCase()).toBe(parts.signer.address)
    }
  })

  it('is no signature of the attestation of the same data, and the other way round', () => {
    const attested = parts.signer.sign(payload())
    const signed = parts.signer.sign(result())
    expect(attested).toMatchObject({ ok: true, nonce: 0 })
    expect(signed.ok && attested !== signed && 'signature' in attested && attested.signature).not.toBe(
      signed.ok && signed.signature,
    )
  })

  it('differs by its salt alone', () => {
    const first = parts.signer.sign(result())
    const second = parts.signer.sign(result({ salt: `0x${'5b'.repeat(32)}` }))
    expect(first.ok && first.signature).not.toBe(second.ok && second.signature)
    expect(parts.signer.sign(result())).toEqual(first)
  })

  it('is refused for other kinds, other layouts, schemas of other kinds and salts that are none', () => {
    for (const dataKind of ['verify', 'merkle-root', 'result', 'location', '__proto__', undefined]) {
      expect(refusal(parts.signer.sign(result({ dataKind: dataKind as never }))).type).toBe('internal')
    }
    expect(refusal(parts.signer.sign(result({ dataKind: 'numeric' })))).toMatchObject({ type: 'invalid-input' })
    const unknown: Hex = `0x${'77'.repeat(32)}`
    expect(refusal(parts.signer.sign(result({ dataKind: 'numeric', schema: unknown }))).type).toBe('internal')
    expect(refusal(parts.signer.sign(result({ data: `${result().data}00` }))).type).toBe('internal')
    expect(refusal(parts.signer.sign(result({ schema: parts.schemas['merkle-root'] })))).toMatchObject({
      type: 'invalid-input',
      detail: expect.stringContaining('merkle-root'),
    })
    for (const bad of ['0x', `0x${'5A'.repeat(32)}`, `0x${'5a'.repeat(31)}`, undefined]) {
      expect(refusal(parts.signer.sign(result({ salt: bad as Hex }))).type).toBe('internal')
    }
    expect(refusal(parts.signer.sign(result({ chainId: 1 })))).toMatchObject({ places: [{ pointer: '#/chainId' }] })
  })
})
