import type { Database, Session } from './database.ts'
import { SUBMISSION_SPENDING, SUBMISSION_TABLES } from './submission-tables.ts'
import { SYNC_TABLES } from './sync-tables.ts'

interface Migration {
  readonly name: string
  readonly statements: readonly string[]
}

/** In the order they are applied. What stands here was applied somewhere: a change is a new row. */
const MIGRATIONS: readonly Migration[] = [
  {
    name: 'location records',
    statements: [
      // Keys are bytes: half the size of text, in the same order. What is shown is the document alone, finished JSON in a
      // table of its own, so that counting and walking read narrow rows: of a million records they fit into memory.
      `create table location_record (
        id bigint generated always as identity,
        uid bytea not null,
        chain_id bigint not null,
        prover bytea not null,
        subject bytea not null,
        block_time bigint not null,
        event_time bigint not null,
        block_number bigint not null,
        revoked boolean not null,
        revoked_block bigint,
        bounds box not null,
        primary key (uid, chain_id)
      )`,
      'create table record_document (id bigint primary key, document text not null)',
      'create index location_record_newest on location_record (block_time, uid, chain_id)',
      'create index location_record_chain on location_record (chain_id, block_time, uid)',
      'create index location_record_prover on location_record (prover, block_time, uid, chain_id)',
      'create index location_record_subject on location_record (subject, block_time, uid, chain_id)',
      'create index location_record_event on location_record (event_time)',
      'create index location_record_block on location_record (chain_id, block_number)',
      'create index location_record_bounds on location_record using gist (bounds)',
      // `version` counts the writes: what was counted under the same sum of versions still holds.
      `create table record_counter (
        chain_id bigint primary key,
        records bigint not null,
        revoked bigint not null,
        version bigint not null
      )`,
      // Every thousandth record from the oldest on, of all chains (scope 0) and of each.
      `create table page_mark (
        scope bigint not null,
        rank bigint not null,
        block_time bigint not null,
        uid bytea not null,
        chain_id bigint not null,
        primary key (scope, rank)
      )`,
      'create index page_mark_place on page_mark (scope, block_time, uid, chain_id)',
      `create table chain_checkpoint (
        chain_id bigint primary key,
        block_number bigint not null,
        block_hash text not null
      )`,
    ],
  },
  {
    name: 'journal of changes',
    statements: [
      // One row for what one range of blocks did of one kind: of new records their keys from first to last, of others the
      // keys, of those that are gone what they were. Numbers without gaps, in the order in which they can be seen.
      `create table record_change (
        number bigint primary key,
        kind text not null,
        size integer not null,
        chain text,
        first_id bigint,
        last_id bigint,
        ids text,
        removed text
      )`,
      // Another database has another journal, whose numbers mean something else.
      'create table record_journal (epoch text not null)',
      "insert into record_journal select substr(replace(gen_random_uuid()::text, '-', ''), 1, 12)",
    ],
  },
  { name: 'submissions', statements: SUBMISSION_TABLES },
  { name: 'synchronisation', statements: SYNC_TABLES },
  { name: 'gas of reverted submissions', statements: SUBMISSION_SPENDING },
]

/** Any number no other program on the same server is likely to lock. */
const MIGRATION_LOCK = 5_831_907

/**
 * Brings the schema to the newest form, in one transaction; several processes may do it at once.
 *
 * @returns names of what was applied
 * @throws {Error} when the database was written by a newer version of this program
 */
export async function migrate(database: Database): Promise<readonly string[]> {
  return database.transaction(async (session) => {
    await session.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await session.query(
      'create table if not exists schema_migration (position integer primary key, name text not null)',
    )
    const [row] = await session.query('select count(*)::int as applied from schema_migration')
    const applied = row!['applied'] as number
    if (applied > MIGRATIONS.length) {
      throw new Error(
        `the database has ${applied} migrations and this version knows ${MIGRATIONS.length}: run the newer version again`,
      )
    }
    const missing = MIGRATIONS.slice(applied)
    for (const [index, { name, statements }] of missing.entries()) {
      for (const statement of statements) await session.query(statement)
      await session.query('insert into schema_migration values ($1, $2)', [applied + index, name])
    }
    return missing.map(({ name }) => name)
  })
}

/** How many changes of tables the next start makes; changes nothing. Negative: a newer version wrote the database. */
export async function pendingMigrations(session: Session): Promise<number> {
  const [found] = await session.query("select (to_regclass('schema_migration') is not null) as there")
  if (found?.['there'] !== true) return MIGRATIONS.length
  const [row] = await session.query('select count(*)::int as applied from schema_migration')
  return MIGRATIONS.length - (row!['applied'] as number)
}
