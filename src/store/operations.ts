import type { AppliedRange, BlockRange, RecordStore } from '../wire/store-messages.ts'
import { createAccountStore } from './accounts.ts'
import { createChainLeases, holdGeneration } from './chain-leases.ts'
import type { Database, Session } from './database.ts'
import { createJobStore } from './jobs.ts'
import { createKeyStore } from './keys.ts'
import { appendChanges, pruneChanges, readChanges } from './records/changes.ts'
import { bytesFromHex } from './records/conditions.ts'
import { type Counters, readCounters, readStats } from './records/counters.ts'
import { listRecords } from './records/list.ts'
import type { RecordMemory } from './records/memory.ts'
import { requireDocuments, shownDocumentSql } from './records/page.ts'
import { ALL_CHAINS, dropMarks, extendMarks, lockMarks } from './records/page-marks.ts'
import { readSlice } from './records/slice.ts'
import {
  countChange,
  insertRecords,
  type RollbackResult,
  removeLogs,
  revokeRecords,
  rollBackRecords,
} from './records/writes.ts'
import { readRelayWork, takeRelayStep } from './relay-work.ts'
import { createSetStore } from './sets.ts'
import { createStoredStore, pruneStored } from './stored.ts'
import { countSubmissions, readSubmissions, submit } from './submissions.ts'
import { createSyncControl } from './sync-control.ts'
import { createSyncReads, storeRangeNotes } from './sync-rows.ts'
import { createUsageStore } from './usage.ts'

/** The longest wait for a running read, whose connection may be lost. */
const MAX_WAIT_MS = 20

/**
 * Shares one read among all callers that call while another read is running. The shared read starts after their calls, so it
 * sees everything that was committed before them.
 */
