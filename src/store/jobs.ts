/**
 * The queue of jobs (decision 139). A job is a row, and its operations are chunks that processes take with `for update skip locked`. Every
 * statement that locks more than one table locks chunks, then jobs, then accounts, so transactions cannot deadlock.
 */
import type { Job, JobChunk, JobLimits, JobOperations, JobOptions, JobState } from '../wire/job-messages.ts'
import type { Submission } from '../wire/relay-messages.ts'
import type { Database, Row, Session } from './database.ts'
import { readSubmissions } from './submissions.ts'

// Where a query returns a column as text, `order by` names the table too: otherwise the text would be sorted.
type Argument<Name extends keyof JobOperations> = JobOperations[Name]['argument']
type Result<Name extends keyof JobOperations> = JobOperations[Name]['result']

const DAY_MS = 86_400_000
const COLUMNS = `position::text, id, options, state, received::text, total::text, done::text, failed::text, errors,
  created_ms::text, started_ms::text, updated_ms::text, reason, submission, submission_error`
const IS_OPEN = "state in ('receiving', 'queued', 'running')"
/** Jobs with work. Results that may be submitted already are finished even after their job was cancelled. */
const WITH_WORK = `select position from job where ${IS_OPEN} and open_chunks > 0
  union all select job from job_chunk where computed is not null`
const WAITS_NOT = '(waits_until is null or waits_until < now())'
/** Addresses of other days that one chunk of an upload deletes: more than it adds. */
const ADDRESSES_PER_CHUNK = 100
/** Candidate jobs for the next chunk: those of the least recently served accounts. */
const JOBS_PER_CLAIM = 64
/** Chunks that are deleted in one transaction. */
const CHUNKS_PER_DELETION = 50

/** Creates the operations for jobs on either engine. */
export function createJobStore(database: Database): {
  readonly [Name in keyof JobOperations]: (argument: Argument<Name>) => Promise<Result<Name>>
} {
  const { reads } = database
  return {
    createJob: (job) => database.transaction((session) => createJob(session, job)),
    appendJob: (chunk) => database.transaction((session) => appendJob(session, chunk)),
    endJobInput: (job) => database.transaction((session) => endInput(session, job)),
    readJob: ({ id, account }) => findJob(reads, 'id = $1 and account = $2', [id, account]),
    listJobs: async ({ account, limit }) => {
      const rows = await reads.query(
        `select ${COLUMNS} from job where account = $1 order by job.position desc limit $2`,
        [account, limit],
      )
      return readJobs(reads, rows)
    },
    cancelJob: (job) => database.transaction((session) => cancelJob(session, job)),
    claimChunk: (claim) => database.transaction((session) => claimChunk(session, claim)),
    holdChunks: ({ owner, leaseMs }) =>
      database.transaction(async (session) => {
        await session.query(`update job_chunk set held_until = ${leaseEnd('$2')} where owner = $1`, [owner, leaseMs])
        return undefined
      }),
    releaseChunk: ({ owner, position, first }) =>
      database.transaction(async (session) => {
        await session.query(
          'update job_chunk set owner = null, held_until = null where job = $1 and first = $2 and owner = $3',
          [position, first, owner],
        )
        return undefined
      }),
    releaseChunks: ({ owner }) =>
      database.transaction(async (session) => {
        // A process that stops in order does not count its attempt. A killed process may have died of the chunk, so its attempt counts.
        if (owner === undefined)
          await session.query('update job_chunk set owner = null, held_until = null where owner is not null')
        else
          await session.query(
            'update job_chunk set owner = null, held_until = null, attempts = attempts - 1 where owner = $1',
            [owner],
          )
        return undefined
      }),
    keepComputed: (results) => database.transaction((session) => keepComputed(session, results)),
    postponeJob: (job) => database.transaction((session) => postponeJob(session, job)),
    claimRoot: ({ leaseMs }) => database.transaction((session) => claimRoot(session, leaseMs)),
    settleRoot: (root) => database.transaction((session) => settleRoot(session, root)),
    finishChunk: (results) => database.transaction((session) => finishChunk(session, results)),
    giveUpChunk: (chunk) => database.transaction((session) => giveUpChunk(session, chunk)),
    jobResults: async ({ position, from }) => {
      const row = await chunkOf(reads, 'stored_result', position, from)
      if (row === undefined) return undefined
      return {
        first: Number(row['first']),
        operations: row['operations'] as number,
        stored: (row['stored_result'] ?? undefined) as Uint8Array | undefined,
        isCompressed: row['is_compressed'] as boolean,
        problem: (row['problem'] ?? undefined) as string | undefined,
      }
    },
    jobLeaves: async ({ position, from }) => {
      const row = await chunkOf(reads, 'leaves', position, from)
      if (row === undefined || row['leaves'] === null) return undefined
      return { first: Number(row['first']), leaves: row['leaves'] as Uint8Array }
    },
    jobRoots: ({ position }) => readRoots(reads, position),
    jobTotals: () => readTotals(reads),
    pruneJobs: (limits) => database.transaction((session) => pruneJobs(session, limits)),
  }
}

