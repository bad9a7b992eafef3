/** Turns what the engine of `--local` computed into signed results and problems. Loaded when the first of them is needed. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { chainTable } from '../attest/chains.ts'
import { schemaKinds, schemaUids } from '../attest/schemas.ts'
import { createSigner } from '../attest/signer.ts'
import { resolveSigningKey } from '../attest/signing-key.ts'
import { type ProblemData, ProblemError } from '../base/problem.ts'
import type { Config } from '../config/config.ts'
import { checksumAddress } from '../crypto/address.ts'
import { createKeccak } from '../crypto/keccak.ts'
import { loadSecp256k1 } from '../crypto/secp256k1.ts'
import { problemJson } from '../http/routes/respond.ts'
import { ChainPolicy } from '../service/chains/chain-policy.ts'
import { type Computed, createResponseSigner, type ResponseSigner } from '../service/compute/signed-answer.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import type { ProblemDetails } from '../types/generated.ts'
import type { UnfinishedItem } from '../wire/batch-messages.ts'
import type { ComputeResult } from '../wire/compute-messages.ts'
import type { ItemResult } from './batch/feeder.ts'
import { CommandError, usage } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

type Clock = Pick<Terminal, 'now'>

export interface LocalAnswers {
  /**
   * Signs the result of one request. Returns the response of the service, as JSON.
   *
   * @throws {ProblemError} if the service would reject the request
   */
  response(result: ComputeResult, prefersResultSignature: boolean): Promise<string>
  /** Signs the result of an item of a batch, or says why the item is rejected. */
  item(item: UnfinishedItem): Promise<ItemResult>
}

/** The key is read, or generated if there is none, when the first result is signed. */
export function createLocalAnswers(config: Config, clock: Clock): LocalAnswers {
  const policy = new ChainPolicy({
    chains: chainTable(config),
    schemas: schemaUids(config),
    builtInKinds: schemaKinds(config),
    allowAnySchema: config.allowAnySchema,
    chainClient: undefined,
  })
  let responseSigner: Promise<ResponseSigner> | undefined
  const getSigner = () => (responseSigner ??= createDevelopmentSigner(config, policy, clock))
  return {
    async response(result, prefersResultSignature) {
      const computed = requireResolved(result, policy)
      return (await (await getSigner()).sign(computed, [], undefined, { prefersResultSignature })).json
    },
    async item({ id, result }) {
      try {
        if (result.type === 'problem') return { error: toProblemDetails(result.problem) }
        const computed = requireResolved(result, policy)
        return { json: (await (await getSigner()).sign(computed, [], id)).json }
      } catch (error) {
        if (error instanceof ProblemError) return { error: toProblemDetails(error.data) }
        if (!(error instanceof CommandError)) throw error
        return { error: toProblemDetails({ type: 'invalid-input', detail: error.message }) }
      }
    },
  }
}

/**
 * Creates a signer with the development key, whose nonces are 0.
 *
 * @throws {ConfigError} on an unusable key file
 */
async function createDevelopmentSigner(config: Config, policy: ChainPolicy, { now }: Clock): Promise<ResponseSigner> {
  const keccak = await createKeccak()
  const secp256k1 = await loadSecp256k1()
  const file = join(config.dataDir, 'dev-signer.json')
  const signer = createSigner({
    secp256k1,
    keccak,
    privateKey: await resolveSigningKey({ kind: 'development', file }, secp256k1, keccak),
    chains: chainTable(config),
    schemaKinds: schemaKinds(config),
    nonces: { get: () => ({ ok: true, nonce: 0, source: 'default' }) },
    ttlSeconds: config.attestationTtlSeconds,
    nowSeconds: () => Math.floor(now() / 1000),
  })
  const sign = (async (payload: Parameters<typeof signer.sign>[0]) => signer.sign(payload)) as SignerClient['sign']
  const randomSalt = () => `0x${randomBytes(32).toString('hex')}` as const
  return createResponseSigner({ address: checksumAddress(signer.address), sign }, policy, randomSalt)
}

/**
 * Returns a result that needs no chain.
 *
 * @throws {ProblemError} if the chain of the request is not supported
 * @throws {CommandError} if an input would have to be read from a chain
 */
function requireResolved(result: ComputeResult, policy: ChainPolicy): Computed {
  if (result.type !== 'unresolved') return result
  policy.require(result.chainId)
  throw usage(
    '--local has no chain access: an input that is an attestation, a stored geometry or a verified proof needs a service (remove --local)',
  )
}

/** Returns a problem with the texts that a service would return. Its members about the request are left out. */
function toProblemDetails(problem: ProblemData): ProblemDetails {
  const { instance, requestId, ...details } = JSON.parse(
    problemJson({ errorTypeBase: '', path: '', requestId: '' }, problem),
  )
  return { ...details, type: 'about:blank' }
}
