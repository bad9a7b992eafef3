import { checksumAddress } from '../attest/address.ts'
import { OPERATIONS, TOO_MUCH_WORK } from '../compute/operations.ts'
import type { Config } from '../config.ts'
import type { ComputeResult, ComputeTask, Hex, OperationName } from '../messages.ts'
import { ProblemError } from '../problem.ts'
import type { ComputePool } from '../threads/compute-pool.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import { readComputeRequest } from '../validation/compute-request.ts'
import { parseJsonObject } from '../validation/json-body.ts'
import { computeAnswerJson } from './answer.ts'
import type { ChainPolicy } from './chain-policy.ts'
import type { InputResolver, Resolution } from './inputs.ts'
import type { RequestContext, ServiceAnswer } from './services.ts'

export interface ComputeServiceParts {
  readonly config: Config
  readonly pool: ComputePool
  readonly signer: SignerClient
  readonly chains: ChainPolicy
  readonly resolver: InputResolver
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

type Computed = Extract<ComputeResult, { ok: true }>

const NOTHING: Resolution = { resolved: [], proofInputs: [] }

/**
 * The whole line of a compute request: validate, resolve inputs, compute in a worker, sign, answer.
 *
 * @throws {ProblemError} whatever the client has to be told
 */
export function createComputeService(parts: ComputeServiceParts) {
  const { config, pool, signer, chains, resolver, now } = parts
  const { limits } = config

  return async function compute(
    operation: OperationName,
    body: Uint8Array,
    context: RequestContext,
  ): Promise<ServiceAnswer> {
    const timestampSeconds = Math.floor(now() / 1000)
    const task: ComputeTask = { operation, body, validated: false, resolved: [], timestampSeconds }
    const { computed, proofInputs } =
      body.byteLength <= limits.smallBodyBytes ? await runSmall(task, context) : await runLarge(task, context)
    return sign(operation, computed, timestampSeconds, proofInputs)
  }

  /** A small body is validated here: errors answer at once, and its inputs are known before it travels. */
  async function runSmall(task: ComputeTask, context: RequestContext) {
    const row = OPERATIONS[task.operation]
    const request = readComputeRequest(row, parseJsonObject(task.body, limits.maxJsonDepth), limits.maxCollectionDepth)
    const chain = chains.require(request.chainId)
    await chains.requireSchema(chain, row.result.kind, request.schema)
    const open = request.inputs.filter((input) => input.form !== 'geometry')
    const { resolved, proofInputs } = open.length === 0 ? NOTHING : await resolver.resolve(request.chainId, open)
    const job = jobOf({ ...task, validated: true, resolved }, context)
    // A reference may stand for a geometry of any size.
    const isSmall = resolved.every(({ geometry }) => geometry.length <= limits.smallBodyBytes)
    const first = isSmall ? await pool.runSmall(job) : await pool.runLarge(job)
    const result = isSmall && needsMoreWork(first) ? await pool.runLarge(job) : first
    return { computed: requireComputed(result), proofInputs }
  }

  /** A large body travels as bytes; only a reference in it comes back to be resolved. */
  async function runLarge(task: ComputeTask, context: RequestContext) {
    const first = await pool.runLarge(jobOf(task, context))
    if (first.ok !== 'unresolved') {
      const computed = requireComputed(first)
      await requireAllowed(task.operation, computed)
      return { computed, proofInputs: [] }
    }
    chains.require(first.chainId)
    const open = first.inputs.map(({ input }) => input)
    const { resolved, proofInputs } = await resolver.resolve(first.chainId, open)
    const computed = requireComputed(await pool.runLarge(jobOf({ ...task, validated: true, resolved }, context)))
    await requireAllowed(task.operation, computed)
    return { computed, proofInputs }
  }

  async function requireAllowed(operation: OperationName, computed: Computed): Promise<void> {
    const chain = chains.require(computed.chainId)
    await chains.requireSchema(chain, OPERATIONS[operation].result.kind, computed.schema)
  }

  function jobOf(task: ComputeTask, context: RequestContext) {
    return { task, deadlineMs: context.deadlineMs, isAborted: () => context.aborted }
  }

  async function sign(
    operation: OperationName,
    computed: Computed,
    timestampSeconds: number,
    proofInputs: readonly unknown[],
  ): Promise<ServiceAnswer> {
    const { kind, chainId, recipient, data } = computed
    const schema: Hex = computed.schema ?? chains.defaultSchema(kind)
    const signed = await signer.sign({ kind, chainId, schema, recipient, data })
    if (!signed.ok) throw new ProblemError(signed.problem)
    const { result } = OPERATIONS[operation]
    const json = computeAnswerJson({
      result: computed.result,
      units: result.kind === 'numeric' ? result.units : undefined,
      operation: computed.operation,
      timestampSeconds,
      inputRefs: computed.inputRefs,
      schema,
      attester: signer.address,
      recipient: checksumAddress(recipient),
      data,
      signature: signed.signature,
      nonce: signed.nonce,
      deadlineSeconds: signed.deadlineSeconds,
      proofInputs,
    })
    return signed.nonceSource === 'chain'
      ? { json }
      : { json, headers: signed.nonceSource === 'cache' ? FROM_CACHE : FROM_DEFAULT }
  }
}

const FROM_CACHE = { 'X-Attester-Nonce-Source': 'cache' }
const FROM_DEFAULT = { 'X-Attester-Nonce-Source': 'default' }

/** The small lane gave up: how much work a request needs is not seen from its size. */
function needsMoreWork(result: ComputeResult): boolean {
  return result.ok === false && result.problem.places?.[0]?.code === TOO_MUCH_WORK
}

function requireComputed(result: ComputeResult): Computed {
  if (result.ok === true) return result
  if (result.ok === false) throw new ProblemError(result.problem)
  throw new RangeError('an input stayed unresolved')
}
