/** A signer in this process with a fixed clock and nonce, for tests of what it signs. */
import { type Chain, chainTable } from '../src/attest/chains.ts'
import { encodeVerify, type VerifyData } from '../src/attest/data.ts'
import { createNonces } from '../src/attest/nonces.ts'
import { schemaKinds, schemaUids } from '../src/attest/schemas.ts'
import { createSigner, type SignerParts } from '../src/attest/signer.ts'
import { attestationUid } from '../src/attest/uid.ts'
import { readConfig } from '../src/config/config.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'
import type { Hex } from '../src/wire/values.ts'

export const NOW_SECONDS = 1_700_000_000
export const TTL_SECONDS = 3600
export const ZERO_UID: Hex = `0x${'0'.repeat(64)}`
export const RECIPIENT: Hex = '0x00112233445566778899aabbccddeeff00112233'

/** The measures of a proof. */
export const VERIFY_DATA: VerifyData = {
  proofHash: `0x${'5a'.repeat(32)}`,
  meanDistanceMeters: 12,
  maxDistanceMeters: 25,
  withinRadiusBp: 10_000,
  meanOverlapBp: 8500,
  minOverlapBp: 8000,
  signaturesValidBp: 10_000,
  structureValidBp: 10_000,
  signalsConsistentBp: 9000,
  uniquePluginRatioBp: 5000,
  stampCount: 2,
}

/** The EIP-712 types of a result that is signed without a nonce. */
export const SIGNED_RESULT_TYPES = {
  SignedResult: [
    { name: 'schema', type: 'bytes32' },
    { name: 'recipient', type: 'address' },
    { name: 'dataHash', type: 'bytes32' },
    { name: 'deadline', type: 'uint64' },
    { name: 'salt', type: 'bytes32' },
  ],
} as const

export async function createTestSigner(changes: Partial<SignerParts> = {}) {
  const config = readConfig({}, 1)
  const [keccak, secp256k1] = [await createKeccak(), await loadSecp256k1()]
  const chains = chainTable(config)
  const signer = createSigner({
    secp256k1,
    keccak,
    privateKey: Buffer.from('c0ffee'.padStart(64, '0'), 'hex'),
    chains,
    schemaKinds: schemaKinds(config),
    nonces: createNonces({
      read: async () => ({ ok: false, refusalReason: undefined }),
      readable: new Set(),
      maxAgeMs: 0,
      timeoutMs: 0,
      now: () => 0,
      after: () => {},
    }),
    ttlSeconds: TTL_SECONDS,
    nowSeconds: () => NOW_SECONDS,
    ...changes,
  })
  const schemas = schemaUids(config)

  /** The attestation part of a verified proof, as in the service's response. */
  async function signProof(chain: Chain, changes: Partial<VerifyData> = {}) {
    const data = encodeVerify({ ...VERIFY_DATA, ...changes })
    const schema = schemas.verify
    const signed = await signer.sign({ kind: 'verify', chainId: chain.id, schema, recipient: RECIPIENT, data })
    if (!signed.ok) throw new Error(signed.problem.detail)
    const { signature, nonce, deadlineSeconds: deadline } = signed
    const attester: string = signer.address
    const fields = {
      schema: schema as string,
      attester,
      recipient: RECIPIENT as string,
      data: data as string,
      revocable: true,
      refUID: ZERO_UID as string,
    }
    const uid: string = attestationUid({ ...fields, timeSeconds: NOW_SECONDS, expirationTimeSeconds: 0 }, keccak)
    return {
      attestation: {
        uid,
        ...fields,
        time: NOW_SECONDS,
        expirationTime: 0,
        revocationTime: 0,
        signature: signature as string,
      },
      delegatedAttestation: { signature: signature as string, attester, deadline, nonce },
    }
  }

  return { keccak, secp256k1, chains, signer, schemas, signProof }
}

export type TestSigner = Awaited<ReturnType<typeof createTestSigner>>
export type SignedProof = Awaited<ReturnType<TestSigner['signProof']>>
