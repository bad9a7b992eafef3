import { beforeAll, describe, expect, it } from 'vitest'
import { decodeVerify, type VerifyData } from '../../src/attest/data.ts'
import { ProblemError } from '../../src/base/problem.ts'
import { readConfig } from '../../src/config/config.ts'
import { createProofReader, type ProofReader } from '../../src/service/verify/verified-proof.ts'
import type { ChainClient } from '../../src/threads/chain-client.ts'
import type { SignerClient } from '../../src/threads/signer-client.ts'
import type { VerifiedLocationProof } from '../../src/types/generated.ts'
import type { ChainAttestation } from '../../src/wire/values.ts'
import { createTestSigner, NOW_SECONDS, type TestSigner } from '../attest-parts.ts'
import { canonicalJson } from '../canonical-json.ts'
import { EIFFEL, proofOf, stampOf } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

const AT_SIGNING = { temporalFootprint: { start: NOW_SECONDS - 60, end: NOW_SECONDS } }
const NEAR = { type: 'Point', coordinates: [EIFFEL[0] + 0.004, EIFFEL[1]] }

const proof = proofOf([stampOf('gpsd', AT_SIGNING), stampOf('mock', { ...AT_SIGNING, location: NEAR }, 2)], {
  time: { start: NOW_SECONDS - 1800, end: NOW_SECONDS + 1800 },
  radius: 500,
})
const CONTEXT = { client: undefined, aborted: false, deadlineMs: Number.POSITIVE_INFINITY }

let parts: TestSigner
let verifier: Awaited<ReturnType<typeof createVerifier>>
beforeAll(async () => {
  parts = await createTestSigner()
  verifier = await createVerifier()
})

/** Returns a reader as the service makes it. `onChain` is what the chain reports for a UID; without it there is no RPC. */
function reader(
  options: {
    laterSeconds?: number
    onChain?: Partial<ChainAttestation> | 'unknown' | 'down'
    environment?: Record<string, string>
    ask?: (typeof verifier)['ask']
  } = {},
) {
  const { laterSeconds = 10, onChain, environment = {}, ask = verifier.ask } = options
  const reading =
    onChain === 'down'
      ? { ok: false as const, reason: 'down' }
      : { ok: true as const, value: onChain === 'unknown' ? undefined : (onChain as ChainAttestation) }
  return createProofReader({
    config: readConfig(environment, 1),
    chains: parts.chains,
    schemas: parts.schemas,
    signer: { address: parts.signer.address } as SignerClient,
    chainClient:
      onChain === undefined
        ? undefined
        : ({ serves: () => true, attestation: async () => reading } as unknown as ChainClient),
    runEvidence: ask,
    now: () => (NOW_SECONDS + laterSeconds) * 1000,
  })
}

/** Returns the response of the service to the proof at `NOW_SECONDS`, with `changes` to the attested values. */
async function verified(chainId = 84532, changes: Partial<VerifyData> = {}): Promise<VerifiedLocationProof> {
  const { data, ...answer } = await verifier.proof(proof, {}, NOW_SECONDS)
  const measures = decodeVerify(data)
  if (!measures.ok) throw new Error(measures.reason)
  const signed = await parts.signProof(parts.chains.get(chainId)!, { ...measures.value, ...changes })
  return structuredClone({ ...answer, chainId, ...signed }) as unknown as VerifiedLocationProof
}

async function rejectionCode(read: ProofReader, input: VerifiedLocationProof): Promise<string | undefined> {
  try {
    await read(input, ['from'], CONTEXT)
    return undefined
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    return error.data.invalidParts?.[0]?.code ?? error.data.type
  }
}

