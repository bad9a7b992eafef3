import { TOO_MUCH_WORK } from '../compute/operations.ts'
import type { Config } from '../config.ts'
import { freeBuffer, isLarge } from '../free-buffer.ts'
import type { ComputeResult, ComputeTask, OperationName } from '../messages.ts'
import type { ComputePool } from '../threads/compute-pool.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import type { ChainPolicy } from './chain-policy.ts'
import type { InputResolver } from './inputs.ts'
import { type RequestContext, requireWaiting, type ServiceAnswer } from './services.ts'
import type { Computed, SignedAnswers } from './signed-answer.ts'

export interface ComputeServiceParts {
  readonly config: Config
  readonly pool: ComputePool
  readonly chains: ChainPolicy
  readonly resolver: InputResolver
  readonly answers: SignedAnswers
  readonly signer: Pick<SignerClient, 'waitForRoom'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * The whole line of a compute request: to a compute thread as bytes, back unsigned, signed, answered. Only a reference in it
 * (an attestation's UID, a verified proof) comes back before, to be resolved here.
 *
 * @throws {ProblemError} whatever the client has to be told
 */
export function createComputeService(parts: ComputeServiceParts) {
  const { config, pool, chains, resolver, answers, signer, now } = parts
  const { limits } = config

  return async function compute(
    operation: OperationName,
    body: Uint8Array,
    context: RequestContext,
    prefersResultSignature: boolean,
  ): Promise<ServiceAnswer> {
    // What a thread computes waits there.
    const room = body.byteLength <= limits.inlineBodyBytes ? signer.waitForRoom() : undefined
    if (room !== undefined) {
      await room
      requireWaiting(context, now())
    }
    const timestampSeconds = Math.floor(now() / 1000)
    const task: ComputeTask = { operation, body, resolved: [], timestampSeconds }
    const sign = (computed: Computed, proofInputs: readonly string[]) =>
      answers.answer(computed, proofInputs, undefined, prefersResultSignature)
    const first = await run(task, body.byteLength <= limits.smallBodyBytes, context)
    if (first.ok !== 'unresolved') {
      if (isLarge(body)) freeBuffer(body.buffer)
      return sign(first, [])
    }
    chains.require(first.chainId)
    const inputs = first.inputs.map(({ input }) => input)
    const { resolved, proofInputs } = await resolver.resolve(first.chainId, inputs, context)
    // A reference may stand for a geometry of any size.
    const size = resolved.reduce((sum, { geometry }) => sum + geometry.length, body.byteLength)
    const second = await run({ ...task, resolved }, size <= limits.smallBodyBytes, context)
    if (second.ok === 'unresolved') throw new RangeError('an input stayed unresolved')
    return sign(second, proofInputs)
  }

  /** How much work a small request needs is not seen from its size: the small lane gives up, and the large one takes it. */
  async function run(task: ComputeTask, isSmall: boolean, context: RequestContext): Promise<ComputeResult> {
    const atOnce = isSmall ? pool.runAtOnce(task) : undefined
    if (atOnce !== undefined) return atOnce
    const job = { task, deadlineMs: context.deadlineMs, isAborted: () => context.aborted }
    const first = isSmall ? await pool.runSmall(job) : await pool.runLarge(job)
    return isSmall && needsMoreWork(first) ? pool.runLarge(job) : first
  }
}

function needsMoreWork(result: ComputeResult): boolean {
  return result.ok === false && result.problem.places?.[0]?.code === TOO_MUCH_WORK
}
