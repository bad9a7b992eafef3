import { freeBuffer, isLarge } from '../../base/bytes.ts'
import type { QueueClient } from '../../base/fair-queue.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { ComputePool } from '../../threads/compute-pool.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import type { ComputeResult, ComputeTask } from '../../wire/compute-messages.ts'
import type { OperationName } from '../../wire/values.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import { type RequestContext, rejectExpired, type ServiceResponse } from '../request.ts'
import type { StoredShapes } from '../stored/geometries.ts'
import type { InputResolver } from './inputs.ts'
import type { Computed, ResponseSigner } from './signed-answer.ts'

export interface ComputeServiceParts {
  readonly config: Config
  readonly pool: ComputePool
  readonly chains: ChainPolicy
  readonly resolver: InputResolver
  readonly storedShapes: Pick<StoredShapes, 'findMentioned'>
  readonly answers: ResponseSigner
  readonly signer: Pick<SignerClient, 'waitForSlot'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Makes the function that handles a compute request from end to end. A compute thread gets the body as bytes and returns an
 * unsigned result; the signer signs it. If an input is a reference (an attestation's UID, a verified proof), the thread returns
 * the request unresolved; the main thread resolves the reference and submits the request again.
 *
 * The function throws a ProblemError for every error that the client should see.
 */
export function createComputeService(parts: ComputeServiceParts) {
  const { config, pool, chains, resolver, storedShapes, answers, signer, now } = parts
  const { limits } = config

  return async function compute(
    operation: OperationName,
    body: Uint8Array,
    context: RequestContext,
    prefersResultSignature: boolean,
    account?: string,
  ): Promise<ServiceResponse> {
    // Only bodies that the main thread computes wait here for a slot at the signer. Larger ones wait in a compute thread.
    const roomAtSigner = body.byteLength <= limits.inlineBodyBytes ? signer.waitForSlot(context.client) : undefined
    if (roomAtSigner !== undefined) {
      await roomAtSigner
      rejectExpired(context, now())
    }
    const timestampSeconds = Math.floor(now() / 1000)
    const mentioned = storedShapes.findMentioned(body, account, context)
    const { shapes, missing } = mentioned instanceof Promise ? await mentioned : mentioned
    const task: ComputeTask = { operation, body, resolved: [], stored: shapes, timestampSeconds }
    const sign = (computed: Computed, proofInputs: readonly string[]) =>
      answers.sign(computed, proofInputs, undefined, prefersResultSignature)
    const first = await run(task, body.byteLength <= limits.smallBodyBytes, context)
    if (first.type !== 'unresolved') {
      if (isLarge(body)) freeBuffer(body.buffer)
      return sign(first, [])
    }
    chains.require(first.chainId)
    const inputs = first.inputs.map(({ input }) => input)
    const { resolved, stored, proofInputs } = await resolver.resolve(first.chainId, inputs, context, {
      account,
      missing,
    })
    // A referenced geometry may have any size.
    const size = resolved.reduce((sum, { geometry }) => sum + geometry.length, body.byteLength)
    const second = await run(
      { ...task, resolved, stored: [...shapes, ...stored] },
      size <= limits.smallBodyBytes,
      context,
    )
    if (second.type === 'unresolved') throw new RangeError('an input stayed unresolved')
    return sign(second, proofInputs)
  }

  /**
   * Runs a task in the lane for its size. The size does not show how much work a small request needs: if it needs too much, the
   * small lane gives up and the large lane takes it.
   */
  async function run(task: ComputeTask, isSmall: boolean, context: RequestContext): Promise<ComputeResult> {
    const inlineResult = isSmall ? pool.runOnMainThread(task, context.costs) : undefined
    if (inlineResult !== undefined) return inlineResult
    const { client, costs, deadlineMs } = context
    const job = { task, client, costs, deadlineMs, isAborted: () => context.aborted }
    const first = isSmall ? await pool.runSmall(job) : await pool.runLarge(job)
    return isSmall && needsMoreWork(first) ? pool.runLarge(job) : first
  }
}

/** Handles a compute request from end to end. */
export type ComputeService = ReturnType<typeof createComputeService>

/**
 * Makes the function that refuses compute requests in an overload, before anything of their body is read.
 *
 * The function returns the problem of a request that would wait too long, by its client and the announced size of its body.
 */
export function createComputeRefusal({ config, signer }: { config: Config; signer: Pick<SignerClient, 'refusalFor'> }) {
  const { inlineBodyBytes } = config.limits
  return (client: QueueClient, bodyBytes: number | undefined): ProblemData | undefined =>
    bodyBytes !== undefined && bodyBytes <= inlineBodyBytes ? signer.refusalFor(client) : undefined
}

function needsMoreWork(result: ComputeResult): boolean {
  return result.type === 'problem' && result.problem.type === 'too-complex'
}
