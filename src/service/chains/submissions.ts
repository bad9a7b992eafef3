import { randomBytes } from 'node:crypto'
import { decodeBoolean, decodeMerkleRoot, decodeNumeric } from '../../attest/data.ts'
import { type ProblemData, ProblemError, type ProblemType, problemAt } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { SubmissionConfig } from '../../config/submission.ts'
import type { Keccak } from '../../crypto/primitives.ts'
import type { RelayClient } from '../../threads/relay-client.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import type { StoreCaller, StoreClient } from '../../threads/store-client.ts'
import type { NewSubmission, RelayState, Submission, SubmitOutcome } from '../../wire/relay-messages.ts'
import type { AttestationPayload } from '../../wire/signing-messages.ts'
import { type StoreArgument, StoreFault, type StoreOperation } from '../../wire/store-messages.ts'
import { isWalletAccount } from '../../wire/usage-messages.ts'
import type { Hex } from '../../wire/values.ts'
import type { EventSink } from '../records/record-services.ts'
import type { RequestContext, ServiceResponse, SubmissionCaller } from '../request.ts'
import { SubmissionAdmission } from './submission-admission.ts'
import { submissionJson } from './submission-state.ts'
import { SubmissionStreams } from './submission-streams.ts'
import { JoinedReads, SubmissionWaits } from './submission-waits.ts'

export interface SubmissionServiceParts {
  readonly config: Config
  /** Undefined if this service submits nothing. */
  readonly relay: RelayClient | undefined
  readonly store: Pick<StoreClient, 'ask' | 'untilOpen'> | undefined
  readonly signer: Pick<SignerClient, 'address'>
  readonly keccak: Keccak
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Submits attestations to their chains. */
export interface SubmissionService {
  /** Results of one batch that may be submitted one by one. */
  readonly maxBatchItems: number
  /**
   * @param option where the request asks for it; by default in the body of a request whose response is the attestation
   * @throws {ProblemError} if the service does not submit to this chain, or not for this caller
   */
  require(chainId: number, caller: SubmissionCaller, option?: SubmissionOption): void
  /**
   * Stores a submission and waits a limited time for its block.
   *
   * @param item index of the attestation, if one request has several under its `Idempotency-Key`
   * @throws {EarlierResultError} if the key stands for a result of an earlier time
   * @throws {ProblemError} if the submission is not accepted
   */
  submit(
    payload: AttestationPayload,
    caller: SubmissionCaller,
    context: RequestContext,
    item?: number,
  ): Promise<Submission>
  /**
   * Stores a submission without waiting for its block.
   *
   * @param item index of the attestation, if one request has several under its `Idempotency-Key`
   * @throws {EarlierResultError} if the key stands for a result of an earlier time
   * @throws {ProblemError} if the submission is not accepted
   */
  store(
    payload: AttestationPayload,
    caller: SubmissionCaller,
    context: RequestContext,
    item?: number,
  ): Promise<Submission>
  /**
   * Stores a submission of a job without waiting for its block. The same payload gives the same submission.
   *
   * @returns undefined if the job has ended without it; `isNew` is false if it was stored before
   * @throws {ProblemError} if the submission is not accepted; `mayBeAccepted` tells whether it may be later
   */
  storeForJob(payload: AttestationPayload, owner: JobSubmission): Promise<StoredSubmission | undefined>
  /** Waits a limited time for the blocks of submissions. Returns their last known states, in the same order. */
  wait(submissions: readonly Submission[], context: RequestContext): Promise<readonly Submission[]>
  /** Returns the state of a submission. @throws {ProblemError} `not-found` */
  submission(id: string, context: RequestContext): Promise<ServiceResponse>
  /**
   * Writes the state of a submission as a server-sent event now and at each change, until it is final.
   *
   * @throws {ProblemError} `not-found`, or `overloaded` beyond the limits on open streams
   */
  watch(id: string, context: RequestContext, sink: EventSink): Promise<void>
  /** Ends every wait. */
  close(): void
}

/**
 * The `Idempotency-Key` stands for a result of an earlier time. If the request is computed again as of that time, its result may be
 * the same. For a caller that does not try this, it is the problem `conflict`.
 */
export class EarlierResultError extends ProblemError {
  readonly timestampSeconds: number

