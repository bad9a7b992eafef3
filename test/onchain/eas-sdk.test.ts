/** A client that computes, submits with the public EAS SDK, and computes again. Service and SDK have their default settings. */
import { createRequire } from 'node:module'
import { JsonRpcProvider, Signature } from 'ethers'
import { describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { startTestService } from '../service.ts'
import { EAS_VERSIONS, skipReason, startLocalChain } from './anvil.ts'

// The SDK's module for `import` does not load in Node.js: it imports names of lodash, which is CommonJS.
const { EAS, NO_EXPIRATION } = createRequire(import.meta.url)(
  '@ethereum-attestation-service/eas-sdk',
) as typeof import('@ethereum-attestation-service/eas-sdk')

const ROUNDS = 20

describe.skipIf(skipReason() !== undefined)('results that the EAS SDK submits', () => {
  it.each(EAS_VERSIONS)(`are accepted by EAS %s, ${ROUNDS} of ${ROUNDS} one after another`, async (version) => {
    const local = await startLocalChain(version)
    const service = await startTestService(local.environment)
    try {
      const eas = new EAS(local.chain.easAddress)
      eas.connect(await new JsonRpcProvider(local.url).getSigner())
      const compute = async (round: number) => {
        const { status, headers, body } = await service.post('/compute/v0/distance', {
          chainId: local.chain.id,
          from: { type: 'Point', coordinates: [1, 2] },
          to: { type: 'Point', coordinates: [3, round] },
        })
        expect(status, JSON.stringify(body)).toBe(200)
        // On a machine that stands still for RPC_TIMEOUT_MS the service says so, and a client asks again.
        expect(headers.get('x-attester-nonce-source')).toBeNull()
        return body
      }
      const submit = async ({ attestation, delegatedAttestation }: Awaited<ReturnType<typeof compute>>) => {
        const { schema, recipient, data, revocable, refUID } = attestation
        const { signature, attester, deadline } = delegatedAttestation
        const transaction = await eas.attestByDelegation({
          schema,
          data: { recipient, data, revocable, refUID, expirationTime: NO_EXPIRATION },
          signature: Signature.from(signature),
          attester,
          deadline: BigInt(deadline),
        })
        return transaction.wait()
      }
      const outcomes: string[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const answer = await eventually(() => compute(round))
        outcomes.push(
          await submit(answer).then(
            async (uid) => ((await eas.getAttestation(uid)).data === answer.attestation.data ? 'stored' : 'other data'),
            (error) => String(error).slice(0, 100),
          ),
        )
      }
      expect(outcomes).toEqual(Array(ROUNDS).fill('stored'))
    } finally {
      await service.stop()
      await local.stop()
    }
  })
})