async function createJob(
  session: Session,
  { id, account, idempotencyKey, options, maxOpen, nowMs }: Argument<'createJob'>,
): Promise<Result<'createJob'>> {
  await session.query(
    'insert into job_account (account, day, operations, turn) values ($1, 0, 0, 0) on conflict (account) do nothing',
    [account],
  )
  // Serialises the creations of one account: the two reads below stay true until the row is stored.
  await session.query('select 1 from job_account where account = $1 for update', [account])
  if (idempotencyKey !== undefined) {
    const existing = await findJob(session, 'account = $1 and idempotency_key = $2', [account, idempotencyKey])
    if (existing !== undefined) {
      return { outcome: isSameOptions(existing.options, options) ? 'existing' : 'conflict', job: existing }
    }
  }
  const [count] = await session.query(`select count(*)::int as open from job where account = $1 and ${IS_OPEN}`, [
    account,
  ])
  if ((count!['open'] as number) >= maxOpen) return { outcome: 'busy' }
  const [row] = await session.query(
    `insert into job (id, account, idempotency_key, options, state, created_ms, updated_ms, root_due)
     values ($1, $2, $3, $4, 'receiving', $5, $5, $6) returning ${COLUMNS}`,
    [id, account, idempotencyKey ?? null, JSON.stringify(options), nowMs, submitsRoot(options)],
  )
  const [job] = await readJobs(session, [row!])
  return { outcome: 'created', job: job! }
}

/** Two requests may reach the service by different host names, so the base of their problem URIs is not compared. */
function isSameOptions(a: JobOptions, b: JobOptions): boolean {
  return (
    a.chainId === b.chainId &&
    a.recipient === b.recipient &&
    a.attest === b.attest &&
    (a.submitOnchain === true) === (b.submitOnchain === true)
  )
}

function submitsRoot({ attest, submitOnchain }: JobOptions): boolean {
  return attest === 'merkle' && submitOnchain === true
}

async function appendJob(
  session: Session,
  { position, first, operations, stored, room, limits, nowMs }: Argument<'appendJob'>,
): Promise<Result<'appendJob'>> {
  const [job] = await session.query('select account, state, received::text from job where position = $1 for update', [
    position,
  ])
  if (job === undefined || job['state'] !== 'receiving') return 'closed'
  const received = Number(job['received'])
  if (received !== first) return received
  if (first + operations > limits.maxOperations) {
    const reason = `it has more than ${limits.maxOperations} operations`
    await session.query("update job set state = 'failed', reason = $2, updated_ms = $3 where position = $1", [
      position,
      reason,
      nowMs,
    ])
    return 'large'
  }
  const account = job['account'] as string
  const missing = await findMissingRoom(session, account, room, limits)
  if (missing !== undefined) return missing
  const { address } = limits
  if (address !== undefined && !(await takeAddressQuota(session, address, operations, nowMs))) return 'address'
  if (!(await takeDailyQuota(session, account, operations, limits.perDay, nowMs))) {
    if (address !== undefined) await takeDailyQuota(session, address.subject, -operations, address.perDay, nowMs)
    return 'spent'
  }
  await session.query(
    'insert into job_chunk (job, first, operations, packed_input, is_compressed, room, added_ms) values ($1, $2, $3, $4, true, $5, $6)',
    [position, first, operations, stored, room, nowMs],
  )
  await session.query(
    `update job set received = received + $2, bytes = bytes + $3, open_chunks = open_chunks + 1, updated_ms = $4
     where position = $1`,
    [position, operations, room, nowMs],
  )
  return 'stored'
}

