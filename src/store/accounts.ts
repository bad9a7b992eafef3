/**
 * Nonces and sessions of accounts, where all processes and nodes read them. Each row that must be used once is taken by one
 * statement, which locks it: of two that want it, the second finds nothing.
 */
import type { AccountOperations, OpenOutcome, RefreshOutcome, SessionState } from '../wire/account-messages.ts'
import type { Hex } from '../wire/values.ts'
import type { Database, Row, Session } from './database.ts'

type Argument<Name extends keyof AccountOperations> = AccountOperations[Name]['argument']
type Result<Name extends keyof AccountOperations> = AccountOperations[Name]['result']

/** Ended nonces and sessions that one call deletes. It is more than one call adds, so the tables shrink to what is in use. */
const ENDED_PER_CALL = 100

/** Creates the operations for accounts on either engine. */
export function createAccountStore(database: Database): {
  readonly [Name in keyof AccountOperations]: (argument: Argument<Name>) => Promise<Result<Name>>
} {
  return {
    addNonce: (nonce) => database.transaction((session) => addNonce(session, nonce)),
    hasNonce: async ({ sha256, nowMs }) => {
      const rows = await database.reads.query(
        'select 1 as found from sign_in_nonce where sha256 = $1 and ends_ms > $2',
        [sha256, nowMs],
      )
      return rows.length === 1
    },
    openSession: (wanted) => database.transaction((session) => openSession(session, wanted)),
    findRefresh: async ({ id, usedSha256, reuseMs, nowMs }) => {
      const [row] = await database.reads.query(
        `select account, attestation from account_session where id = $1 and ${CAN_REFRESH} and not ended and ends_ms > $3`,
        [id, usedSha256, nowMs, reuseMs],
      )
      if (row === undefined) return undefined
      return { account: row['account'] as string, attestation: (row['attestation'] as Hex | null) ?? undefined }
    },
    refreshSession: (wanted) => database.transaction((session) => refreshSession(session, wanted)),
    endSession: ({ id, nowMs }) =>
      database.transaction(async (session) => {
        await endSessions(session, await nextNumber(session), nowMs, 'id = $3', [id])
        return undefined
      }),
    changedSessions: (wanted) => database.readTransaction((session) => readChanges(session, wanted)),
  }
}

/**
 * The newest refresh token ($2), or the one before for a short time ($4) after its first use: its client may not have got the response.
 * Each use of the latter replaces the newest one, so of a thief and the client only one has tokens, and the other ends the session
 * (decision 157). A node whose clock is wrong must not extend the time, so a first use in the future does not count as recent.
 */
const CAN_REFRESH =
  '(refresh_sha256 = $2 or (previous_refresh_sha256 = $2 and abs($3::bigint - refreshed_ms) < $4::bigint))'

const COLUMNS = 'id, account, token_sha256, token_ends_ms::text, is_holder'

/**
 * Returns the number of the next change. Its row is locked until the end of the transaction, so changes become visible in the order of
 * their numbers.
 */
async function nextNumber(session: Session): Promise<string> {
  const [row] = await session.query('update account_session_change set number = number + 1 returning number::text')
  return row!['number'] as string
}

/** Ends sessions. They stay as rows until their tokens would have ended, so that all processes learn of it. @returns their number */
async function endSessions(
  session: Session,
  number: string,
  nowMs: number,
  condition: string,
  parameters: readonly (string | number)[],
): Promise<number> {
  const rows = await session.query(
    `update account_session set ended = true, change = $1, ends_ms = greatest(token_ends_ms, $2)
     where not ended and ends_ms > $2 and ${condition} returning 1 as ended`,
    [number, nowMs, ...parameters],
  )
  return rows.length
}

/**
 * Ends the sessions that were refreshed least recently, of all accounts: those whose tokens end first. Were new sessions refused
 * instead, one client with many wallets could keep everyone out.
 */
async function endLeastRecent(session: Session, number: string, nowMs: number, count: number): Promise<void> {
  await endSessions(
    session,
    number,
    nowMs,
    'id in (select id from account_session where not ended and ends_ms > $2 order by token_ends_ms, id limit $3)',
    [count],
  )
}

async function readChanges(
  session: Session,
  { after, nowMs }: Argument<'changedSessions'>,
): Promise<Result<'changedSessions'>> {
  const [counter] = await session.query('select number::text from account_session_change')
  const number = Number(counter!['number'])
  if (number === after) return { number, isWhole: false, put: [], ended: [] }
  // `after` is above the newest number if the database was restored from a backup.
  const isWhole = after === 0 || after > number
  const rows = await session.query(
    `select ${COLUMNS}, ended from account_session where change > $1 ${isWhole ? 'and not ended' : ''} and token_ends_ms > $2`,
    [isWhole ? 0 : after, nowMs],
  )
  return {
    number,
    isWhole,
    put: rows.filter((row) => row['ended'] === false).map(readSession),
    ended: rows.filter((row) => row['ended'] === true).map((row) => row['id'] as string),
  }
}

