import { beforeAll, describe, expect, it } from 'vitest'
import { encodeNumeric } from '../../src/attest/encode.ts'
import { schemaKinds } from '../../src/attest/schemas.ts'
import { ProblemError } from '../../src/base/problem.ts'
import { readConfig } from '../../src/config/config.ts'
import { createChainPolicy } from '../../src/service/chains/chain-policy.ts'
import { attest } from '../../src/service/compute/attest.ts'
import { attestationMembers } from '../../src/service/compute/signed-answer.ts'
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

describe('a request to sign again with any byte changed', () => {
  it.each([
    ['legacy', 42161],
    ['v1', 84532],
    ['v2', 42220],
  ] as const)('is refused, or signed as what it was, in the %s layout', async (profile, chainId) => {
    const signedPayloads: SigningPayload[] = []
    const sign = async (payload: SigningPayload) => {
      signedPayloads.push(payload)
      return parts.signer.sign(payload)
    }
    const config = readConfig({}, 1)
    const signer = { address: parts.signer.address, sign: sign as SignerClient['sign'] }
    const chains = createChainPolicy({
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

    const isTaken = async (body: string) => {
      try {
        await resign(Buffer.from(body))
        return true
      } catch (error) {
        // Anything else would be answered as a fault of ours.
        if (!(error instanceof ProblemError)) throw error
        expect(['bad-request', 'invalid-input']).toContain(error.data.type)
        return false
      }
    }
    expect(await isTaken(text)).toBe(true)
    const taken = new Set<string>()
    let tried = 0
    for (let at = 0; at < text.length; at += stride) {
      for (const piece of PIECES) {
        for (const body of [
          text.slice(0, at) + piece + text.slice(at + 1),
          text.slice(0, at) + piece + text.slice(at),
        ]) {
          if (body === text) continue
          tried++
          if (await isTaken(body)) taken.add(body)
        }
      }
    }
    expect(tried).toBeGreaterThan(scaled(30_000))
    // Whatever was changed in what it took, it signed nothing but the original.
    expect(signedPayloads.length).toBeGreaterThan(1)
    for (const payload of signedPayloads) expect(payload).toEqual(original)
    // White space; other names for the copy of the signature that nobody needs; on legacy chains another deadline.
    const others = [...taken].filter((body) => {
      const { attestation, delegatedAttestation, chainId: chain } = JSON.parse(body)
      const { deadline, ...rest } = delegatedAttestation
      const read = { chain, ...attestation, ...rest, ...(profile === 'legacy' ? {} : { deadline }) }
      return !Object.entries(read).every(([name, value]) => isOfOriginal(name, value))
    })
    expect(others).toEqual([])

    function isOfOriginal(name: string, value: unknown): boolean {
      const wanted = { chain: chainId, ...JSON.parse(text).attestation, ...JSON.parse(text).delegatedAttestation }
      return !(name in wanted) || String(value).toLowerCase() === String(wanted[name]).toLowerCase()
    }
  })
})