  constructor(timestampSeconds: number) {
    super(OUTCOME_PROBLEMS.conflict)
    this.timestampSeconds = timestampSeconds
  }
}

/** Where a request asks for submission. */
export interface SubmissionOption {
  readonly pointer: readonly string[]
  /** How its results get to the chain if the service does not submit them. */
  readonly otherWay: string
}

interface StoredSubmission {
  readonly submission: Submission
  readonly isNew: boolean
}

/** What a submission of a job belongs to. */
export interface JobSubmission {
  /** The owner of the job. */
  readonly account: string
  /** Position of the job in the store. */
  readonly position: number
  /** Id of the job. */
  readonly id: string
  /** Index of the operation; undefined for the root. */
  readonly operation: number | undefined
}

/** Codes of problems that end when the operator gives the account money, or enables submission in the process that asks. */
const OPERATOR_CODES: readonly string[] = ['no-funds', 'no-submission']

/** Returns whether a submission that was rejected with this error may be accepted at a later time. */
export function mayBeAccepted(error: unknown): boolean {
  if (!(error instanceof ProblemError)) return false
  const { cause, data } = error
  if (cause instanceof StoreFault && (cause.kind === 'refused' || cause.kind === 'large')) return false
  return PASSING.includes(data.type) || OPERATOR_CODES.includes(data.invalidParts?.[0]?.code ?? '')
}

const PASSING: readonly ProblemType[] = ['overloaded', 'database', 'rate-limited']
const OF_BODY: SubmissionOption = {
  pointer: ['options', 'submitOnchain'],
  otherWay: 'leave out submitOnchain, and submit the delegated attestation of the response yourself',
}
const NO_PAYER: ProblemData = {
  type: 'unauthorized',
  detail: 'submitOnchain costs money, so it needs an API key of the tier developer or internal in the header X-API-Key',
}
const RETRY_SECONDS = 1
/** Submissions per database transaction. Each takes a few milliseconds, during which the lock shared by all processes is held. */
const MAX_STORED_TOGETHER = 50
/** Retry time when the gas of 24 hours is used up: the oldest submissions leave this window within hours. */
const GAS_RETRY_SECONDS = 3600
const SUBMISSION_ID = /^[0-9a-f]{32}$/
/** One word of visible ASCII characters. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/
/**
 * Upper bounds on the gas of one attestation. The contract writes each word of the data for 22,100 gas and everything else for
 * about 160,000 (measured with 1 to 36 words on EAS 0.26 to 1.4).
 */
const GAS = { base: 180_000, perWord: 26_000 }

/** Returns the service that submits attestations, or one that rejects every submission if submitting is not enabled. */
export function createSubmissionService(parts: SubmissionServiceParts): SubmissionService {
  const { config, store } = parts
  if (config.submission === undefined || store === undefined) return NO_SUBMISSIONS
  return new Submissions(parts, config.submission, store)
}

const NO_SUBMISSIONS: SubmissionService = {
  maxBatchItems: 0,
  require(chainId, _caller, option) {
    throw notSubmitted(chainId, [], option)
  },
  submit: async ({ chainId }) => {
    throw notSubmitted(chainId, [])
  },
  store: async ({ chainId }) => {
    throw notSubmitted(chainId, [])
  },
  storeForJob: async ({ chainId }) => {
    throw notSubmitted(chainId, [])
  },
  wait: async (submissions) => submissions,
  submission: async () => {
    throw unknownSubmission()
  },
  watch: async () => {
    throw unknownSubmission()
  },
  close() {},
}

class Submissions implements SubmissionService {
  readonly #parts: SubmissionServiceParts
  readonly #settings: SubmissionConfig
  readonly #store: Pick<StoreClient, 'ask' | 'untilOpen'>
  readonly #admission: SubmissionAdmission
  readonly #waits: SubmissionWaits
  readonly #streams: SubmissionStreams
  readonly #firstReads: JoinedReads