/** Returns the limit that more bytes would exceed: of all jobs (`full`), or of those of the account (`share`); undefined if none. */
async function findMissingRoom(
  session: Session,
  account: string,
  bytes: number,
  { maxBytes, maxAccountBytes }: JobLimits,
): Promise<'full' | 'share' | undefined> {
  const [row] = await session.query(
    `select coalesce(sum(bytes), 0)::text as bytes, coalesce(sum(bytes) filter (where account = $1), 0)::text as own from job`,
    [account],
  )
  if (Number(row!['bytes']) + bytes > maxBytes) return 'full'
  return Number(row!['own']) + bytes > maxAccountBytes ? 'share' : undefined
}

/** Takes operations from the account's daily quota. @returns false, and takes nothing, if there are not enough */
async function takeDailyQuota(
  session: Session,
  account: string,
  operations: number,
  perDay: number,
  nowMs: number,
): Promise<boolean> {
  const rows = await session.query(
    `update job_account set day = $2, operations = case when day = $2 then operations else 0 end + $3
     where account = $1 and case when day = $2 then operations else 0 end + $3 <= $4 returning 1 as taken`,
    [account, Math.floor(nowMs / DAY_MS), operations, perDay],
  )
  return rows.length === 1
}

/** As `takeDailyQuota`, for all accounts of wallets at one network address. Addresses are not kept longer than their day. */
async function takeAddressQuota(
  session: Session,
  { subject, perDay }: NonNullable<JobLimits['address']>,
  operations: number,
  nowMs: number,
): Promise<boolean> {
  await session.query(
    `with over as (
       select account from job_account where account like 'wallets:%' and day < $1 and account <> $2
       limit ${ADDRESSES_PER_CHUNK} for update skip locked
     ) delete from job_account using over where job_account.account = over.account`,
    [Math.floor(nowMs / DAY_MS), subject],
  )
  await session.query(
    'insert into job_account (account, day, operations, turn) values ($1, 0, 0, 0) on conflict (account) do nothing',
    [subject],
  )
  return takeDailyQuota(session, subject, operations, perDay, nowMs)
}

async function endInput(
  session: Session,
  { position, nowMs }: Argument<'endJobInput'>,
): Promise<Result<'endJobInput'>> {
  await session.query(
    `update job set total = received, updated_ms = $2,
       state = case when open_chunks = 0 then 'done' when started_ms is null then 'queued' else 'running' end
     where position = $1 and state = 'receiving'`,
    [position, nowMs],
  )
  return findJob(session, 'position = $1', [position])
}

async function cancelJob(
  session: Session,
  { id, account, nowMs }: Argument<'cancelJob'>,
): Promise<Result<'cancelJob'>> {
  await session.query(
    `update job set state = 'cancelled', updated_ms = $3 where id = $1 and account = $2 and ${IS_OPEN}`,
    [id, account, nowMs],
  )
  return findJob(session, 'id = $1 and account = $2', [id, account])
}

async function claimChunk(
  session: Session,
  { owner, leaseMs, nowMs }: Argument<'claimChunk'>,
): Promise<Result<'claimChunk'>> {
  const jobs = await session.query(
    `select position::text, id, account, options from job join job_account using (account)
     where position in (${WITH_WORK}) and ${WAITS_NOT} order by turn, job.position limit $1`,
    [JOBS_PER_CLAIM],
  )
  for (const job of jobs) {
    const options = JSON.parse(job['options'] as string) as JobOptions
    const chunk = await claimFrom(session, Number(job['position']), options, { owner, leaseMs })
    if (chunk === undefined) continue
    const position = Number(job['position'])
    await session.query(
      `update job set started_ms = coalesce(started_ms, $2), state = case state when 'queued' then 'running' else state end
       where position = $1`,
      [position, nowMs],
    )
    await session.query('update job_account set turn = (select max(turn) + 1 from job_account) where account = $1', [
      job['account'] as string,
    ])
    const account = job['account'] as string
    return {
      job: { position, id: job['id'] as string, options },
      account,
      ...chunk,
    }
  }
  return undefined
}

/**
 * Takes the first chunk of a job that no process holds. A process does not take its own chunk again after its lease has expired. If the
 * results are submitted one by one, the chunks take turns: several would share the room of the queue, and none of them would end.
 */
