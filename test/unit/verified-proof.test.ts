import { beforeAll, describe, expect, it } from 'vitest'
import { decodeVerify } from '../../src/attest/decode.ts'
import type { VerifyData } from '../../src/attest/encode.ts'
import { readConfig } from '../../src/config.ts'
import type { ChainAttestation } from '../../src/messages.ts'
import { ProblemError } from '../../src/problem.ts'
import { createProofReader, type ProofReader } from '../../src/service/verified-proof.ts'
import type { ChainClient } from '../../src/threads/chain-client.ts'
import type { SignerClient } from '../../src/threads/signer-client.ts'
import type { VerifiedLocationProof } from '../../src/types/generated.ts'
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
const CONTEXT = { aborted: false, deadlineMs: Number.POSITIVE_INFINITY }

let parts: TestSigner
let verifier: Awaited<ReturnType<typeof createVerifier>>
beforeAll(async () => {
  parts = await createTestSigner()
  verifier = await createVerifier()
})

/** A reader as the service makes it; `onChain` is what the chain says of a UID, absent without an RPC. */
function reader(
  options: {
    laterSeconds?: number
    onChain?: Partial<ChainAttestation> | 'unknown' | 'down'
    environment?: Record<string, string>
    ask?: (typeof verifier)['ask']
  } = {},
) {
  const { laterSeconds = 10, onChain, environment = {}, ask = verifier.ask } = options
  const found =
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
        : ({ serves: () => true, attestation: async () => found } as unknown as ChainClient),
    ask,
    now: () => (NOW_SECONDS + laterSeconds) * 1000,
  })
}

/** What the service answers to the proof at `NOW_SECONDS`, with `changes` to what is attested. */
async function verified(chainId = 84532, changes: Partial<VerifyData> = {}): Promise<VerifiedLocationProof> {
  const { data, ...answer } = await verifier.proof(proof, {}, NOW_SECONDS)
  const measures = decodeVerify(data)
  if (!measures.ok) throw new Error(measures.reason)
  const signed = await parts.signProof(parts.chains.get(chainId)!, { ...measures.value, ...changes })
  return structuredClone({ ...answer, chainId, ...signed }) as unknown as VerifiedLocationProof
}

async function refusal(read: ProofReader, input: VerifiedLocationProof): Promise<string | undefined> {
  try {
    await read(input, ['from'], CONTEXT)
    return undefined
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    return error.data.places?.[0]?.code ?? error.data.type
  }
}

