/** The engine of the service without the service: for `--local`. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { runComputeTask } from '../../workers/compute-task.ts'
import { createEngine } from '../../workers/engine.ts'
import { checksumAddress } from '../attest/address.ts'
import { chainTable } from '../attest/chains.ts'
import { schemaKinds } from '../attest/schema-kinds.ts'
import { schemaUids } from '../attest/schemas.ts'
import { createSigner } from '../attest/signer.ts'
import { resolveSigningKey } from '../attest/signing-key.ts'
import { readConfig } from '../config.ts'
import { createKeccak } from '../crypto/keccak.ts'
import { loadSecp256k1 } from '../crypto/secp256k1.ts'
import type { OperationName } from '../messages.ts'
import { ProblemError } from '../problem.ts'
import { createChainPolicy } from '../service/chain-policy.ts'
import { createSignedAnswers } from '../service/signed-answer.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import { usage } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

export interface LocalEngine {
  /**
   * @param body of the request that a service would get
   * @returns what it would answer, JSON text
   * @throws {ProblemError} what it would refuse it for
   */
  compute(operation: OperationName, body: object, prefersResultSignature?: boolean): Promise<string>
}

/**
 * Computes on this thread, by the code of the compute threads, and signs with the development key: no chain is asked, so nonces
 * are 0 and UIDs are not looked up.
 *
 * @param dataFolder of the development key, which is made when there is none
 * @throws {ConfigError} on a key file that cannot be used
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
  const policy = createChainPolicy({
    chains,
    schemas: schemaUids(config),
    builtInKinds: schemaKinds(config),
    allowAnySchema: config.allowAnySchema,
    chainClient: undefined,
  })
  const sign = (async (payload: Parameters<typeof signer.sign>[0]) => signer.sign(payload)) as SignerClient['sign']
  const answers = createSignedAnswers(
    { address: checksumAddress(signer.address), sign },
    policy,
    () => `0x${randomBytes(32).toString('hex')}`,
  )
  return {
    async compute(operation, body, prefersResultSignature = false) {
      const timestampSeconds = Math.floor(now() / 1000)
      const task = { operation, body: Buffer.from(JSON.stringify(body)), resolved: [], timestampSeconds }
      const computed = runComputeTask(task, engine, limits)
      if (computed.ok === 'unresolved') {
        policy.require(computed.chainId)
        throw usage(
          '--local asks no chain: an input that is a UID or a verified proof needs a service (leave --local out)',
        )
      }
      if (!computed.ok) throw new ProblemError(computed.problem)
      return (await answers.answer(computed, [], undefined, prefersResultSignature)).json
    },
  }
}
