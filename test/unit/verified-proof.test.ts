import { beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { canonicalJson } from '../../src/geometry/canonical.ts'
import type { ChainAttestation, Hex } from '../../src/messages.ts'
import { ProblemError } from '../../src/problem.ts'
import { createProofReader, type ProofReader } from '../../src/service/verified-proof.ts'
import type { ChainClient } from '../../src/threads/chain-client.ts'
import type { SignerClient } from '../../src/threads/signer-client.ts'
import type { VerifiedLocationProof } from '../../src/types/generated.ts'
import { createTestSigner, NOW_SECONDS, type TestSigner } from '../attest-parts.ts'

const proof = {
  claim: {
    lpVersion: '0.2' as const,
    locationType: 'geojson-point',
    location: { type: 'Point' as const, coordinates: [2.2945, 48.8584] as [number, number] },
    srs: 'EPSG:4326',
    subject: { scheme: 'eth-address', value: `0x${'11'.repeat(20)}` },
    radius: 100,
    time: { start: 1_699_999_000, end: 1_700_000_000 },
  },
  stamps: [
    { plugin: 'mock', signals: { a: 1 } },
    { plugin: 'gpsd', signals: { b: 'x' } },
  ],
}

let parts: TestSigner
beforeAll(async () => {
  parts = await createTestSigner()
})

/** A reader as the service makes it; `onChain` is what the chain says of a UID, absent without an RPC. */
function reader(options: { laterSeconds?: number; onChain?: Partial<ChainAttestation> | 'unknown' | 'down' } = {}) {
  const { laterSeconds = 10, onChain } = options
  const found =
    onChain === 'down'
      ? { ok: false as const, reason: 'down' }
      : { ok: true as const, value: onChain === 'unknown' ? undefined : (onChain as ChainAttestation) }
  return createProofReader({
    config: readConfig({}, 1),
    chains: parts.chains,
    schemas: parts.schemas,
    signer: { address: parts.signer.address } as SignerClient,
    chainClient:
      onChain === undefined
        ? undefined
        : ({ serves: () => true, attestation: async () => found } as unknown as ChainClient),
    now: () => (NOW_SECONDS + laterSeconds) * 1000,
  })
}

async function verified(chainId = 84532): Promise<VerifiedLocationProof> {
  const proofHash: Hex = parts.keccak.hashHex(Buffer.from(canonicalJson(proof), 'utf8'))
  const signed = await parts.signProof(parts.chains.get(chainId)!, { proofHash })
  return structuredClone({
    proof,
    credibility: {},
    evaluationMethod: 'multifactor-v0',
    evaluatedAt: 1,
    chainId,
    ...signed,
  })
}

async function refusal(read: ProofReader, input: VerifiedLocationProof): Promise<string | undefined> {
  try {
    await read(input, ['from'])
    return undefined
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    return error.data.places?.[0]?.code ?? error.data.type
  }
}

describe('a verified proof as an input', () => {
  it('counts for its claimed location, under the UID of its attestation', async () => {
    const input = await verified()
    const result = await (await reader())(input, ['from'])
    expect(result.ref).toBe(input.attestation!.uid)
    expect(JSON.parse(result.geometry)).toEqual(proof.claim.location)
  })

  it('counts under the hash of the proof when it has no attestation', async () => {
    const result = await (await reader())({ proof }, ['from'])
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
    expect(leaves).toBe(33)
    // What is not signed is not used either: the credibility of the answer is never taken from the caller.
    expect(unsigned).toEqual(['evaluationMethod', 'evaluatedAt'])
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

/** Another value of the same kind. */
function altered(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  const text = String(value)
  const last = text.at(-1)!
  return text.slice(0, -1) + (last === '1' ? '2' : '1')
}