describe('a verified proof as an input', () => {
  it('counts as its claimed location, under the UID of its attestation', async () => {
    const input = await verified()
    const result = await (await reader())(input, ['from'], CONTEXT)
    expect(result.ref).toBe(input.attestation!.uid)
    expect(JSON.parse(result.geometry)).toEqual(proof['claim'].location)
    const { credibility } = await verifier.proof(proof, {}, NOW_SECONDS)
    expect(JSON.parse(result.proofInput!)).toEqual({
      ref: input.attestation!.uid,
      credibility,
      claim: proof['claim'],
      evaluatedAt: NOW_SECONDS,
      evaluationMethod: 'multifactor-v0',
    })
  })

  it('is accepted after the operator changed the evaluation method and mode', async () => {
    const before = await verified()
    const EVALUATION_METHOD = 'acme-v2'
    const renamed = await createVerifier({ allowMock: true, evaluation: { mode: 'tee', method: EVALUATION_METHOD } })
    const read = await reader({ environment: { EVALUATION_METHOD, EVALUATION_MODE: 'tee' }, ask: renamed.ask })
    const { proofInput } = await read(before, ['from'], CONTEXT)
    // The proof was evaluated again, under the names that the operator uses now.
    expect(JSON.parse(proofInput!)).toMatchObject({
      evaluationMethod: EVALUATION_METHOD,
      credibility: { meta: { evaluationMode: 'tee' } },
    })
    const meta = (evaluationMode: string) => ({ ...before.credibility, meta: { stampCount: 2, evaluationMode } })
    const underOtherNames = { ...before, evaluationMethod: 'acme-v1', credibility: meta('zk') }
    expect((await read(underOtherNames, ['from'], CONTEXT)).proofInput).toBe(proofInput)
    expect(await rejectionCode(read, { ...before, credibility: meta('enclave') })).toBe('proof-credibility')
    // The other members of the credibility are still compared.
    const dimensions = { spatial: { meanDistanceMeters: 1 } }
    expect(await rejectionCode(read, { ...before, credibility: { ...before.credibility, dimensions } })).toBe(
      'proof-credibility',
    )
  })

  it('is evaluated again rather than trusted: without credibility in the input, the result still has one', async () => {
    const { credibility: _, evaluatedAt: __, evaluationMethod: ___, ...bare } = await verified()
    const result = await (await reader())(bare, ['from'], CONTEXT)
    expect(JSON.parse(result.proofInput!)).toMatchObject({
      evaluatedAt: NOW_SECONDS,
      credibility: { dimensions: { spatial: { withinRadiusFraction: 1 } } },
    })
  })

  it.each<keyof VerifyData>([
    'meanDistanceMeters',
    'maxDistanceMeters',
    'withinRadiusBp',
    'meanOverlapBp',
    'minOverlapBp',
    'signaturesValidBp',
    'structureValidBp',
    'signalsConsistentBp',
    'uniquePluginRatioBp',
    'stampCount',
  ])('is rejected when our key attested a %s other than that of the proof', async (name) => {
    expect(await rejectionCode(await reader(), await verified(84532, { [name]: 7 }))).toBe('proof-measures')
  })

  it('counts under the hash of the proof when it has no attestation', async () => {
    const result = await (await reader())({ proof } as unknown as VerifiedLocationProof, ['from'], CONTEXT)
    expect(result.ref).toBe(parts.keccak.hashHex(Buffer.from(canonicalJson(proof), 'utf8')))
  })

  it('is rejected when any signed leaf, or any leaf that names the signer, is changed', async () => {
    const read = await reader()
    const unsigned: string[] = []
    let leaves = 0
    const visit = async (node: Record<string, unknown>, input: VerifiedLocationProof, path: string) => {
      for (const [name, value] of Object.entries(node)) {
        if (typeof value === 'object' && value !== null) {
          await visit(value as Record<string, unknown>, input, `${path}${name}.`)
          continue
        }
        leaves++
        node[name] = altered(value)
        if ((await rejectionCode(read, input)) === undefined) unsigned.push(path + name)
        node[name] = value
      }
    }
    const input = await verified()
    await visit(input as Record<string, unknown>, input, '')
    expect(leaves).toBeGreaterThan(200)
    // The details of a stamp are for people; nothing reads them.
    expect([
      ...new Set(unsigned.map((path) => path.replace(/\.\d+\./g, '.*.').replace(/details\..*/, 'details'))),
    ]).toEqual(['credibility.stampResults.*.details', 'evaluationMethod'])
  })

  // Regression: problems from the second evaluation had pointers into the proof as if it were the root of the request.
  it.each<[string, (input: VerifiedLocationProof) => void, string]>([
    [
      'altered',
      ({ proof }) => void Object.assign(proof.claim, { radius: 501 }),
      'from.verifiedProof.proof: is not the proof',
    ],
    [
      'with other measures',
      (input) => void Object.assign(input.credibility!, { meta: 0 }),
      'from.verifiedProof.credibility.meta: is not',
    ],
    [
      'without a deadline',
      (input) => void delete input.delegatedAttestation,
      'from.verifiedProof.delegatedAttestation: is',
    ],
    ['too deep', ({ proof }) => void Object.assign(proof, { x: nested(40) }), 'from.verifiedProof: nesting is deeper'],
  ])('is rejected with a detail that begins with its pointer when it is %s', async (_, change, words) => {
    const input = await verified()
    change(input)
    const error = await (await reader())(input, ['from'], CONTEXT).catch((caught: unknown) => caught)
    if (!(error instanceof ProblemError)) throw error
    expect(error.data.detail).toContain(words)
    expect(error.data.detail.indexOf(words)).toBe(0)
    expect(error.data.invalidParts![0]!.pointer).toMatch(/^#\/from\/verifiedProof/)
  })

  it('is rejected when it is incomplete, too old or from another chain', async () => {
    const input = await verified()
    const { delegatedAttestation: _, ...withoutDelegation } = input
    expect(await rejectionCode(await reader(), withoutDelegation)).toBe('proof-complete')
    const { chainId: __, ...withoutChain } = input
    expect(await rejectionCode(await reader(), withoutChain)).toBe('proof-complete')
    expect(await rejectionCode(await reader(), { ...input, chainId: 42161 })).toBe('proof-signature')
    expect(await rejectionCode(await reader(), { ...input, chainId: 999 })).toBe('proof-chain')
    expect(await rejectionCode(await reader({ laterSeconds: 3600 + 86_400 }), input)).toBeUndefined()
    expect(await rejectionCode(await reader({ laterSeconds: 3600 + 86_401 }), input)).toBe('proof-age')
  })

  it('is rejected when the chain reports it as revoked, and fails with an internal error when the chain is unreachable', async () => {
    const input = await verified()
    expect(await rejectionCode(await reader({ onChain: { revocationTimeSeconds: 5 } }), input)).toBe('proof-revoked')
    expect(await rejectionCode(await reader({ onChain: { revocationTimeSeconds: 0 } }), input)).toBeUndefined()
    expect(await rejectionCode(await reader({ onChain: 'unknown' }), input)).toBeUndefined()
    expect(await rejectionCode(await reader({ onChain: 'down' }), input)).toBe('internal')
  })

  it('is accepted on a legacy chain only when it is found there, because no deadline is signed', async () => {
    const input = await verified(42161)
    expect(await rejectionCode(await reader(), input)).toBe('proof-on-chain')
    expect(await rejectionCode(await reader({ onChain: 'unknown' }), input)).toBe('proof-on-chain')
    expect(await rejectionCode(await reader({ onChain: { revocationTimeSeconds: 0 } }), input)).toBeUndefined()
  })
})

const nested = (depth: number): unknown => (depth === 0 ? 0 : [nested(depth - 1)])

/** Returns another value of the same kind. */
function altered(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  const text = String(value)
  const last = text.at(-1)!
  return text.slice(0, -1) + (last === '1' ? '2' : '1')
}