  constructor(
    parts: SubmissionServiceParts,
    settings: SubmissionConfig,
    store: Pick<StoreClient, 'ask' | 'untilOpen'>,
  ) {
    const { now } = parts
    this.#parts = parts
    this.#settings = settings
    this.#store = store
    this.#admission = new SubmissionAdmission({
      store: (submissions) => this.#storeAll(submissions),
      maxWaiting: settings.maxUnstored,
      maxTogether: MAX_STORED_TOGETHER,
      now,
    })
    const read = (ids: readonly string[]) => this.#read(ids, { deadlineMs: Number.POSITIVE_INFINITY })
    this.#firstReads = new JoinedReads(read)
    this.#waits = new SubmissionWaits({
      read,
      pollMs: settings.pollMs,
      maxWaiting: settings.maxQueued,
      maxWaitingPerClient: settings.maxQueuedPerKey,
      now,
    })
    this.#streams = new SubmissionStreams({ waits: this.#waits, limits: parts.config.limits, now })
  }

  require(
    chainId: number,
    { account, tier, idempotencyKey }: SubmissionCaller,
    option: SubmissionOption = OF_BODY,
  ): void {
    const state = this.#requireRelay(chainId, option)
    if (account === undefined || tier === 'public') throw new ProblemError(NO_PAYER)
    this.#requireAllowed(account, option)
    requireFunds(chainId, state, option)
    if (idempotencyKey !== undefined && !IDEMPOTENCY_KEY.test(idempotencyKey)) {
      throw new ProblemError({
        type: 'bad-request',
        detail: 'Idempotency-Key: must be 1 to 255 visible ASCII characters without spaces',
      })
    }
  }

  /** Anyone can make wallets, so their accounts spend the operator's money only if the operator allows it (decision 175). */
  #requireAllowed(account: string, { pointer }: SubmissionOption = OF_BODY): void {
    if (this.#settings.walletAccounts || !isWalletAccount(account)) return
    throw problemAt('forbidden', pointer, 'this service submits nothing for accounts of wallets', {
      code: 'wallet-account',
      hint: 'use an API key of the operator, who can also allow wallets to submit (SUBMIT_WALLET_ACCOUNTS=1)',
    })
  }

  #requireRelay(chainId: number, option?: SubmissionOption): RelayState {
    const { relay } = this.#parts
    const state = relay?.state(chainId)
    if (state === undefined) throw notSubmitted(chainId, relay?.chainIds ?? [], option)
    return state
  }

  get maxBatchItems(): number {
    return this.#settings.maxBatchItems
  }

  async submit(
    payload: AttestationPayload,
    caller: SubmissionCaller,
    context: RequestContext,
    item?: number,
  ): Promise<Submission> {
    const [submission] = await this.wait([await this.store(payload, caller, context, item)], context)
    return submission!
  }

  async wait(submissions: readonly Submission[], context: RequestContext): Promise<readonly Submission[]> {
    const { waitMs } = this.#settings
    context.extraMs = waitMs
    const untilMs = this.#parts.now() + waitMs
    return await Promise.all(submissions.map((submission) => this.#waits.wait(submission, untilMs, context)))
  }

  async store(
    payload: AttestationPayload,
    caller: SubmissionCaller,
    context: RequestContext,
    item?: number,
  ): Promise<Submission> {
    this.require(payload.chainId, caller)
    const idempotencyKey = this.#storedIdempotencyKey(caller, payload, item)
    const stored = await this.#admit(payload, { account: caller.account!, idempotencyKey }, context)
    return stored!.submission
  }

  async storeForJob(
    payload: AttestationPayload,
    { account, position, id, operation }: JobSubmission,
  ): Promise<StoredSubmission | undefined> {
    requireFunds(payload.chainId, this.#requireRelay(payload.chainId))
    // The setting may have changed since the job was created.
    this.#requireAllowed(account)
    // The keys of clients are stored with another word before them.
    const idempotencyKey = `job ${id}${operation === undefined ? '' : ` ${operation}`}`
    const { now, config } = this.#parts
    const context = { deadlineMs: now() + config.limits.requestDeadlineMs, aborted: false }
    return this.#admit(payload, { account, idempotencyKey, job: position }, context)
  }

  /** @returns undefined if the submission belongs to a job that has ended */
  async #admit(
    payload: AttestationPayload,
    owner: Pick<NewSubmission, 'account' | 'idempotencyKey' | 'job'>,
    context: Pick<RequestContext, 'deadlineMs' | 'aborted'>,
  ): Promise<StoredSubmission | undefined> {
    const submission = {
      ...owner,
      id: randomBytes(16).toString('hex'),
      sender: this.#sender,
      payload,
      gas: GAS.base + GAS.perWord * Math.ceil((payload.data.length - 2) / 64),
    }
    const outcome = await this.#admission.admit(submission, context).catch(throwStoreProblem)
    if (outcome.outcome === 'taken')
      return { submission: outcome.submission, isNew: outcome.submission.id === submission.id }
    if (outcome.outcome === 'ended') return undefined
    if (outcome.outcome === 'conflict') {
      const earlierSeconds = resultTimeSeconds(outcome.stored)
      if (earlierSeconds !== undefined && earlierSeconds !== resultTimeSeconds(payload)) {
        throw new EarlierResultError(earlierSeconds)
      }
    }
    throw new ProblemError(OUTCOME_PROBLEMS[outcome.outcome])
  }

  async submission(id: string, context: RequestContext): Promise<ServiceResponse> {
    return { json: JSON.stringify(submissionJson(await this.#find(id, context))) }
  }

  watch(id: string, context: RequestContext, sink: EventSink): Promise<void> {
    const find = async () => {
      const submission = SUBMISSION_ID.test(id) ? await this.#firstReads.find(id) : undefined
      if (submission === undefined) throw unknownSubmission()
      return submission
    }
    return this.#streams.run(find, context, sink)
  }

  close(): void {
    this.#waits.close()
  }

  async #find(id: string, context: RequestContext): Promise<Submission> {
    const [submission] = SUBMISSION_ID.test(id) ? await this.#read([id], context) : []
    if (submission === undefined) throw unknownSubmission()
    return submission
  }

  /** Returns the caller's key, or else the hash of the payload, so that the same attestation is not paid for twice. */
  #storedIdempotencyKey(
    { idempotencyKey }: SubmissionCaller,
    { chainId, schema, recipient, data }: AttestationPayload,
    item: number | undefined,
  ): string {
    // A client's key has no spaces, so no key stands for an item of another one.
    if (idempotencyKey !== undefined) return `key ${idempotencyKey}${item === undefined ? '' : ` ${item}`}`
    const text = [chainId, this.#sender, schema, recipient, data].join(' ')
    return `payload ${this.#parts.keccak.hashHex(Buffer.from(text, 'latin1'))}`
  }

  get #sender(): Hex {
    return this.#parts.signer.address.toLowerCase() as Hex
  }

  #storeAll(submissions: readonly NewSubmission[]): Promise<readonly SubmitOutcome[]> {
    const { now, config } = this.#parts
    const { maxQueued, maxQueuedPerKey, gasPerDay, gasPerDayOfAll } = this.#settings
    // This deadline includes the wait for the lock shared by all processes. The client stops waiting at the request's own
    // deadline.
    const deadlineMs = now() + config.limits.storeWriteMs
    const limits = { maxQueued, maxQueuedPerKey, gasPerDay, gasPerDayOfAll, nowMs: now() }
    return this.#ask('submit', { submissions, ...limits }, deadlineMs)
  }

  async #read(
    ids: readonly string[],
    caller: Pick<RequestContext, 'deadlineMs'> & StoreCaller,
  ): Promise<readonly Submission[]> {
    const { now, config } = this.#parts
    const untilMs = Math.min(caller.deadlineMs, now() + config.limits.storeReadMs)
    return this.#ask('submissions', ids, untilMs, caller).catch(throwStoreProblem)
  }

  /** @param caller undefined for what several clients share */
  async #ask<O extends StoreOperation>(
    operation: O,
    argument: StoreArgument<O>,
    deadlineMs: number,
    caller?: StoreCaller,
  ) {
    const { now, config } = this.#parts
    await this.#store.untilOpen(Math.min(deadlineMs, now() + config.limits.storeWaitMs), caller)
    return await this.#store.ask(operation, argument, deadlineMs, caller)
  }
}