async function claimFrom(
  session: Session,
  position: number,
  { attest, submitOnchain }: JobOptions,
  { owner, leaseMs }: Pick<Argument<'claimChunk'>, 'owner' | 'leaseMs'>,
): Promise<Omit<JobChunk, 'job' | 'account'> | undefined> {
  const [row] = await session.query(
    `update job_chunk set owner = $2, held_until = ${leaseEnd('$3')}, attempts = attempts + 1
     where job = $1 and first = (
       select first from job_chunk where job = $1 and stored_result is null and (held_until is null or (held_until < now() and owner <> $2))
         and (computed is not null or exists (select 1 from job where position = $1 and ${IS_OPEN}))
         and ($4::boolean is false or first = (select min(first) from job_chunk where job = $1 and stored_result is null))
       order by first limit 1 for update skip locked)
     returning first::text, operations, attempts, packed_input, is_compressed, computed, computed_errors`,
    [position, owner, leaseMs, attest === 'each' && submitOnchain === true],
  )
  if (row === undefined) return undefined
  return {
    first: Number(row['first']),
    operations: row['operations'] as number,
    attempts: row['attempts'] as number,
    stored: (row['packed_input'] ?? new Uint8Array(0)) as Uint8Array,
    isCompressed: row['is_compressed'] as boolean,
    computed:
      row['computed'] === null
        ? undefined
        : { stored: row['computed'] as Uint8Array, errors: JSON.parse(row['computed_errors'] as string) },
  }
}

/** @param parameter of milliseconds */
function leaseEnd(parameter: string): string {
  return `now() + ${parameter}::int * interval '1 millisecond'`
}

async function keepComputed(
  session: Session,
  { owner, position, first, stored, errors }: Argument<'keepComputed'>,
): Promise<boolean> {
  // The room of the chunk stays as it is: its results take more when they are submitted.
  const rows = await session.query(
    `update job_chunk set computed = $4, computed_errors = $5, packed_input = null
     where job = $1 and first = $2 and owner = $3 and stored_result is null returning 1 as kept`,
    [position, first, owner, stored, JSON.stringify(errors)],
  )
  return rows.length === 1
}

async function postponeJob(
  session: Session,
  { position, chunk, hasProgress, firstPauseMs, maxPauseMs }: Argument<'postponeJob'>,
): Promise<undefined> {
  if (chunk !== undefined)
    await session.query(
      `update job_chunk set owner = null, held_until = null, attempts = attempts - 1
       where job = $1 and first = $2 and owner = $3`,
      [position, chunk.first, chunk.owner],
    )
  const waits = '(case when $4::boolean then 0 else least(waits, 20) end)'
  await session.query(
    `update job set waits = ${waits} + 1,
       waits_until = now() + least($3::int, $2::int * power(2, ${waits})) * interval '1 millisecond'
     where position = $1`,
    [position, firstPauseMs, maxPauseMs, hasProgress],
  )
  return undefined
}

async function claimRoot(session: Session, leaseMs: number): Promise<Result<'claimRoot'>> {
  const [row] = await session.query(
    `update job set waits_until = ${leaseEnd('$1')} where position = (
       select position from job where root_due and state = 'done' and account <> '' and ${WAITS_NOT}
       order by waits_until nulls first, position limit 1 for update skip locked)
     returning position::text, id, account, options, updated_ms::text`,
    [leaseMs],
  )
  if (row === undefined) return undefined
  return {
    position: Number(row['position']),
    id: row['id'] as string,
    account: row['account'] as string,
    options: JSON.parse(row['options'] as string),
    updatedMs: Number(row['updated_ms']),
  }
}

async function settleRoot(session: Session, root: Argument<'settleRoot'>): Promise<undefined> {
  const [submission, error] = 'error' in root ? [null, root.error] : [root.submissionId, null]
  await session.query(
    'update job set root_due = false, submission = $2, submission_error = $3 where position = $1 and root_due',
    [root.position, submission, error],
  )
  return undefined
}

async function finishChunk(
  session: Session,
  { owner, position, first, stored, leaves, root, failed, errors, nowMs }: Argument<'finishChunk'>,
): Promise<boolean> {
  const chunk = await lockChunk(session, { owner, position, first })
  if (chunk === undefined) return false
  const room = stored.length + leaves.length
  // The column counts what has no leaf: under a root these are also the results that are not signed.
  const withoutLeaf = leaves.length === 0 ? failed : countZeroLeaves(leaves)
  await session.query(
    `update job_chunk set stored_result = $3, is_compressed = true, leaves = $4, root = $5, failed = $6, room = $7,
       packed_input = null, computed = null, computed_errors = null, owner = null, held_until = null
     where job = $1 and first = $2`,
    [position, first, stored, leaves, root === undefined ? null : Buffer.from(root.slice(2), 'hex'), withoutLeaf, room],
  )
  return addProgress(session, { position, chunk, room, failed, errors, nowMs })
}

