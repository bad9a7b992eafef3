/** Runs the service's engine in this process, for `--local`. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { chainTable } from '../attest/chains.ts'
import { schemaKinds, schemaUids } from '../attest/schemas.ts'
import { createSigner } from '../attest/signer.ts'
import { resolveSigningKey } from '../attest/signing-key.ts'
import type { PackedBytes } from '../base/bytes.ts'
import { type ProblemData, ProblemError } from '../base/problem.ts'
import { runComputeChunk } from '../compute/chunk.ts'
import { createEngine } from '../compute/engine.ts'
import { runComputeTask } from '../compute/task.ts'
import { type Config, readConfig } from '../config/config.ts'
import { checksumAddress } from '../crypto/address.ts'
import { createKeccak } from '../crypto/keccak.ts'
import { loadSecp256k1 } from '../crypto/secp256k1.ts'
import { problemJson } from '../http/routes/respond.ts'
import { ChainPolicy } from '../service/chains/chain-policy.ts'
import { type Computed, createResponseSigner, type ResponseSigner } from '../service/compute/signed-answer.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import type { ProblemDetails } from '../types/generated.ts'
import type { ComputeChunk, UnfinishedItem } from '../wire/batch-messages.ts'
import type { ComputeResult } from '../wire/compute-messages.ts'
import type { OperationName } from '../wire/values.ts'
import type { ItemResult } from './batch/feeder.ts'
import { CommandError, usage } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

type Clock = Pick<Terminal, 'now'>

export interface LocalEngine {
  /**
   * Computes one request.
   *
   * @param body the request body that a service would get
   * @returns the response of the service, as JSON
   * @throws {ProblemError} if the service would reject the request
   */
  compute(operation: OperationName, body: object, prefersResultSignature?: boolean): Promise<string>
  /**
   * Computes items of a batch.
   *
   * @param items operations as JSON text
   * @returns their results in the same order, equal to those of a service
   */
  computeItems(items: readonly string[], options: LocalBatchOptions): Promise<ItemResult[]>
}

interface LocalBatchOptions {
  readonly chainId: number
  readonly recipient: string | undefined
  readonly attest: 'each' | 'none'
}

/**
 * Creates an engine that computes on this thread, with the code of the compute threads. If results are signed, it signs with the
 * development key. It has no chain access, so nonces are 0 and UIDs cannot be resolved.
 *
 * @param dataFolder folder of the development key, which is created when the first result is signed
 */
export function createLocalEngine({ env, now }: Pick<Terminal, 'env' | 'now'>, dataFolder?: string): LocalEngine {
  const config = readConfig({ ...env, ...(dataFolder === undefined ? {} : { DATA_DIR: dataFolder }) }, 1)
  const chains = chainTable(config)
  const limits = { ...config.limits, chainIds: [...chains.keys()] }
  const engine = createEngine(limits)
  const policy = new ChainPolicy({
    chains,
    schemas: schemaUids(config),
    builtInKinds: schemaKinds(config),
    allowAnySchema: config.allowAnySchema,
    chainClient: undefined,
  })
  const schemas = { numeric: policy.defaultSchema('numeric'), boolean: policy.defaultSchema('boolean') }
  let responseSigner: Promise<ResponseSigner> | undefined
  const getSigner = () => (responseSigner ??= createDevelopmentSigner(config, policy, { now }))
  const nowSeconds = () => Math.floor(now() / 1000)

  return {
    async compute(operation, body, prefersResultSignature = false) {
      const task = { operation, body: Buffer.from(JSON.stringify(body)), resolved: [], timestampSeconds: nowSeconds() }
      const computed = requireResolved(runComputeTask(task, engine, limits), policy)
      return (await (await getSigner()).sign(computed, [], undefined, prefersResultSignature)).json
    },

    async computeItems(items, { chainId, recipient, attest }) {
      const chunk: ComputeChunk = {
        type: 'chunk',
        items: packTexts(items),
        firstIndex: undefined,
        chainId,
        recipient,
        attest,
        itemsInQuota: items.length,
        quotaProblem: NO_QUOTA_PROBLEM,
        maxItemBytes: Number.MAX_SAFE_INTEGER, // nothing arrives over a network
        schemas,
        attester: undefined,
        returnsObjects: attest !== 'none',
        resolved: [],
        timestampSeconds: nowSeconds(),
      }
      const { texts, unfinished } = runComputeChunk(chunk, engine, limits)
      const bytes = Buffer.from(texts.buffer)
      const results: ItemResult[] = []
      for (let index = 0; index < items.length; index++) {
        const item = unfinished.get(index)
        // A line feed follows each text.
        const [start, end] = [texts.offsets[index]!, texts.offsets[index + 1]! - 1]
        results.push(item === undefined ? { json: bytes.toString('utf8', start, end) } : await finishItem(item))
      }
      return results
    },
  }

  /** Signs a result, or says why the item is rejected. */
  async function finishItem({ id, result }: UnfinishedItem): Promise<ItemResult> {
    try {
      if (result.type === 'problem') return { error: toProblemDetails(result.problem) }
      const computed = requireResolved(result, policy)
      return { json: (await (await getSigner()).sign(computed, [], id)).json }
    } catch (error) {
      if (error instanceof ProblemError) return { error: toProblemDetails(error.data) }
      if (!(error instanceof CommandError)) throw error
      return { error: toProblemDetails({ type: 'invalid-input', detail: error.message }) }
    }
  }
}

/** Encodes texts into one buffer, without a buffer for each. */
function packTexts(texts: readonly string[]): PackedBytes {
  const offsets = new Uint32Array(texts.length + 1)
  texts.forEach((text, index) => {
    offsets[index + 1] = offsets[index]! + Buffer.byteLength(text)
  })
  const buffer = new ArrayBuffer(offsets[texts.length]!)
  Buffer.from(buffer).write(texts.join(''))
  return { buffer, offsets }
}

/** There is no quota in this process. */
const NO_QUOTA_PROBLEM: ProblemData = { type: 'internal', detail: 'there is no quota' }

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
    '--local has no chain access: an input that is a UID or a verified proof needs a service (remove --local)',
  )
}

/** Returns a problem with the texts that a service would return. Its members about the request are left out. */
function toProblemDetails(problem: ProblemData): ProblemDetails {
  const { instance, requestId, ...details } = JSON.parse(
    problemJson({ errorTypeBase: '', path: '', requestId: '' }, problem),
  )
  return { ...details, type: 'about:blank' }
}
