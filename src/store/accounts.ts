/**
 * Nonces and sessions of accounts, where all processes and nodes read them. Each row that must be used once is taken by one
 * statement, which locks it: of two that want it, the second finds nothing.
 */
import type { AccountOperations, AccountSession, RefreshOutcome } from '../wire/account-messages.ts'
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
      const rows = await database.reads.query('select 1 as found from sign_in_nonce where sha256 = $1 and ends_ms > $2', [
        sha256,
        nowMs,
      ])
      return rows.length === 1
    },
    openSession: (wanted) => database.transaction((session) => openSession(session, wanted)),
    refreshSession: (wanted) => database.transaction((session) => refreshSession(session, wanted)),
    findSessions: async ({ tokenSha256s, nowMs }) => {
      const rows = await database.reads.query(
        `select ${COLUMNS}, token_sha256 from account_session
         where token_sha256 = any($1::text[]) and token_ends_ms > $2 and ends_ms > $2`,
        [tokenSha256s, nowMs],
      )
      return rows.map((row) => ({ ...readSession(row), tokenSha256: row['token_sha256'] as string }))
    },
    endSession: ({ id }) =>
      database.transaction(async (session) => {
        await session.query('delete from account_session where id = $1', [id])
        return undefined
      }),
  }
}

const COLUMNS = 'id, account, token_ends_ms::text'

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
  { nonceSha256, session: opened, nowMs, maxPerAccount }: Argument<'openSession'>,
): Promise<boolean> {
  const used = await session.query('delete from sign_in_nonce where sha256 = $1 and ends_ms > $2 returning 1 as used', [
    nonceSha256,
    nowMs,
  ])
  if (used.length === 0) return false
  const { id, account, tokenSha256, refreshSha256, tokenEndMs, endMs } = opened
  await session.query(
    `insert into account_session (id, account, token_sha256, token_ends_ms, refresh_sha256, created_ms, ends_ms)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [id, account, tokenSha256, tokenEndMs, refreshSha256, nowMs, endMs],
  )
  await session.query(
    `delete from account_session where id in (
       select id from account_session where account = $1 order by created_ms desc, id = $2 desc offset $3
     )`,
    [account, id, maxPerAccount],
  )
  await session.query(
    `with ended as (
       select id from account_session where ends_ms <= $1 limit ${ENDED_PER_CALL} for update skip locked
     ) delete from account_session using ended where account_session.id = ended.id`,
    [nowMs],
  )
  return true
}

async function refreshSession(
  session: Session,
  { id, usedSha256, tokenSha256, refreshSha256, tokenEndMs, nowMs }: Argument<'refreshSession'>,
): Promise<RefreshOutcome> {
  const [refreshed] = await session.query(
    `update account_session set token_sha256 = $3, refresh_sha256 = $4, token_ends_ms = least($5, ends_ms)
     where id = $1 and refresh_sha256 = $2 and ends_ms > $6 returning ${COLUMNS}`,
    [id, usedSha256, tokenSha256, refreshSha256, tokenEndMs, nowMs],
  )
  if (refreshed !== undefined) return readSession(refreshed)
  // Who has this id without the newest token has an older one: the client or a thief has used it, and nothing tells which.
  const ended = await session.query('delete from account_session where id = $1 and ends_ms > $2 returning 1 as ended', [
    id,
    nowMs,
  ])
  return ended.length === 0 ? 'unknown' : 'reused'
}

function readSession(row: Row): AccountSession {
  return {
    id: row['id'] as string,
    account: row['account'] as string,
    tokenEndMs: Number(row['token_ends_ms']),
  }
}
