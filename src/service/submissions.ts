import { randomBytes } from 'node:crypto'
import type { Config, SubmissionConfig } from '../config.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { AttestationPayload, Hex } from '../messages.ts'
import { ProblemError, problemAt } from '../problem.ts'
import type { Submission } from '../relay-messages.ts'
import { type StoreArgument, StoreFault, type StoreOperation, type StoreResult } from '../store-messages.ts'
import type { RelayClient } from '../threads/relay-client.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import type { StoreClient } from '../threads/store-client.ts'
import type { RequestContext, ServiceAnswer, SubmissionCaller } from './services.ts'
import { createSubmissionAdmission } from './submission-admission.ts'
import { createSubmissionWaits } from './submission-waits.ts'

export interface SubmissionServiceParts {
  readonly config: Config
  /** undefined where nothing is submitted. */
  readonly relay: RelayClient | undefined
  readonly store: Pick<StoreClient, 'ask' | 'untilOpen'> | undefined
  readonly signer: Pick<SignerClient, 'address'>
  readonly keccak: Keccak
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Attestations that this service puts on their chains itself. */
export interface SubmissionService {
  /** @throws {ProblemError} when nothing is submitted to this chain, or not for this caller */
  require(chainId: number, caller: SubmissionCaller): void
  /**
   * Takes an attestation and waits for its block, not for ever.
   *
   * @throws {ProblemError} when it is not taken
   */
  submit(payload: AttestationPayload, caller: SubmissionCaller, context: RequestContext): Promise<Submission>
  /** What became of a submission. @throws {ProblemError} `not-found` */
  submission(id: string, context: RequestContext): Promise<ServiceAnswer>
  /** Ends every wait. */
  close(): void
}

const OPTION = ['options', 'submitOnchain']
const RETRY_SECONDS = 1
/** Submissions of one transaction: a few milliseconds each, which the lock of all processes is held for. */
const STORED_TOGETHER = 50
/** A day's budget is over: the oldest of its submissions leaves it within hours. */
const SPENT_RETRY_SECONDS = 3600
const SUBMISSION_ID = /^[0-9a-f]{32}$/
/** One word of visible characters, as clients make them. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/
/**
 * Gas of one attestation, from above: the contract writes each word of the data for 22,100 and the rest of it for about 160,000
 * (measured with 1 to 36 words on EAS 0.26 to 1.4).
 */
const GAS = { base: 180_000, perWord: 26_000 }

export function createSubmissionService(parts: SubmissionServiceParts): SubmissionService {
  const { config, relay, store, signer, keccak, now } = parts
  const settings = config.submission
  const waits =
    settings &&
    createSubmissionWaits({
      read: (ids) => ask('submissions', ids, { deadlineMs: Number.POSITIVE_INFINITY }),
      pollMs: settings.pollMs,
      maxWaiting: settings.maxQueued,
      now,
    })
  const admission =
    settings &&
    createSubmissionAdmission({
      // The wait for the lock of all processes is part of it: the request's own deadline ends the wait of a client.
      store: (submissions) =>
        askUntil(
          'submit',
          { submissions, maxQueued: settings.maxQueued, gasPerDay: settings.gasPerDay, nowMs: now() },
          now() + config.limits.storeWriteMs,
        ),
      maxWaiting: settings.maxUnstored,
      maxTogether: STORED_TOGETHER,
      now,
    })
  return {
    require(chainId, caller) {
      requireSettings(chainId, caller)
    },

    async submit(payload, caller, context) {
      const { waitMs } = requireSettings(payload.chainId, caller)
      const sender = signer.address.toLowerCase() as Hex
      const submission = {
        id: randomBytes(16).toString('hex'),
        account: caller.account!,
        idempotencyKey: idempotencyKeyOf(caller, payload, sender),
        sender,
        payload,
        gas: GAS.base + GAS.perWord * Math.ceil((payload.data.length - 2) / 64),
      }
      const outcome = await admission!.admit(submission, context).catch(refuse)
      context.moreMs = waitMs
      if (outcome.outcome === 'taken') return await waits!.wait(outcome.submission, now() + waitMs, context)
      throw new ProblemError(REFUSALS[outcome.outcome])
    },

    async submission(id, context) {
      const [found] = settings !== undefined && SUBMISSION_ID.test(id) ? await ask('submissions', [id], context) : []
      if (found === undefined) throw new ProblemError({ type: 'not-found', detail: 'there is no such submission' })
      return { json: JSON.stringify(submissionJson(found)) }
    },

    close: () => waits?.close(),
  }

  function requireSettings(chainId: number, { account, tier, idempotencyKey }: SubmissionCaller): SubmissionConfig {
    const state = relay?.state(chainId)
    if (settings === undefined || state === undefined) {
      throw problemAt('not-implemented', OPTION, 'this service does not submit attestations to this chain', {
        code: 'no-submission',
        hint: 'submit the delegated attestation of the answer yourself',
      })
    }
    if (account === undefined || tier === 'public') {
      throw new ProblemError({ type: 'unauthorized', detail: 'submitOnchain spends money: it needs an API key' })
    }
    if (state.state === 'unfunded') {
      throw problemAt('not-implemented', OPTION, `the account that submits to chain ${chainId} has too little money`, {
        code: 'no-funds',
        hint: 'submit the delegated attestation of the answer yourself',
      })
    }
    if (idempotencyKey !== undefined && !IDEMPOTENCY_KEY.test(idempotencyKey)) {
      throw new ProblemError({
        type: 'bad-request',
        detail: 'Idempotency-Key: is not 1 to 255 visible ASCII characters without spaces',
      })
    }
    return settings
  }

  /** Without a key of the caller's the payload is its own: the same attestation is not paid for twice. */
  function idempotencyKeyOf({ idempotencyKey }: SubmissionCaller, payload: AttestationPayload, sender: Hex): string {
    if (idempotencyKey !== undefined) return `key ${idempotencyKey}`
    const { chainId, schema, recipient, data } = payload
    return `payload ${keccak.hashHex(Buffer.from([chainId, sender, schema, recipient, data].join(' '), 'latin1'))}`
  }

  async function ask<O extends StoreOperation>(
    operation: O,
    argument: StoreArgument<O>,
    { deadlineMs }: Pick<RequestContext, 'deadlineMs'>,
  ): Promise<StoreResult<O>> {
    return askUntil(operation, argument, Math.min(deadlineMs, now() + config.limits.storeReadMs)).catch(refuse)
  }

  async function askUntil<O extends StoreOperation>(operation: O, argument: StoreArgument<O>, deadlineMs: number) {
    await store!.untilOpen(Math.min(deadlineMs, now() + config.limits.storeWaitMs))
    return await store!.ask(operation, argument, deadlineMs)
  }
}

/** The store's words are for the log: clients hear whether it is worth trying again. */
function refuse(error: unknown): never {
  if (!(error instanceof StoreFault)) throw error
  const isBusy = error.kind === 'busy' || error.kind === 'late' || error.kind === 'opening'
  throw new ProblemError(
    isBusy
      ? {
          type: 'overloaded',
          detail: 'submissions cannot be stored or read in time; send the same request again',
          retryAfterSeconds: RETRY_SECONDS,
        }
      : { type: 'database', detail: 'submissions cannot be stored or read now', retryAfterSeconds: RETRY_SECONDS },
    { cause: error },
  )
}

const REFUSALS = {
  conflict: {
    type: 'conflict',
    detail: 'Idempotency-Key: stands for another attestation already; use a new key for this one',
  },
  full: {
    type: 'overloaded',
    detail: 'too many submissions wait for a block of this chain',
    retryAfterSeconds: 10,
  },
  spent: {
    type: 'rate-limited',
    detail: 'the gas that this API key may use in 24 hours is used up',
    retryAfterSeconds: SPENT_RETRY_SECONDS,
  },
} as const

/** As answers show it; what is not known yet is left out. */
export function submissionJson(submission: Submission): object {
  const { id, chainId, status, uid, timeSeconds, transactionHash, blockNumber, error } = submission
  return { id, status, chainId, uid, time: timeSeconds, transactionHash, blockNumber, error }
}
