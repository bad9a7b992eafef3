import type {
  NewSubmission,
  Submission,
  SubmissionCount,
  SubmissionStatus,
  SubmitOutcome,
} from '../wire/relay-messages.ts'
import type { AttestationKind, Hex } from '../wire/values.ts'
import type { Row, Session } from './database.ts'

const DAY_MS = 86_400_000
/** First number of the advisory locks: arbitrary, and unlikely to be used by other programs on the same server. */
const SUBMIT_LOCK = 5_831_910

const SELECT = `
  select id, chain_id::text, status, uid, error, hash, block_number::text, block_time::text
  from submission left join relay_transaction using (chain_id, sender, nonce)`

interface SubmitLimits {
  readonly maxQueued: number
  readonly maxQueuedPerKey: number
  readonly gasPerDay: number
  readonly gasPerDayOfAll: number
  readonly nowMs: number
}

/**
 * Stores submissions in the given order, independently of each other.
 *
 * @param limits `gasPerDay` and `gasPerDayOfAll` are the gas that the submissions of one account and of all accounts may use in 24 hours
 */
export async function submit(
  session: Session,
  submissions: readonly NewSubmission[],
  limits: SubmitLimits,
): Promise<readonly SubmitOutcome[]> {
  await lockCounts(session, submissions)
  const openJobs = await lockJobs(session, submissions)
  const usedGas = await readUsedGas(session, limits.nowMs)
  const outcomes: SubmitOutcome[] = []
  for (const submission of submissions) {
    const isEnded = submission.job !== undefined && !openJobs.has(submission.job)
    outcomes.push(await submitOne(session, submission, limits, usedGas, isEnded))
  }
  return outcomes
}

/** Locks the jobs of submissions, so that none is cancelled before the rows are stored. Returns those that are not cancelled or failed. */
async function lockJobs(session: Session, submissions: readonly NewSubmission[]): Promise<ReadonlySet<number>> {
  const positions = submissions.flatMap(({ job }) => (job === undefined ? [] : [job]))
  if (positions.length === 0) return new Set()
  const rows = await session.query(
    `select position::text from job where position = any($1::bigint[]) and state not in ('cancelled', 'failed')
     order by job.position for share`,
    [positions.map(String)],
  )
  return new Set(rows.map((row) => Number(row['position'])))
}

/** Gas that submissions used within 24 hours, and that those which are not in a block may still use. */
interface UsedGas {
  readonly byAccount: Map<string, number>
  ofAll: number
}

/**
 * A submission may wait for a block for days. So it counts until it is in one, and for 24 hours after its last change. Transactions that
 * reverted count with it.
 */
async function readUsedGas(session: Session, nowMs: number): Promise<UsedGas> {
  const rows = await session.query(
    `select account, sum(spent_gas + case when status = 'failed' then 0 else gas end)::text as gas from submission
     where status in ('queued', 'sent') or updated_ms > $1 group by account`,
    [nowMs - DAY_MS],
  )
  const byAccount = new Map(rows.map((row) => [row['account'] as string, Number(row['gas'])]))
  return { byAccount, ofAll: [...byAccount.values()].reduce((sum, gas) => sum + gas, 0) }
}

/**
 * Locks what is counted below, so that the counts stay true until the rows are stored: the gas of all accounts, and the queues of
 * senders on chains. All processes take these locks in the same order, so none waits for one that waits for it. The first one keeps
 * any two of them apart; processes of an older version take only the others.
 */
async function lockCounts(session: Session, submissions: readonly NewSubmission[]): Promise<void> {
  const counted = submissions.flatMap(({ account, sender, payload }) => [
    'gas of all accounts',
    `account ${account}`,
    `${payload.chainId} ${sender}`,
  ])
  await session.query(
    `select pg_advisory_xact_lock(${SUBMIT_LOCK}, number) from (
       select distinct hashtext(counted) as number from unnest($1::text[]) as counted order by number
     ) as sorted`,
    [counted],
  )
}

/**
 * Stores a submission once per account and idempotency key. One that failed before is queued again.
 *
 * @param isEnded true if its job takes no further submissions; one that is stored already is found nevertheless
 */
