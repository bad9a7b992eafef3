import { recoverTypedDataAddress } from 'viem'
import { ATTEST_V1 } from './eas-v1.ts'

const DOMAIN = {
  name: 'EAS',
  version: '1.2.0',
  chainId: 84532,
  verifyingContract: '0x4200000000000000000000000000000000000021',
} as const
const PAUSE_MS = 5

// biome-ignore lint/suspicious/noExplicitAny: the answer's shape is held by the contract tests
type Answer = any

/**
 * Asks beside a load, each time for another distance, and keeps the answers: about one in a hundred of what the load asks.
 *
 * @returns stops, and gives the number of answers whose signer viem recovered
 * @throws {Error} on an answer that is not signed by its attester: a fast wrong answer is none
 */
export function sampleSignatures(url: string): () => Promise<number> {
  const answers: Answer[] = []
  let isOver = false
  const asking = (async () => {
    for (let index = 0; !isOver; index++) {
      const response = await fetch(`${url}/compute/v0/distance`, { method: 'POST', body: requestOf(index) })
      answers.push(await response.json())
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  })()
  return async () => {
    isOver = true
    await asking
    for (const answer of answers) await requireSigned(answer)
    return answers.length
  }
}

function requestOf(index: number): string {
  return JSON.stringify({
    chainId: 84532,
    from: { type: 'Point', coordinates: [2.2945, 48.8584] },
    to: { type: 'Point', coordinates: [2.3522 + index / 1e4, 48.8566] },
  })
}

async function requireSigned({ attestation, delegatedAttestation }: Answer): Promise<void> {
  const signer = await recoverTypedDataAddress({
    domain: DOMAIN,
    types: { Attest: ATTEST_V1 },
    primaryType: 'Attest',
    message: {
      ...attestation,
      expirationTime: 0n,
      value: 0n,
      nonce: BigInt(delegatedAttestation.nonce),
      deadline: BigInt(delegatedAttestation.deadline),
    },
    signature: delegatedAttestation.signature,
  })
  if (signer !== attestation.attester) throw new Error(`an answer is signed by ${signer}`)
}