function countZeroLeaves(leaves: Uint8Array): number {
  let count = 0
  for (let at = 0; at < leaves.length; at += 32) if (leaves.subarray(at, at + 32).every((byte) => byte === 0)) count++
  return count
}

/** The empty result marks the chunk as computed; its lines are written from the problem when they are read. */
async function giveUpChunk(
  session: Session,
  { owner, position, first, type, problem, nowMs }: Argument<'giveUpChunk'>,
): Promise<boolean> {
  const chunk = await lockChunk(session, { owner, position, first })
  if (chunk === undefined) return false
  await session.query(
    `update job_chunk set stored_result = '', problem = $3, failed = operations, room = 0, packed_input = null,
       computed = null, computed_errors = null, owner = null, held_until = null
     where job = $1 and first = $2`,
    [position, first, problem],
  )
  const { operations } = chunk
  return addProgress(session, { position, chunk, room: 0, failed: operations, errors: { [type]: operations }, nowMs })
}

/** A chunk without results that a process holds. */
interface LockedChunk {
  readonly operations: number
  /** Bytes that are counted for the chunk until now. */
  readonly room: number
}

async function lockChunk(
  session: Session,
  { owner, position, first }: Pick<Argument<'finishChunk'>, 'owner' | 'position' | 'first'>,
): Promise<LockedChunk | undefined> {
  const [row] = await session.query(
    `select operations, room::text from job_chunk where job = $1 and first = $2 and owner = $3 and stored_result is null for update`,
    [position, first, owner],
  )
  return row === undefined ? undefined : { operations: row['operations'] as number, room: Number(row['room']) }
}

interface Progress extends Pick<Argument<'finishChunk'>, 'position' | 'failed' | 'errors' | 'nowMs'> {
  readonly chunk: LockedChunk
  /** Bytes that are counted for the chunk from now on. */
  readonly room: number
}

/** Adds a finished chunk to the counters of its job. @returns false if the job was deleted meanwhile */
async function addProgress(
  session: Session,
  { position, chunk, room, failed, errors, nowMs }: Progress,
): Promise<boolean> {
  const [job] = await session.query('select errors from job where position = $1 for update', [position])
  if (job === undefined) return false
  await session.query(
    `update job set done = done + $2, failed = failed + $3, errors = $4, bytes = bytes + $5, open_chunks = open_chunks - 1,
       updated_ms = $6, waits = 0, state = case when ${IS_OPEN} and total is not null and open_chunks = 1 then 'done' else state end
     where position = $1`,
    [
      position,
      chunk.operations,
      failed,
      JSON.stringify(addCounts(JSON.parse(job['errors'] as string), errors)),
      room - chunk.room,
      nowMs,
    ],
  )
  return true
}

function addCounts(counts: Record<string, number>, more: Readonly<Record<string, number>>): Record<string, number> {
  for (const [name, count] of Object.entries(more)) counts[name] = (counts[name] ?? 0) + count
  return counts
}

/** Reads one column of the chunk that has an operation. */
async function chunkOf(
  session: Session,
  column: 'stored_result' | 'leaves',
  position: number,
  from: number,
): Promise<Row | undefined> {
  const [row] = await session.query(
    `select first::text, operations, problem, is_compressed, ${column} from job_chunk where job = $1 and first <= $2 order by job_chunk.first desc limit 1`,
    [position, from],
  )
  return row !== undefined && from < Number(row['first']) + (row['operations'] as number) ? row : undefined
}

async function readRoots(session: Session, position: number): Promise<Result<'jobRoots'>> {
  const rows = await session.query(
    'select first::text, root, operations - failed as leaves from job_chunk where job = $1 and root is not null order by job_chunk.first',
    [position],
  )
  return {
    firsts: rows.map((row) => Number(row['first'])),
    roots: Buffer.concat(rows.map((row) => row['root'] as Uint8Array)),
    leafCount: rows.reduce((sum, row) => sum + (row['leaves'] as number), 0),
  }
}

