import { beforeAll, describe, expect, it } from 'vitest'
import { encodeBoolean, encodeMerkleRoot, encodeNumeric } from '../../src/attest/data.ts'
import { schemaKinds } from '../../src/attest/schemas.ts'
import { type ProblemData, ProblemError } from '../../src/base/problem.ts'
import { attestationMembers } from '../../src/compute/response-text.ts'
import { readConfig } from '../../src/config/config.ts'
import { ChainPolicy } from '../../src/service/chains/chain-policy.ts'
import { attest } from '../../src/service/compute/signed-answer.ts'
import { createResignService } from '../../src/service/verify/resign.ts'
import type { SignerClient } from '../../src/threads/signer-client.ts'
import type { AttestationPayload, SigningPayload } from '../../src/wire/signing-messages.ts'
import type { Hex } from '../../src/wire/values.ts'
import { createTestSigner, NOW_SECONDS, RECIPIENT, type TestSigner, ZERO_UID } from '../attest-parts.ts'

const MAX_AGE_SECONDS = 86_400
const config = readConfig({}, 1)
const CUSTOM: Hex = `0x${'77'.repeat(32)}`

let parts: TestSigner
let signer: Pick<SignerClient, 'address' | 'sign'>
beforeAll(async () => {
  parts = await createTestSigner()
  const sign = async (payload: SigningPayload) => parts.signer.sign(payload)
  signer = { address: parts.signer.address, sign: sign as SignerClient['sign'] }
})

/** Returns a response of the service, serialised and parsed: what a client holds. */
async function createResponse(changes: Partial<AttestationPayload> = {}) {
  const attested = await attest(
    {
      kind: 'boolean',
      chainId: 84532,
      schema: parts.schemas.boolean,
      recipient: RECIPIENT,
      data: encodeBoolean(true, [ZERO_UID, ZERO_UID], NOW_SECONDS, 'contains'),
      ...changes,
    },
    signer,
  )
  return { chainId: 84532, ...JSON.parse(`{${attestationMembers(attested)}}`) }
}

/** Returns the re-signing service as it is `laterSeconds` after the signature. */
function service(laterSeconds = 10) {
  const chains = new ChainPolicy({
    chains: parts.chains,
    schemas: parts.schemas,
    builtInKinds: schemaKinds(config),
    allowAnySchema: true,
    chainClient: undefined,
  })
  return createResignService({ config, signer, chains, now: () => (NOW_SECONDS + laterSeconds) * 1000 })
}

async function resign(body: unknown, laterSeconds = 10) {
  const run = await service(laterSeconds)
  return JSON.parse((await run(Buffer.from(JSON.stringify(body)))).json)
}

async function rejection(body: unknown, laterSeconds = 10): Promise<ProblemData> {
  const run = await service(laterSeconds)
  const outcome = await run(Buffer.from(JSON.stringify(body))).catch((error: unknown) => error)
  if (!(outcome instanceof ProblemError)) throw new Error(`was not rejected: ${JSON.stringify(outcome)}`)
  return outcome.data
}