describe('a verified proof as an input', () => {
  it('counts for its claimed location, under the UID of its attestation', async () => {
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

  it('may have been answered before the operator named another method and mode', async () => {
    const before = await verified()
    const EVALUATION_METHOD = 'acme-v2'
    const renamed = await createVerifier({ allowMock: true, evaluation: { mode: 'tee', method: EVALUATION_METHOD } })
    const read = await reader({ environment: { EVALUATION_METHOD, EVALUATION_MODE: 'tee' }, ask: renamed.ask })
    const { proofInput } = await read(before, ['from'], CONTEXT)
    // The proof was judged again, and by what the operator names now.
    expect(JSON.parse(proofInput!)).toMatchObject({
      evaluationMethod: EVALUATION_METHOD,
      credibility: { meta: { evaluationMode: 'tee' } },
    })
    const meta = (evaluationMode: 'zk') => ({ ...before.credibility, meta: { stampCount: 2, evaluationMode } })
    expect(await refusal(read, { ...before, evaluationMethod: 'acme-v1' })).toBe('proof-method')
    expect(await refusal(read, { ...before, credibility: meta('zk') })).toBe('proof-credibility')
    // The rest of what was said beside it is still compared.
    const dimensions = { spatial: { meanDistanceMeters: 1 } }
    expect(await refusal(read, { ...before, credibility: { ...before.credibility, dimensions } })).toBe(
      'proof-credibility',
    )
    expect(await refusal(await reader(), { ...before, evaluationMethod: EVALUATION_METHOD })).toBe('proof-method')
  })

  it('is judged again, not taken at the word of its caller: no credibility, and the answer has one', async () => {
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
  ])('is refused when our own key attested another %s than the proof gives', async (name) => {
    expect(await refusal(await reader(), await verified(84532, { [name]: 7 }))).toBe('proof-measures')
  })

  it('counts under the hash of the proof when it has no attestation', async () => {
    const result = await (await reader())({ proof } as unknown as VerifiedLocationProof, ['from'], CONTEXT)
    expect(result.ref).toBe(parts.keccak.hashHex(Buffer.from(canonicalJson(proof), 'utf8')))
  })

  it('is refused when any leaf that is signed or says who signed is another', async () => {
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
        if ((await refusal(read, input)) === undefined) unsigned.push(path + name)
        node[name] = value
      }
    }
    const input = await verified()
    await visit(input as Record<string, unknown>, input, '')
    expect(leaves).toBeGreaterThan(200)
    // The details of a stamp are told for people, and not used.
    expect([
      ...new Set(unsigned.map((path) => path.replace(/\.\d+\./g, '.*.').replace(/details\..*/, 'details'))),
    ]).toEqual(['credibility.stampResults.*.details'])
  })

  // Regression: what was found by judging it again named a place of the proof as if it stood in the request's root.
  it.each<[string, (input: VerifiedLocationProof) => void, string]>([
    [
      'altered',
      ({ proof }) => void Object.assign(proof.claim, { radius: 501 }),
      'from.verifiedProof.proof: is not the proof',
    ],
    [
      'of other measures',
      (input) => void Object.assign(input.credibility!, { meta: 0 }),
      'from.verifiedProof.credibility.meta: is not',
    ],
    [
      'without a deadline',
      (input) => void delete input.delegatedAttestation,
      'from.verifiedProof.delegatedAttestation: is',
    ],
    ['too deep', ({ proof }) => void Object.assign(proof, { x: nested(40) }), 'from.verifiedProof: nesting is deeper'],
  ])('is refused in words that name its place when it is %s', async (_, change, words) => {
    const input = await verified()
    change(input)
    const error = await (await reader())(input, ['from'], CONTEXT).catch((refused: unknown) => refused)
    if (!(error instanceof ProblemError)) throw error
    expect(error.data.detail).toContain(words)
    expect(error.data.detail.indexOf(words)).toBe(0)
    expect(error.data.places![0]!.pointer).toMatch(/^#\/from\/verifiedProof/)
  })

  it('is refused when it is incomplete, too old or from another chain', async () => {
    const input = await verified()
    const { delegatedAttestation: _, ...withoutDelegation } = input
    expect(await refusal(await reader(), withoutDelegation)).toBe('proof-complete')
    const { chainId: __, ...withoutChain } = input
    expect(await refusal(await reader(), withoutChain)).toBe('proof-complete')
    expect(await refusal(await reader(), { ...input, chainId: 42161 })).toBe('proof-signature')
    expect(await refusal(await reader(), { ...input, chainId: 999 })).toBe('proof-chain')
    expect(await refusal(await reader({ laterSeconds: 3600 + 86_400 }), input)).toBeUndefined()
    expect(await refusal(await reader({ laterSeconds: 3600 + 86_401 }), input)).toBe('proof-age')
  })

  it('is refused when the chain says that it is revoked, and never guessed when the chain is down', async () => {
    const input = await verified()
    expect(await refusal(await reader({ onChain: { revocationTimeSeconds: 5 } }), input)).toBe('proof-revoked')
    expect(await refusal(await reader({ onChain: { revocationTimeSeconds: 0 } }), input)).toBeUndefined()
    expect(await refusal(await reader({ onChain: 'unknown' }), input)).toBeUndefined()
    expect(await refusal(await reader({ onChain: 'down' }), input)).toBe('internal')
  })

  it('is taken on a legacy chain only when it is found there, for no deadline is signed', async () => {
    const input = await verified(42161)
    expect(await refusal(await reader(), input)).toBe('proof-on-chain')
    expect(await refusal(await reader({ onChain: 'unknown' }), input)).toBe('proof-on-chain')
    expect(await refusal(await reader({ onChain: { revocationTimeSeconds: 0 } }), input)).toBeUndefined()
  })
})

const nested = (depth: number): unknown => (depth === 0 ? 0 : [nested(depth - 1)])

/** Another value of the same kind. */
function altered(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  const text = String(value)
  const last = text.at(-1)!
  return text.slice(0, -1) + (last === '1' ? '2' : '1')
}
