import { beforeAll, describe, expect, it } from 'vitest'
import { encodeNumeric } from '../../src/attest/data.ts'
import { schemaKinds } from '../../src/attest/schemas.ts'
import { ProblemError } from '../../src/base/problem.ts'
import { attestationMembers } from '../../src/compute/response-text.ts'
import { readConfig } from '../../src/config/config.ts'
import { ChainPolicy } from '../../src/service/chains/chain-policy.ts'
import { attest } from '../../src/service/compute/signed-answer.ts'
import { createResignService } from '../../src/service/verify/resign.ts'
import type { SignerClient } from '../../src/threads/signer-client.ts'
import type { SigningPayload } from '../../src/wire/signing-messages.ts'
import { createTestSigner, NOW_SECONDS, RECIPIENT, type TestSigner, ZERO_UID } from '../attest-parts.ts'
import { scaled, stride } from '../scale.ts'

let parts: TestSigner
beforeAll(async () => {
  parts = await createTestSigner()
})

const PIECES = ['0', 'f', 'G', '"', '{', ',', '-', ' ', '\\', '1e9', 'null', '\u0000', '\ud83d\ude00']

describe('a re-sign request with any byte changed', () => {
  it.each([
    ['legacy', 42161],
    ['v1', 84532],
    ['v2', 42220],
  ] as const)('is rejected, or signs the original payload, in the %s layout', async (profile, chainId) => {
    const signedPayloads: SigningPayload[] = []
    const sign = async (payload: SigningPayload) => {
      signedPayloads.push(payload)
      return parts.signer.sign(payload)
    }
    const config = readConfig({}, 1)
    const signer = { address: parts.signer.address, sign: sign as SignerClient['sign'] }
    const chains = new ChainPolicy({
      chains: parts.chains,
      schemas: parts.schemas,
      builtInKinds: schemaKinds(config),
      allowAnySchema: true,
      chainClient: undefined,
    })
    const resign = await createResignService({ config, signer, chains, now: () => (NOW_SECONDS + 10) * 1000 })
    const data = encodeNumeric(423_877n, 'centimeters', [ZERO_UID], NOW_SECONDS, 'distance')
    const schema = parts.schemas.numeric
    const attested = await attest({ kind: 'numeric', chainId, schema, recipient: RECIPIENT, data }, signer)
    const original = signedPayloads.pop()
    const text = `{"chainId":${chainId},${attestationMembers(attested)}}`

    const isAccepted = async (body: string) => {
      try {
        await resign(Buffer.from(body))
        return true
      } catch (error) {
        // Any other error would be answered as an internal error.
        if (!(error instanceof ProblemError)) throw error
        expect(['bad-request', 'invalid-input']).toContain(error.data.type)
        return false
      }
    }
    expect(await isAccepted(text)).toBe(true)
    const acceptedBodies = new Set<string>()
    let tried = 0
    for (let index = 0; index < text.length; index += stride) {
      for (const piece of PIECES) {
        for (const body of [
          text.slice(0, index) + piece + text.slice(index + 1),
          text.slice(0, index) + piece + text.slice(index),
        ]) {
          if (body === text) continue
          tried++
          if (await isAccepted(body)) acceptedBodies.add(body)
        }
      }
    }
    expect(tried).toBeGreaterThan(scaled(30_000))
    // Every accepted change leads to the original payload.
    expect(signedPayloads.length).toBeGreaterThan(1)
    for (const payload of signedPayloads) expect(payload).toEqual(original)
    // Accepted changes: white space, a renamed member that holds the unused copy of the signature, and the deadline on legacy chains.
    const unexpected = [...acceptedBodies].filter((body) => {
      const { attestation, delegatedAttestation, chainId: chain } = JSON.parse(body)
      const { deadline, ...rest } = delegatedAttestation
      const members = { chain, ...attestation, ...rest, ...(profile === 'legacy' ? {} : { deadline }) }
      return !Object.entries(members).every(([name, value]) => matchesOriginal(name, value))
    })
    expect(unexpected).toEqual([])

    function matchesOriginal(name: string, value: unknown): boolean {
      const expected = { chain: chainId, ...JSON.parse(text).attestation, ...JSON.parse(text).delegatedAttestation }
      return !(name in expected) || String(value).toLowerCase() === String(expected[name]).toLowerCase()
    }
  })
})
