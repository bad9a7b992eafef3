/** Runs the service's engine in this process, for `--local`. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { chainTable } from '../attest/chains.ts'
import { schemaKinds, schemaUids } from '../attest/schemas.ts'
import { createSigner } from '../attest/signer.ts'
import { resolveSigningKey } from '../attest/signing-key.ts'
import { PROBLEMS, type ProblemData, ProblemError } from '../base/problem.ts'
import type { BatchOperation } from '../client/batch.ts'
import { createEngine } from '../compute/engine.ts'
import { runComputeTask } from '../compute/task.ts'
import { readConfig } from '../config/config.ts'
import { checksumAddress } from '../crypto/address.ts'
import { createKeccak } from '../crypto/keccak.ts'
import { loadSecp256k1 } from '../crypto/secp256k1.ts'
import { ChainPolicy } from '../service/chains/chain-policy.ts'
import { createResponseSigner } from '../service/compute/signed-answer.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import type { BatchResult, ProblemDetails } from '../types/generated.ts'
import type { OperationName } from '../wire/values.ts'
import { CommandError, usage } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

export interface LocalEngine {
  /**
   * Computes one request.
   *
   * @param body the request body that a service would get
   * @returns the response of the service, as JSON
   * @throws {ProblemError} if the service would reject the request
   */
  compute(operation: OperationName, body: object, prefersResultSignature?: boolean): Promise<string>
}

/**
 * Creates an engine that computes on this thread, with the code of the compute threads, and signs with the development key. It
 * has no chain access, so nonces are 0 and UIDs cannot be resolved.
 *
 * @param dataFolder folder of the development key, which is created if it is missing
 * @throws {ConfigError} on an unusable key file
 */
export async function createLocalEngine(
  { env, now }: Pick<Terminal, 'env' | 'now'>,
  dataFolder: string | undefined,
): Promise<LocalEngine> {
  const config = readConfig({ ...env, ...(dataFolder === undefined ? {} : { DATA_DIR: dataFolder }) }, 1)
  const chains = chainTable(config)
  const limits = { ...config.limits, chainIds: [...chains.keys()] }
  const engine = createEngine(limits)
  const keccak = await createKeccak()
  const secp256k1 = await loadSecp256k1()
  const file = join(config.dataDir, 'dev-signer.json')
  const signer = createSigner({
    secp256k1,
    keccak,
    privateKey: await resolveSigningKey({ kind: 'development', file }, secp256k1, keccak),
    chains,
    schemaKinds: schemaKinds(config),
    nonces: { get: () => ({ ok: true, nonce: 0, source: 'default' }) },
    ttlSeconds: config.attestationTtlSeconds,
    nowSeconds: () => Math.floor(now() / 1000),
  })
  const policy = new ChainPolicy({
    chains,
    schemas: schemaUids(config),
    builtInKinds: schemaKinds(config),
    allowAnySchema: config.allowAnySchema,
    chainClient: undefined,
  })
  const sign = (async (payload: Parameters<typeof signer.sign>[0]) => signer.sign(payload)) as SignerClient['sign']
  const answers = createResponseSigner(
    { address: checksumAddress(signer.address), sign },
    policy,
    () => `0x${randomBytes(32).toString('hex')}`,
  )
  return {
    async compute(operation, body, prefersResultSignature = false) {
      const timestampSeconds = Math.floor(now() / 1000)
      const task = { operation, body: Buffer.from(JSON.stringify(body)), resolved: [], timestampSeconds }
      const computed = runComputeTask(task, engine, limits)
      if (computed.type === 'unresolved') {
        policy.require(computed.chainId)
        throw usage(
          '--local has no chain access: an input that is a UID or a verified proof needs a service (remove --local)',
        )
      }
      if (computed.type === 'problem') throw new ProblemError(computed.problem)
      return (await answers.sign(computed, [], undefined, prefersResultSignature)).json
    },
  }
}

interface LocalItemOptions {
  readonly chainId: number
  readonly recipient: string | undefined
  readonly attest: 'each' | 'none' | undefined
}

/** Computes one item of a batch, as a service does. */
export async function computeLocally(
  { op, id, ...members }: BatchOperation,
  engine: LocalEngine,
  { chainId, recipient, attest }: LocalItemOptions,
): Promise<BatchResult> {
  const idMember = id === undefined ? {} : { id }
  try {
    const response = JSON.parse(await engine.compute(op as OperationName, { chainId, recipient, ...members }))
    if (attest === 'none') {
      delete response.attestation
      delete response.delegatedAttestation
    }
    return { ...idMember, ...response }
  } catch (error) {
    if (error instanceof ProblemError) return { ...idMember, error: toProblemDetails(error.data) }
    if (!(error instanceof CommandError)) throw error
    return { ...idMember, error: toProblemDetails({ type: 'invalid-input', detail: error.message }) }
  }
}

function toProblemDetails({ type, detail, invalidParts }: ProblemData): ProblemDetails {
  const errors =
    invalidParts === undefined ? {} : { errors: invalidParts.slice(0, 10) as NonNullable<ProblemDetails['errors']> }
  return { type: 'about:blank', ...PROBLEMS[type], detail, ...errors }
}
