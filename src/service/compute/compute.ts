import { freeBuffer, isLarge } from '../../base/bytes.ts'
import type { QueueClient } from '../../base/fair-queue.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { ComputePool } from '../../threads/compute-pool.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import type { ComputeResult, ComputeTask } from '../../wire/compute-messages.ts'
import type { OperationName } from '../../wire/values.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import { submissionJson } from '../chains/submission-state.ts'
import { EarlierResultError, type SubmissionService } from '../chains/submissions.ts'
import { type RequestContext, rejectExpired, type ServiceResponse, type SubmissionCaller } from '../request.ts'
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
  readonly submissions: Pick<SubmissionService, 'require' | 'submit'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** What the service knows of a compute request besides its body. */
export interface ComputeCall {
  /** True to sign the result without a nonce too, and to confirm it in `Preference-Applied`. */
  readonly prefersResultSignature: boolean
  /** For whom the result is submitted, if the body asks for that. */
  readonly caller: SubmissionCaller
  /** Whose stored geometries the request may name. */
  readonly account?: string | undefined
}

/** The result of a request, before it is signed. */
interface Finished {
  readonly computed: Computed
  readonly proofInputs: readonly string[]
}

/**
 * Makes the function that handles a compute request from end to end. A compute thread gets the body as bytes and returns an
 * unsigned result; the signer signs it. If an input is a reference (an attestation's UID, a verified proof), the thread returns
 * the request unresolved; the main thread resolves the reference and submits the request again.
 *
 * The function throws a ProblemError for every error that the client should see.
 */
export function createComputeService(parts: ComputeServiceParts) {
  const { config, pool, chains, resolver, storedShapes, answers, signer, submissions, now } = parts
  const { limits } = config

  return async function compute(
    operation: OperationName,
    body: Uint8Array,
    context: RequestContext,
    call: ComputeCall,
  ): Promise<ServiceResponse> {
    // Only bodies that the main thread computes wait here for a slot at the signer. Larger ones wait in a compute thread.
    const roomAtSigner = body.byteLength <= limits.inlineBodyBytes ? signer.waitForSlot(context.client) : undefined
    if (roomAtSigner !== undefined) {
      await roomAtSigner
      rejectExpired(context, now())
    }
    const finish = (timestampSeconds: number) => computeAt(timestampSeconds, operation, body, context, call.account)
    const finished = await finish(Math.floor(now() / 1000))
    const submits = finished.computed.type === 'computed' && finished.computed.submitOnchain === true
    const answer = submits ? await submit(finished, finish, context, call) : await sign(finished, call)
    if (isLarge(body)) freeBuffer(body.buffer)
    return answer
  }

  function sign({ computed, proofInputs }: Finished, { prefersResultSignature }: ComputeCall) {
    return answers.sign(computed, proofInputs, undefined, { prefersResultSignature })
  }

  /**
   * Signs and submits a result. If the `Idempotency-Key` of the request stands for a result of an earlier time, computes the request
   * again as of that time, so that a repeated request gets the attestation that was submitted first.
   *
   * @param finish computes the request as of a time in Unix seconds
   */
  async function submit(
    finished: Finished,
    finish: (timestampSeconds: number) => Promise<Finished>,
    context: RequestContext,
    { prefersResultSignature, caller }: ComputeCall,
  ): Promise<ServiceResponse> {
    const submitNow = ({ computed, proofInputs }: Finished) =>
      answers.sign(computed, proofInputs, undefined, {
        prefersResultSignature,
        submit: async (payload) => submissionJson(await submissions.submit(payload, caller, context)),
      })
    const { computed } = finished
    if (computed.type === 'computed') submissions.require(chains.require(computed.chainId).id, caller)
    try {
      return await submitNow(finished)
    } catch (error) {
      if (!(error instanceof EarlierResultError)) throw error
      return await submitNow(await finish(error.timestampSeconds))
    }
  }

  async function computeAt(
    timestampSeconds: number,
    operation: OperationName,
    body: Uint8Array,
    context: RequestContext,
    account: string | undefined,
  ): Promise<Finished> {
    const mentioned = storedShapes.findMentioned(body, account, context)
    const { shapes, missing } = mentioned instanceof Promise ? await mentioned : mentioned
    const task: ComputeTask = { operation, body, resolved: [], stored: shapes, timestampSeconds }
    const first = await run(task, body.byteLength <= limits.smallBodyBytes, context)
    if (first.type !== 'unresolved') return { computed: first, proofInputs: [] }
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
    return { computed: second, proofInputs }
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

interface ComputeRefusalParts extends Pick<ComputeServiceParts, 'config'> {
  readonly pool: Pick<ComputePool, 'refusalFor'>
  readonly signer: Pick<SignerClient, 'refusalFor'>
}

/**
 * Makes the function that refuses compute requests in an overload, before anything of their body is read.
 *
 * The function returns the problem of a request that would wait too long, by its client and the announced size of its body.
 */
export function createComputeRefusal({ config, pool, signer }: ComputeRefusalParts) {
  const { inlineBodyBytes } = config.limits
  return (client: QueueClient, bodyBytes: number | undefined): ProblemData | undefined => {
    if (bodyBytes === undefined) return undefined
    return bodyBytes <= inlineBodyBytes ? signer.refusalFor(client) : pool.refusalFor(client, bodyBytes)
  }
}

function needsMoreWork(result: ComputeResult): boolean {
  return result.type === 'problem' && result.problem.type === 'too-complex'
}