async function addNonce(
  session: Session,
  { sha256, client, nowMs, endMs, maxNonces, maxPerClient }: Argument<'addNonce'>,
): Promise<Result<'addNonce'>> {
  await session.query(
    `with ended as (
       select sha256 from sign_in_nonce where ends_ms <= $1 limit ${ENDED_PER_CALL} for update skip locked
     ) delete from sign_in_nonce using ended where sign_in_nonce.sha256 = ended.sha256`,
    [nowMs],
  )
  // Nodes that count at the same time may each add one more.
  const [found] = await session.query(
    `select (select count(*)::int from (select 1 from sign_in_nonce limit $3) as nonces) as total,
      (select count(*)::int from sign_in_nonce where client = $1 and ends_ms > $2) as own`,
    [client, nowMs, maxNonces],
  )
  if ((found!['own'] as number) >= maxPerClient) return 'client'
  if ((found!['total'] as number) >= maxNonces) return 'full'
  await session.query('insert into sign_in_nonce (sha256, client, ends_ms) values ($1, $2, $3)', [
    sha256,
    client,
    endMs,
  ])
  return 'done'
}

async function openSession(
  session: Session,
  { nonceSha256, session: opened, nowMs, maxPerAccount, maxSessions }: Argument<'openSession'>,
): Promise<OpenOutcome> {
  const used = await session.query('delete from sign_in_nonce where sha256 = $1 and ends_ms > $2 returning 1 as used', [
    nonceSha256,
    nowMs,
  ])
  if (used.length === 0) return 'nonce'
  await session.query(
    `with over as (
       select id from account_session where ends_ms <= $1 limit ${ENDED_PER_CALL} for update skip locked
     ) delete from account_session using over where account_session.id = over.id`,
    [nowMs],
  )
  const number = await nextNumber(session)
  const [found] = await session.query(
    `select count(*) filter (where is_open)::int as open, count(*) filter (where not is_open)::int as ended
     from (select not ended and ends_ms > $1 as is_open from account_session limit $2) as sessions`,
    [nowMs, 2 * maxSessions],
  )
  // Ended sessions stay until their tokens would have ended, and the table must not grow without a limit.
  if ((found!['ended'] as number) >= maxSessions) return 'full'
  const { id, account, tokenSha256, refreshSha256, tokenEndMs, endMs, isHolder, attestation } = opened
  const own = await endSessions(
    session,
    number,
    nowMs,
    `id in (
       select id from account_session where account = $3 and not ended and ends_ms > $2 order by created_ms desc, id offset $4
     )`,
    [account, maxPerAccount - 1],
  )
  const excess = (found!['open'] as number) - own - maxSessions + 1
  if (excess > 0) await endLeastRecent(session, number, nowMs, Math.min(excess, ENDED_PER_CALL))
  await session.query(
    `insert into account_session
       (id, account, token_sha256, token_ends_ms, refresh_sha256, created_ms, ends_ms, change, is_holder, attestation)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [id, account, tokenSha256, tokenEndMs, refreshSha256, nowMs, endMs, number, isHolder, attestation ?? null],
  )
  return 'done'
}

async function refreshSession(
  session: Session,
  { id, usedSha256, tokenSha256, refreshSha256, tokenEndMs, isHolder, reuseMs, nowMs }: Argument<'refreshSession'>,
): Promise<RefreshOutcome> {
  const known = await session.query(
    'select 1 as known from account_session where id = $1 and not ended and ends_ms > $2',
    [id, nowMs],
  )
  // Without this, anyone could make all processes read the changes.
  if (known.length === 0) return 'unknown'
  const number = await nextNumber(session)
  const [refreshed] = await session.query(
    `update account_session set token_sha256 = $5, refresh_sha256 = $6, token_ends_ms = least($7, ends_ms), change = $8, is_holder = $9,
       previous_refresh_sha256 = $2, refreshed_ms = case when refresh_sha256 = $2 then $3 else refreshed_ms end
     where id = $1 and ${CAN_REFRESH} and not ended and ends_ms > $3 returning ${COLUMNS}`,
    [id, usedSha256, nowMs, reuseMs, tokenSha256, refreshSha256, tokenEndMs, number, isHolder],
  )
  if (refreshed !== undefined) return readSession(refreshed)
  // Who has this id without a token that can be used has an older one: the client or a thief has used it, and nothing tells which.
  return (await endSessions(session, number, nowMs, 'id = $3', [id])) === 0 ? 'unknown' : 'reused'
}

function readSession(row: Row): SessionState {
  return {
    id: row['id'] as string,
    account: row['account'] as string,
    tokenSha256: row['token_sha256'] as string,
    tokenEndMs: Number(row['token_ends_ms']),
    isHolder: row['is_holder'] as boolean,
  }
}