async function submitOne(
  session: Session,
  { id, account, idempotencyKey, sender, payload, gas }: NewSubmission,
  limits: SubmitLimits,
  usedGas: UsedGas,
  isEnded: boolean,
): Promise<SubmitOutcome> {
  const { maxQueued, maxQueuedPerKey, gasPerDay, gasPerDayOfAll, nowMs } = limits
  const { kind, chainId, schema, recipient, data } = payload
  const [existing] = await session.query(
    `select id, status, kind, data, case when updated_ms > $9 then 0 else spent_gas end::text as uncounted_gas,
       (kind, chain_id, sender, schema, recipient, data) = ($3, $4::bigint, $5, $6, $7, $8) as is_same
     from submission where account = $1 and idempotency_key = $2`,
    [account, idempotencyKey, kind, chainId, sender, schema, recipient, data, nowMs - DAY_MS],
  )
  if (existing !== undefined && existing['is_same'] !== true) {
    return { outcome: 'conflict', stored: { kind: existing['kind'] as AttestationKind, data: existing['data'] as Hex } }
  }
  if (existing !== undefined && existing['status'] !== 'failed') return takenOutcome(session, existing['id'] as string)
  if (isEnded) return { outcome: 'ended' }
  const [used] = await session.query(
    `select
       (select count(*) from submission where chain_id = $1 and sender = $3 and status in ('queued', 'sent'))::int as queued,
       (select count(*) from submission
        where chain_id = $1 and sender = $3 and status in ('queued', 'sent') and account = $2)::int as own`,
    [chainId, account, sender],
  )
  if ((used!['own'] as number) >= maxQueuedPerKey) return { outcome: 'share' }
  if ((used!['queued'] as number) >= maxQueued) return { outcome: 'full' }
  // One that failed more than a day ago counts again, with what its transactions used.
  const addedGas = gas + Number(existing?.['uncounted_gas'] ?? 0)
  const ofAccount = (usedGas.byAccount.get(account) ?? 0) + addedGas
  if (ofAccount > gasPerDay) return { outcome: 'spent' }
  if (usedGas.ofAll + addedGas > gasPerDayOfAll) return { outcome: 'all-spent' }
  const [row] = await session.query(
    `insert into submission (id, account, idempotency_key, chain_id, sender, kind, schema, recipient, data, status, gas, created_ms, updated_ms)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'queued', $10, $11, $11)
     on conflict (account, idempotency_key) do update set
       status = 'queued', attempts = 0, error = null, gas = excluded.gas, created_ms = excluded.created_ms, updated_ms = excluded.updated_ms
     returning id`,
    [id, account, idempotencyKey, chainId, sender, kind, schema, recipient, data, gas, nowMs],
  )
  usedGas.byAccount.set(account, ofAccount)
  usedGas.ofAll += addedGas
  return takenOutcome(session, row!['id'] as string)
}

async function takenOutcome(session: Session, id: string): Promise<SubmitOutcome> {
  const [submission] = await readSubmissions(session, [id])
  return { outcome: 'taken', submission: submission! }
}

/** Reads the submissions with these ids; unknown ids are left out. */
export async function readSubmissions(session: Session, ids: readonly string[]): Promise<readonly Submission[]> {
  const rows = await session.query(`${SELECT} where id = any($1::text[])`, [ids])
  return rows.map(readSubmission)
}

/** Counts the submissions that a sender's relay handles, by chain and status. */
export async function countSubmissions(
  session: Session,
  {
    sender,
    chainIds,
    statuses,
  }: { readonly sender: Hex; readonly chainIds: readonly number[]; readonly statuses: readonly SubmissionStatus[] },
): Promise<readonly SubmissionCount[]> {
  const rows = await session.query(
    `select chain_id::text, status, count(*)::int as count, min(created_ms)::text as oldest from submission
     where chain_id = any($1::bigint[]) and sender = $2 and status = any($3::text[]) group by chain_id, status`,
    [chainIds.map(String), sender, statuses],
  )
  return rows.map((row) => ({
    chainId: Number(row['chain_id']),
    status: row['status'] as SubmissionStatus,
    count: row['count'] as number,
    oldestMs: Number(row['oldest']),
  }))
}

/** Counts the unfinished submissions of all accounts: queued, sent, or in a block that is not final. */
export async function countOpenSubmissions(session: Session): Promise<number> {
  const [row] = await session.query(
    "select count(*)::int as live from submission where status in ('queued', 'sent', 'mined')",
  )
  return row!['live'] as number
}

function readSubmission(row: Row): Submission {
  const status = row['status'] as SubmissionStatus
  // Outside a block, the fields of the transaction are not shown.
  const isInBlock = status === 'mined' || status === 'finalized'
  const readNumber = (name: string) => (isInBlock && row[name] !== null ? Number(row[name]) : undefined)
  const readHex = (name: string) => (isInBlock ? ((row[name] ?? undefined) as `0x${string}` | undefined) : undefined)
  return {
    id: row['id'] as string,
    chainId: Number(row['chain_id']),
    status,
    transactionHash: readHex('hash'),
    blockNumber: readNumber('block_number'),
    timeSeconds: readNumber('block_time'),
    uid: readHex('uid'),
    error: (row['error'] ?? undefined) as string | undefined,
  }
}