export function shareRead<T>(read: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined
  let running: Promise<unknown> | undefined
  return () => {
    next ??= (running === undefined ? nextTick() : waitFor(running)).then(() => {
      next = undefined
      const result = read()
      const settled = result.then(
        () => {},
        () => {},
      )
      running = settled
      void settled.then(() => {
        if (running === settled) running = undefined
      })
      return result
    })
    return next
  }
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function waitFor(running: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_WAIT_MS)
    void running.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Page marks that are set while a range is stored; `maintain` sets the remaining ones. */
const MARKS_PER_RANGE = 5
/** Page marks that `maintain` sets in one transaction. */
const MARKS_PER_MAINTENANCE = 200
/** Hours of clients that `maintain` deletes in one transaction. */
const HOURS_PER_MAINTENANCE = 20_000

/** Deletes hours that have ended. It waits for no row and holds few, so that no request waits for it. @returns the number of hours */
async function pruneHours(session: Session): Promise<number> {
  const [row] = await session.query(
    `with ended as (
       select kind, subject from client_hour where ends < extract(epoch from now()) - 60 limit ${HOURS_PER_MAINTENANCE} for update skip locked
     ), deleted as (
       delete from client_hour using ended where client_hour.kind = ended.kind and client_hour.subject = ended.subject returning 1 as deleted
     ) select count(*)::int as deleted from deleted`,
  )
  return row!['deleted'] as number
}

/**
 * Creates the store's operations on either engine.
 *
 * @param nowIso returns the time that is written into records, ISO 8601 with milliseconds
 * @param memory columns in memory that filter lists without the database
 */
export function createRecordStore(database: Database, nowIso: () => string, memory?: RecordMemory): RecordStore {
  // This is the only writer of the embedded engine, so cached counters are valid until it writes.
  let cachedCounters: Promise<Counters> | undefined
  const readShared = shareRead(() => readCounters(database.reads))
  const readCurrent = () => {
    if (database.engine === 'postgres') return readShared()
    cachedCounters ??= readCounters(database.reads).catch((error: unknown) => {
      cachedCounters = undefined
      throw error
    })
    return cachedCounters
  }
  return {
    async page(query) {
      const page = await listRecords(database, memory, query)
      return { ...page, documents: new TextDecoder().decode(page.documents) }
    },
    async newPage({ query, versionTag }) {
      // Read the tag before the page. If the page is newer than its tag, the only effect is that the next call reads it again.
      const { versionTag: currentTag } = await readCurrent()
      if (currentTag === versionTag) return { versionTag, page: undefined }
      return { versionTag: currentTag, page: await listRecords(database, memory, query) }
    },
    slice: ({ query, size }) => database.readTransaction((session) => readSlice(session, query, size)),
    changes: ({ after, size }) => database.readTransaction((session) => readChanges(session, after, size)),
    async record(uid) {
      const [row] = await database.reads.query(
        `select ${shownDocumentSql('document', 'block_number', 'finalized')} as document
         from location_record left join record_document using (id) left join chain_sync using (chain_id)
         where uid = $1 order by chain_id limit 1`,
        [bytesFromHex(uid)],
      )
      requireDocuments(row?.['document'] === null ? 1 : 0)
      return row?.['document'] as string | undefined
    },
    stats: ({ nowSeconds }) => database.readTransaction((session) => readStats(session, nowSeconds)),
    async extent({ family }) {
      return memory && database.readTransaction((session) => memory.extent(session, family))
    },
    async apply(range) {
      try {
        return await database.transaction((session) => applyRange(session, range, nowIso()))
      } finally {
        cachedCounters = undefined
      }
    },
    async ping() {
      await database.reads.query('select 1')
      return undefined
    },
    async maintain() {
      const { chains } = await readCounters(database.reads)
      for (const scope of [ALL_CHAINS, ...chains.map(({ chainId }) => chainId)]) {
        const extend = () =>
          database.transaction(async (session) => {
            await lockMarks(session)
            return extendMarks(session, scope, MARKS_PER_MAINTENANCE)
          })
        while ((await extend()) === MARKS_PER_MAINTENANCE);
      }
      await database.transaction(pruneChanges)
      // Hours are deleted a minute after their end, when no node adds to them any more.
      while ((await database.transaction(pruneHours)) === HOURS_PER_MAINTENANCE);
      while (await database.transaction((session) => pruneStored(session, Date.now())));
      await memory?.loaded()
      if (database.engine === 'embedded') await database.maintain('vacuum (analyze)')
      return undefined
    },
    submit: ({ submissions, ...limits }) => database.transaction((session) => submit(session, submissions, limits)),
    submissions: (ids) => readSubmissions(database.reads, ids),
    submissionCounts: (query) => countSubmissions(database.reads, query),
    relayWork: (account) => database.readTransaction((session) => readRelayWork(session, account)),
    relayStep: ({ change, ...context }) => takeRelayStep(database.transaction, context, change),
    ...createSyncReads(database),
    ...createSyncControl(database),
    ...createChainLeases(database),
    ...createJobStore(database),
    ...createKeyStore(database),
    ...createAccountStore(database),
    ...createUsageStore(database),
    ...createStoredStore(database),
    ...createSetStore(database),
  }
}

const NOTHING_ROLLED_BACK: RollbackResult = {
  records: 0,
  revoked: 0,
  oldestSeconds: undefined,
  removed: '',
  restoredIds: [],
}

/** Stores the records and revocations of a range of blocks together with the new checkpoint. */
async function applyRange(session: Session, range: BlockRange, nowIso: string): Promise<AppliedRange> {
  const { chainId, checkpoint, rollBackTo, removed = [], areAgreed = false } = range
  const rejected: AppliedRange = { ok: false, inserted: 0, revoked: 0, rolledBack: 0 }
  if (!(await holdGeneration(session, chainId, range.leaseGeneration))) return rejected
  if (checkpoint !== undefined && !(await moveCheckpoint(session, chainId, checkpoint))) return rejected
  let rolledBack = NOTHING_ROLLED_BACK
  if (rollBackTo !== undefined) rolledBack = await rollBackRecords(session, chainId, rollBackTo, nowIso)
  else if (removed.length > 0) rolledBack = await removeLogs(session, chainId, removed, nowIso)
  const { inserted, oldestSeconds, ids } = await insertRecords(session, chainId, range.records, areAgreed, nowIso)
  const revokedIds =
    range.revocations.length === 0 ? [] : await revokeRecords(session, chainId, range.revocations, areAgreed, nowIso)
  const revoked = revokedIds.length
  await storeRangeNotes(session, range)
  const change = { records: rolledBack.records + inserted, revoked: rolledBack.revoked + revoked }
  if (inserted > 0 || revoked > 0 || rolledBack.records !== 0 || rolledBack.revoked !== 0) {
    await countChange(session, chainId, change)
  }
  const oldest = Math.min(
    oldestSeconds ?? Number.POSITIVE_INFINITY,
    rolledBack.oldestSeconds ?? Number.POSITIVE_INFINITY,
  )
  if (oldest !== Number.POSITIVE_INFINITY) {
    await lockMarks(session)
    await dropMarks(session, chainId, oldest)
    await extendMarks(session, ALL_CHAINS, MARKS_PER_RANGE)
    await extendMarks(session, chainId, MARKS_PER_RANGE)
  }
  // Last, because it takes the journal lock until the end of the transaction.
  await appendChanges(session, [
    { kind: 'rolled-back', removed: rolledBack.removed },
    { kind: 'restored', ids: rolledBack.restoredIds },
    { kind: 'new', range: ids, size: inserted, chain: range.records[0]?.chain ?? '' },
    { kind: 'revoked', ids: revokedIds },
  ])
  return { ok: true, inserted, revoked, rolledBack: Math.abs(rolledBack.records) }
}

/** Moves the checkpoint by compare and swap, so that a range that was read twice is stored once. */
async function moveCheckpoint(
  session: Session,
  chainId: number,
  { from, to }: NonNullable<BlockRange['checkpoint']>,
): Promise<boolean> {
  if (to === null) {
    const deleted = await session.query(
      'delete from chain_checkpoint where chain_id = $1 and block_hash = $2 returning 1 as moved',
      [chainId, from],
    )
    return deleted.length === 1
  }
  const rows =
    from === null
      ? await session.query(
          `insert into chain_checkpoint (chain_id, block_number, block_hash) values ($1, $2, $3)
           on conflict (chain_id) do nothing returning 1 as moved`,
          [chainId, to.blockNumber, to.blockHash],
        )
      : await session.query(
          `update chain_checkpoint set block_number = $2, block_hash = $3 where chain_id = $1 and block_hash = $4 returning 1 as moved`,
          [chainId, to.blockNumber, to.blockHash, from],
        )
  return rows.length === 1
}
