import { recoverTypedDataAddress } from 'viem'
import { ATTEST_V1 } from './eas-v1.ts'

const DOMAIN = {
  name: 'EAS',
  version: '1.2.0',
  chainId: 84532,
  verifyingContract: '0x4200000000000000000000000000000000000021',
} as const
const PAUSE_MS = 5

// biome-ignore lint/suspicious/noExplicitAny: the contract tests check the shape of responses
type ResultBody = any

/**
 * Sends requests for different distances while a load runs, and collects the responses: about one per hundred requests of the load.
 *
 * @returns a function that stops, checks all responses and returns their number; it throws an Error if viem recovers another
 * signer than the attester, so that a fast but wrong service fails
 */
export function sampleSignatures(url: string): () => Promise<number> {
  const responses: ResultBody[] = []
  let isStopped = false
  const sampling = (async () => {
    for (let index = 0; !isStopped; index++) {
      const response = await fetch(`${url}/compute/v0/distance`, { method: 'POST', body: createRequest(index) })
      responses.push(await response.json())
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  })()
  return async () => {
    isStopped = true
    await sampling
    for (const body of responses) await requireSigned(body)
    return responses.length
  }
}

function createRequest(index: number): string {
  return JSON.stringify({
    chainId: 84532,
    from: { type: 'Point', coordinates: [2.2945, 48.8584] },
    to: { type: 'Point', coordinates: [2.3522 + index / 1e4, 48.8566] },
  })
}

async function requireSigned({ attestation, delegatedAttestation }: ResultBody): Promise<void> {
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
  if (signer !== attestation.attester) throw new Error(`a response is signed by ${signer} and not by its attester`)
}