describe('signing again', () => {
  it.each([
    ['boolean', 84532],
    ['numeric', 42161],
    ['numeric', 42220],
  ] as const)(
    'returns the same attestation with a fresh signature for a %s result of chain %i',
    async (kind, chainId) => {
      const data =
        kind === 'numeric'
          ? encodeNumeric(7n, 'centimeters', [ZERO_UID], NOW_SECONDS, 'length')
          : (await createResponse()).attestation.data
      for (const schema of [parts.schemas[kind], CUSTOM]) {
        const before = { ...(await createResponse({ kind, chainId, schema, data })), chainId }
        const after = await resign(before)
        // The signer of these tests has a fixed clock and nonce, so the fresh signature equals the old one.
        expect(after).toEqual({ attestation: before.attestation, delegatedAttestation: before.delegatedAttestation })
      }
    },
  )

  it('accepts hex in any case and unknown members, and does not need the old signature', async () => {
    const before = await createResponse()
    const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`
    const { attestation: fields, delegatedAttestation: delegated } = before
    const attestation = {
      ...fields,
      data: upper(fields.data),
      schema: upper(fields.schema),
      signature: undefined,
      more: 1,
    }
    const delegatedAttestation = { ...delegated, signature: upper(delegated.signature) }
    expect(await resign({ ...before, attestation, delegatedAttestation, result: true })).toEqual({
      attestation: before.attestation,
      delegatedAttestation: before.delegatedAttestation,
    })
  })

  it('rejects a change to any field of an attestation and names the failed check', async () => {
    const before = await createResponse()
    const { attestation, delegatedAttestation } = before
    const flip = (text: string) => `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`
    const changed = [
      { ...before, attestation: { ...attestation, schema: flip(attestation.schema) } },
      { ...before, attestation: { ...attestation, recipient: flip(attestation.recipient) } },
      { ...before, attestation: { ...attestation, data: flip(attestation.data) } },
      { ...before, attestation: { ...attestation, refUID: flip(attestation.refUID) } },
      { ...before, attestation: { ...attestation, revocable: false } },
      { ...before, attestation: { ...attestation, signature: `${attestation.signature.slice(0, -2)}00` } },
      { ...before, delegatedAttestation: { ...delegatedAttestation, nonce: 1 } },
      { ...before, delegatedAttestation: { ...delegatedAttestation, deadline: delegatedAttestation.deadline + 1 } },
      { ...before, chainId: 8453 },
    ]
    for (const body of changed) {
      const { type, invalidParts } = await rejection(body)
      expect(type).toBe('invalid-input')
      expect(invalidParts?.[0]).toMatchObject({
        pointer: '#/delegatedAttestation/signature',
        code: 'resign-signature',
        hint: expect.stringContaining('unchanged'),
      })
    }
  })

  it('rejects a result signed by another key', async () => {
    const before = await createResponse()
    const foreign = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    const attestation = { ...before.attestation, attester: foreign }
    const delegatedAttestation = { ...before.delegatedAttestation, attester: foreign }
    for (const body of [
      { ...before, attestation },
      { ...before, delegatedAttestation },
      { ...before, attestation, delegatedAttestation },
    ]) {
      expect((await rejection(body)).invalidParts?.[0]).toMatchObject({
        pointer: '#/attestation/attester',
        code: 'resign-attester',
      })
    }
  })

  it('rejects other kinds of data, even with a signature of this service', async () => {
    const proof = await parts.signProof(parts.chains.get(84532)!)
    const root = await createResponse({
      kind: 'merkle-root',
      schema: parts.schemas['merkle-root'],
      data: encodeMerkleRoot({ merkleRoot: ZERO_UID, leafCount: 2, timestampSeconds: NOW_SECONDS }),
    })
    for (const body of [{ chainId: 84532, ...proof }, root]) {
      expect((await rejection(body)).invalidParts?.[0]).toMatchObject({
        pointer: '#/attestation/data',
        code: 'resign-kind',
      })
    }
  })

  it('measures the age from the time of computing', async () => {
    const before = await createResponse()
    // The deadline, an hour after signing, has long passed.
    expect(await resign(before, MAX_AGE_SECONDS)).toBeDefined()
    expect((await rejection(before, MAX_AGE_SECONDS + 1)).invalidParts?.[0]).toMatchObject({
      code: 'resign-age',
      detail: 'was computed 86401 s ago; a result can be signed again for 86400 s',
    })
    const data = encodeBoolean(true, [ZERO_UID], NOW_SECONDS + 1000, 'contains')
    expect((await rejection(await createResponse({ data }))).invalidParts?.[0]).toMatchObject({ code: 'resign-age' })
  })

  it('reports what is wrong with a body', async () => {
    const before = await createResponse()
    const cases: [unknown, string, string][] = [
      [{}, '#/attestation', 'missing-member'],
      [{ ...before, chainId: '84532' }, '#/chainId', 'wrong-type'],
      [{ ...before, chainId: 999 }, '#/chainId', 'unsupported-chain'],
      [{ ...before, attestation: null }, '#/attestation', 'wrong-type'],
      [{ ...before, attestation: { ...before.attestation, schema: '0x12' } }, '#/attestation/schema', 'wrong-format'],
      [{ ...before, attestation: { ...before.attestation, data: '0x12' } }, '#/attestation/data', 'wrong-format'],
      [{ ...before, delegatedAttestation: {} }, '#/delegatedAttestation/signature', 'missing-member'],
      [
        { ...before, delegatedAttestation: { ...before.delegatedAttestation, nonce: -1 } },
        '#/delegatedAttestation/nonce',
        'out-of-range',
      ],
    ]
    for (const [body, pointer, code] of cases) {
      expect((await rejection(body)).invalidParts?.[0]).toMatchObject({ pointer, code })
    }
    expect(await rejection({ ...before, more: 'x'.repeat(20_000) })).toMatchObject({ type: 'payload-too-large' })
  })
})