/** Returns the time at which a result was computed, Unix seconds; undefined for a verified proof, whose data has no time. */
function resultTimeSeconds({ kind, data }: Pick<AttestationPayload, 'kind' | 'data'>): number | undefined {
  if (kind === 'verify') return undefined
  const decoded = RESULT_DECODERS[kind](data)
  return decoded.ok ? Number(decoded.value.timestampSeconds) : undefined
}

const RESULT_DECODERS = { numeric: decodeNumeric, boolean: decodeBoolean, 'merkle-root': decodeMerkleRoot } as const

function requireFunds(chainId: number, { state }: RelayState, { pointer, otherWay } = OF_BODY): void {
  if (state !== 'unfunded') return
  throw problemAt('not-implemented', pointer, `the account that submits to chain ${chainId} has too little money`, {
    code: 'no-funds',
    hint: otherWay,
  })
}

/** @param chainIds the chains to which the service submits */
function notSubmitted(
  chainId: number,
  chainIds: readonly number[],
  { pointer, otherWay }: SubmissionOption = OF_BODY,
): ProblemError {
  const others = chainIds.filter((other) => other !== chainId)
  const where = others.length === 0 ? 'nor to any other' : `only to ${others.join(', ')}`
  const detail = `this service does not submit attestations to chain ${chainId}, ${where}`
  return problemAt('not-implemented', pointer, detail, { code: 'no-submission', hint: otherWay })
}

function unknownSubmission(): ProblemError {
  return new ProblemError({ type: 'not-found', detail: 'there is no such submission' })
}

/** Turns a store fault into a problem that tells the client only whether to retry. The fault's own text goes to the log. */
function throwStoreProblem(error: unknown): never {
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

const OUTCOME_PROBLEMS = {
  conflict: {
    type: 'conflict',
    detail: 'Idempotency-Key: already used for another attestation; use a new key for this one',
  },
  full: {
    type: 'overloaded',
    detail: 'too many submissions wait for a block of this chain',
    retryAfterSeconds: 10,
  },
  share: {
    type: 'overloaded',
    detail: 'too many submissions of this API key wait for a block of this chain; wait until some are in a block',
    retryAfterSeconds: 10,
  },
  spent: {
    type: 'rate-limited',
    detail: 'this API key has used up its gas for 24 hours',
    retryAfterSeconds: GAS_RETRY_SECONDS,
  },
  'all-spent': {
    type: 'overloaded',
    detail: 'all API keys together have used up the gas of this service for 24 hours',
    retryAfterSeconds: GAS_RETRY_SECONDS,
  },
} as const
