/** Limits on spending and waiting for attestations that this service submits itself. */
import { JOB_KEEP_HOURS } from './jobs.ts'
import { constant, derived, flag, integer, number, readSettings, type Setting, type Values } from './setting.ts'

const MAX_QUEUED_SUBMISSIONS = integer('MAX_QUEUED_SUBMISSIONS', 1000, 1, 1_000_000)
const SUBMIT_GAS_PER_DAY = integer('SUBMIT_GAS_PER_DAY', 20_000_000, 1, 1e12)

const SUBMISSION_LIMITS = {
  /** Submissions of one chain that are not yet in a block; beyond it the service answers 503. */
  maxQueued: MAX_QUEUED_SUBMISSIONS,
  /** How many of these one API key may have. */
  maxQueuedPerKey: derived((source) => Math.max(1, Math.floor(MAX_QUEUED_SUBMISSIONS.read(source) / 4))),
  /** Results of one batch that may be submitted one by one; beyond it the service answers 400. */
  maxBatchItems: integer('MAX_SUBMITTED_ITEMS', 100, 1, 10_000),
  /** Submissions of this process that wait to be stored; beyond it the service answers 503. */
  maxUnstored: integer('MAX_UNSTORED_SUBMISSIONS', 1000, 1, 1_000_000),
  /** Longest time that a request waits for its submission to be in a block. */
  waitMs: integer('SUBMIT_WAIT_MS', 15_000, 0, 120_000),
  /** Interval at which a waiting request polls the status of its submission, and at which the relay polls for new ones. */
  pollMs: integer('SUBMIT_POLL_MS', 500, 20, 60_000),
  /** True if accounts that sign in with a wallet may submit. Anyone can make wallets, so the limits of one account do not limit them. */
  walletAccounts: flag('SUBMIT_WALLET_ACCOUNTS', false),
  /** Gas that the submissions of one API key may use within 24 hours. */
  gasPerDay: SUBMIT_GAS_PER_DAY,
  /** Gas that all submissions may use within 24 hours. */
  gasPerDayOfAll: integer('SUBMIT_GAS_PER_DAY_ALL', (source) => 10 * SUBMIT_GAS_PER_DAY.read(source), 1, 1e13),
  /** Largest gas limit of one transaction. */
  maxGas: integer('SUBMIT_MAX_GAS', 16_000_000, 100_000, 1e9),
  /** Highest fee per unit of gas. Above it nothing is sent and no fee is raised. */
  maxFeeGwei: number('SUBMIT_MAX_FEE_GWEI', 100, 0.000_001, 1_000_000),
  /** Highest priority fee, the part that goes to the block producer. RPC endpoints suggest it, and it is paid in full. */
  maxPriorityFeeGwei: number('SUBMIT_MAX_PRIORITY_FEE_GWEI', 4, 0.000_001, 1_000_000),
  /** Balance that every transaction has to leave in the account. */
  minBalanceEther: number('SUBMIT_MIN_BALANCE', 0.005, 0, 1e6),
  rpcTimeoutMs: integer('SUBMIT_RPC_TIMEOUT_MS', 5000, 10, 60_000),
  /** Blocks after which the fee of a transaction that is still pending is raised. */
  bumpBlocks: constant(3),
  /** Transactions that may include one submission before it fails. */
  maxAttempts: constant(5),
  /** Largest gap between the chain's nonce and ours that is filled with empty transactions. The operator must fill a larger gap. */
  maxNonceGap: constant(16),
  /** How long final and failed submissions stay stored, with their idempotency keys: at least as long as the jobs that they belong to. */
  retentionMs: derived((source) => Math.max(30 * 86_400_000, JOB_KEEP_HOURS.read(source) * 3_600_000)),
  /** Interval between counts of submissions for the metrics. */
  countIntervalMs: constant(5000),
}

export type SubmissionConfig = Values<typeof SUBMISSION_LIMITS>

export const SUBMISSION_SETTINGS = {
  /** undefined: the service submits no attestations. */
  submission: submission(),
}

function submission(): Setting<SubmissionConfig | undefined> {
  const { names, read: isOn } = flag('ENABLE_ONCHAIN_SUBMIT', false)
  return {
    names,
    parts: SUBMISSION_LIMITS,
    read: (source) => (isOn(source) ? readSettings(SUBMISSION_LIMITS, source) : undefined),
  }
}
