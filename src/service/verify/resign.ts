import { authenticateSignature } from '../../attest/authenticate.ts'
import { decodeBoolean, decodeNumeric } from '../../attest/data.ts'
import { ProblemError, problemAt } from '../../base/problem.ts'
import { attestationMembers } from '../../compute/response-text.ts'
import type { Config } from '../../config/config.ts'
import { createKeccak } from '../../crypto/keccak.ts'
import { loadSecp256k1 } from '../../crypto/secp256k1.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import type { ResignRequest } from '../../types/generated.ts'
import { parseJsonObject } from '../../validation/json-body.ts'
import { readResignRequest } from '../../validation/verify-request.ts'
import type { Hex } from '../../wire/values.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import { attest, nonceHeaders } from '../compute/signed-answer.ts'
import type { ServiceResponse } from '../request.ts'

export interface ResignServiceParts {
  readonly config: Pick<Config, 'resignMaxAgeSeconds' | 'limits'>
  readonly signer: Pick<SignerClient, 'address' | 'sign'>
  readonly chains: ChainPolicy
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

type Resigner = (body: Uint8Array) => Promise<ServiceResponse>

/**
 * Makes the function that signs an earlier result again, with the current nonce and a new deadline. Clients need this when the
 * nonce has been used by another attestation or the deadline has passed (decision 101).
 *
 * The service stores nothing about what it signed. It recovers the signer from the signature over every field as sent. So the
 * client must send the earlier response unchanged, with its nonce and deadline, and name its chain.
 *
 * The function throws a ProblemError `invalid-input` that names the failed check.
 */
export async function createResignService({ config, signer, chains, now }: ResignServiceParts): Promise<Resigner> {
  const keccak = await createKeccak()
  const secp256k1 = await loadSecp256k1()
  const { smallBodyBytes, maxJsonDepth } = config.limits

  return async (body) => {
    if (body.byteLength > smallBodyBytes) {
      const detail = `a request to sign again has at most ${smallBodyBytes} bytes, found ${body.byteLength}`
      throw new ProblemError({ type: 'payload-too-large', detail })
    }
    const request = readResignRequest(parseJsonObject(body, maxJsonDepth))
    const chain = chains.require(request.chainId)
    const { attestation, delegatedAttestation: delegated } = request
    const checked = authenticateSignature(
      { attestation: { ...attestation, expirationTime: 0 }, delegatedAttestation: delegated },
      { chain, attesters: [signer.address.toLowerCase()], keccak, secp256k1 },
    )
    if (!checked.ok) throw resignProblem(POINTERS[checked.check], checked.check, checked.reason)
    const kind = requireKind(request)
    const schema = attestation.schema.toLowerCase() as Hex
    await chains.requireSchema(chain, kind, schema)
    const attested = await attest(
      {
        kind,
        chainId: chain.id,
        schema,
        recipient: attestation.recipient.toLowerCase() as Hex,
        data: attestation.data.toLowerCase() as Hex,
      },
      signer,
    )
    return { json: `{${attestationMembers(attested)}}`, headers: nonceHeaders(attested) }
  }

  /** Returns the kind of the data. The layouts of the two kinds exclude each other: no bytes are valid for both. */
  function requireKind({ attestation }: ResignRequest): 'numeric' | 'boolean' {
    const data = attestation.data as Hex
    const numeric = decodeNumeric(data)
    const decoded = numeric.ok ? numeric : decodeBoolean(data)
    if (!decoded.ok) {
      throw resignProblem(
        ['attestation', 'data'],
        'kind',
        'is not the data of a numeric or boolean result; only these can be signed again',
      )
    }
    const { resignMaxAgeSeconds } = config
    const ageSeconds = BigInt(Math.floor(now() / 1000)) - decoded.value.timestampSeconds
    if (ageSeconds > BigInt(resignMaxAgeSeconds)) {
      const detail = `was computed ${ageSeconds} s ago; a result can be signed again for ${resignMaxAgeSeconds} s`
      throw resignProblem(['attestation', 'data'], 'age', detail, 'send the compute request again')
    }
    if (ageSeconds < -CLOCK_SKEW_SECONDS)
      throw resignProblem(['attestation', 'data'], 'age', 'was computed in the future')
    return numeric.ok ? 'numeric' : 'boolean'
  }
}

const CLOCK_SKEW_SECONDS = 300n

const POINTERS = {
  attester: ['attestation', 'attester'],
  signature: ['delegatedAttestation', 'signature'],
} as const

function resignProblem(
  path: readonly string[],
  check: string,
  detail: string,
  hint = 'send attestation and delegatedAttestation of a response of this service unchanged, with the chainId of its request',
): ProblemError {
  return problemAt('invalid-input', path, detail, { code: `resign-${check}`, hint })
}