async function readTotals(session: Session): Promise<Result<'jobTotals'>> {
  // Jobs that are being deleted have no account. They do not count as jobs, but their bytes count.
  const rows = await session.query(
    `select state, count(*) filter (where account <> '')::int as jobs, sum(bytes)::text as bytes,
       coalesce(sum(received - done) filter (where ${IS_OPEN}), 0)::text as waiting from job group by state`,
  )
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0)
  return {
    byState: Object.fromEntries(rows.map((row) => [row['state'] as JobState, row['jobs'] as number])),
    waitingOperations: sum('waiting'),
    bytes: sum('bytes'),
  }
}

/**
 * Deletes operations that were not computed when their job was cancelled or failed, and jobs that have not changed for long or that take
 * too much room. Each call does one step: one that hid a job and deleted its chunks would lock the job before the chunks.
 */
async function pruneJobs(session: Session, limits: Argument<'pruneJobs'>): Promise<Result<'pruneJobs'>> {
  if (await deleteChunks(session)) return true
  const deleted = await session.query(
    "delete from job where account = '' and not exists (select 1 from job_chunk where job = position) returning 1 as deleted",
  )
  return deleted.length > 0 || hideJob(session, limits)
}

/** Deletes some chunks of one job, which no client can read. Chunks that a process has locked are left for the next call. */
async function deleteChunks(session: Session): Promise<boolean> {
  const deleted = await session.query(
    `with deleted as (
       delete from job_chunk where (job, first) in (
         select job, first from job_chunk where job = (
           select position from job join job_chunk on job = position
           where account = '' or (state in ('cancelled', 'failed') and stored_result is null and computed is null) limit 1)
         and ((stored_result is null and computed is null) or exists (select 1 from job where position = job_chunk.job and account = ''))
         limit $1 for update skip locked)
       returning job, room)
     update job set bytes = bytes - (select sum(room) from deleted)
     where position = (select max(job) from deleted) returning 1 as deleted`,
    [CHUNKS_PER_DELETION],
  )
  return deleted.length > 0
}

/**
 * Detaches a job from its account before it is deleted, so that no client sees it with some results missing. Chooses a job of any state
 * that has not changed for `keepMs`. If the jobs of all accounts or of one take too much room, it chooses a final one: the oldest of the
 * account that takes the most.
 */
async function hideJob(
  session: Session,
  { keepMs, maxBytes, maxAccountBytes, nowMs }: Argument<'pruneJobs'>,
): Promise<boolean> {
  const hidden = await session.query(
    `with used as (select account, sum(bytes) as bytes from job group by account)
     update job set account = '', idempotency_key = null, state = 'cancelled' where position = (
       select job.position from job join used using (account)
       where account <> '' and (updated_ms < $1 or (not (${IS_OPEN}) and not (state = 'done' and root_due) and ((select sum(bytes) from used) > $2 or used.bytes > $3)))
       order by updated_ms < $1 desc, used.bytes desc, updated_ms, job.position limit 1)
     returning 1 as hidden`,
    [nowMs - keepMs, maxBytes, maxAccountBytes],
  )
  return hidden.length > 0
}

async function findJob(
  session: Session,
  condition: string,
  parameters: readonly (string | number)[],
): Promise<Job | undefined> {
  const rows = await session.query(`select ${COLUMNS} from job where ${condition}`, parameters)
  return (await readJobs(session, rows))[0]
}

/** Reads jobs of their rows, with the submissions of their roots. */
async function readJobs(session: Session, rows: readonly Row[]): Promise<readonly Job[]> {
  const ids = rows.flatMap((row) => (row['submission'] === null ? [] : [row['submission'] as string]))
  const submissions = ids.length === 0 ? [] : await readSubmissions(session, ids)
  return rows.map((row) =>
    readJob(
      row,
      submissions.find(({ id }) => id === row['submission']),
    ),
  )
}

function readJob(row: Row, submission: Submission | undefined): Job {
  const number = (name: string) => Number(row[name])
  const optional = (name: string) => (row[name] === null ? undefined : Number(row[name]))
  return {
    position: number('position'),
    id: row['id'] as string,
    options: JSON.parse(row['options'] as string) as JobOptions,
    state: row['state'] as JobState,
    received: number('received'),
    total: optional('total'),
    done: number('done'),
    failed: number('failed'),
    errors: JSON.parse(row['errors'] as string),
    createdMs: number('created_ms'),
    startedMs: optional('started_ms'),
    updatedMs: number('updated_ms'),
    reason: (row['reason'] ?? undefined) as string | undefined,
    submission,
    submissionError: (row['submission_error'] ?? undefined) as string | undefined,
  }
}
