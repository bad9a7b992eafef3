import type { Database, Session } from './database.ts'

/** Tables of submissions: migration `submissions`. Never edit them, because users have applied them. */
const SUBMISSION_TABLES: readonly string[] = [
  `create table submission (
    position bigint generated always as identity primary key,
    id text not null unique,
    account text not null,
    idempotency_key text not null,
    chain_id bigint not null,
    sender text not null,
    kind text not null,
    schema text not null,
    recipient text not null,
    data text not null,
    status text not null,
    nonce bigint,
    place integer,
    uid text,
    attempts integer not null default 0,
    error text,
    gas bigint not null,
    created_ms bigint not null,
    updated_ms bigint not null,
    unique (account, idempotency_key)
  )`,
  'create index submission_work on submission (chain_id, sender, status, position)',
  'create index submission_spent on submission (account, created_ms)',
  'create index submission_nonce on submission (chain_id, sender, nonce)',
  // One row per nonce of our account. The relay that inserts it owns the nonce, so two relays never use it for different
  // attestations.
  `create table relay_transaction (
    chain_id bigint not null,
    sender text not null,
    nonce bigint not null,
    state text not null,
    items integer not null,
    hash text,
    block_number bigint,
    block_hash text,
    block_time bigint,
    updated_ms bigint not null,
    primary key (chain_id, sender, nonce)
  )`,
  "create index relay_transaction_open on relay_transaction (chain_id, sender, nonce) where state in ('sent', 'mined', 'reverted')",
  // Every signed transaction for a nonce: any of them may be the one in the block.
  `create table relay_attempt (
    chain_id bigint not null,
    sender text not null,
    nonce bigint not null,
    number integer not null,
    hash text not null,
    raw text not null,
    gas bigint not null,
    max_fee text not null,
    priority_fee text not null,
    sent_block bigint not null,
    primary key (chain_id, sender, nonce, number)
  )`,
]

/** Gas of reverted transactions of a submission. It counts towards the daily budget, whatever the outcome. */
const SUBMISSION_GAS_COLUMN: readonly string[] = [
  'alter table submission add column spent_gas bigint not null default 0',
]

/** Tables of the synchronisation: migration `synchronisation`. Never edit them, because users have applied them. */
const SYNC_TABLES: readonly string[] = [
  // Blocks that were read: every block that is not final, and of the final ones the fewer the older they are.
  'create table block_ladder (chain_id bigint not null, number bigint not null, hash text not null, primary key (chain_id, number))',
  `create table chain_sync (
        chain_id bigint primary key,
        head bigint,
        head_seconds bigint,
        finalized bigint,
        audited_to bigint,
        reorgs bigint not null default 0,
        deepest_reorg bigint not null default 0,
        last_ingested bigint not null default 0
      )`,
  `create table quarantine (
        chain_id bigint not null,
        uid bytea not null,
        block_number bigint not null,
        stage text not null,
        reason text not null,
        attempts bigint not null,
        first_seen timestamptz not null default now(),
        retry_at bigint,
        decoder bigint not null,
        revoked_block bigint,
        primary key (chain_id, uid)
      )`,
  'create index quarantine_block on quarantine (chain_id, block_number)',
  'create index location_record_revoked on location_record (chain_id, revoked_block) where revoked_block is not null',
  // Running passes. A row is stale if the process that began the pass no longer holds the lease.
  'create table sync_run (kind text not null, chain_id bigint not null, primary key (kind, chain_id))',
  `create table sync_counter (
        kind text primary key,
        total bigint not null default 0,
        failed bigint not null default 0,
        counted bigint not null default 0,
        revoked bigint not null default 0,
        last_success timestamptz,
        last_end timestamptz,
        last_duration_ms bigint
      )`,
  "insert into sync_counter (kind) values ('attestations'), ('revocations')",
  `create table sync_error (
        id bigint generated always as identity primary key,
        chain_id bigint not null,
        at timestamptz not null,
        message text not null
      )`,
  'create index sync_error_chain on sync_error (chain_id, id)',
  `create table sync_worker (
        only_one boolean primary key default true check (only_one),
        desired boolean not null default true,
        owner text,
        held_until timestamptz,
        started_at timestamptz
      )`,
  'insert into sync_worker default values',
]

/** Tables of stored geometries: migration `stored geometries`. Never edit them, because users have applied them. */
const STORED_TABLES: readonly string[] = [
  `create table stored_geometry (
    account text not null,
    ref text not null,
    document text not null,
    bytes bigint not null,
    created_ms bigint not null,
    expires_ms bigint not null,
    primary key (account, ref)
  )`,
  'create index stored_geometry_expiry on stored_geometry (expires_ms)',
  `create table stored_set (
    id text primary key,
    account text not null,
    name text not null,
    name_taken text,
    features bigint not null,
    vertices bigint not null,
    bytes bigint not null,
    created_ms bigint not null,
    expires_ms bigint not null,
    unique (account, name_taken)
  )`,
  'create index stored_set_expiry on stored_set (expires_ms)',
  `create table stored_set_chunk (
    set_id text not null references stored_set (id) on delete cascade,
    first bigint not null,
    features integer not null,
    stored bytea not null,
    primary key (set_id, first)
  )`,
  // The chunks are compressed already.
  'alter table stored_set_chunk alter column stored set storage external',
]

/** Tables of jobs: migration `jobs`. Never edit them, because users have applied them. */
const JOB_TABLES: readonly string[] = [
  `create table job (
    position bigint generated always as identity primary key,
    id text not null unique,
    account text not null,
    idempotency_key text,
    options text not null,
    state text not null,
    received bigint not null default 0,
    total bigint,
    done bigint not null default 0,
    failed bigint not null default 0,
    errors text not null default '{}',
    open_chunks integer not null default 0,
    bytes bigint not null default 0,
    created_ms bigint not null,
    started_ms bigint,
    updated_ms bigint not null,
    reason text,
    unique (account, idempotency_key)
  )`,
  "create index job_open on job (account, position) where state in ('receiving', 'queued', 'running')",
  // Input and result are never there at the same time, so a job takes the room of one of them. They are not compressed: with the
  // embedded engine that took more time than everything else that is done to store them.
  `create table job_chunk (
    job bigint not null,
    first bigint not null,
    operations integer not null,
    failed integer not null default 0,
    input bytea,
    result bytea,
    leaves bytea,
    root bytea,
    attempts integer not null default 0,
    owner text,
    held_until timestamptz,
    primary key (job, first)
  )`,
  'alter table job_chunk alter column input set storage external, alter column result set storage external, alter column leaves set storage external',
  'create index job_chunk_open on job_chunk (job, first) where result is null',
  'create index job_chunk_owner on job_chunk (owner) where owner is not null',
  // What an account has uploaded on a day, which outlives its jobs, and its place in the order of service.
  'create table job_account (account text primary key, day bigint not null, operations bigint not null, turn bigint not null)',
]

/** The family of each record's geometry: migration `families of geometries`. Never edit it, because users have applied it. */
const FAMILY_COLUMN: readonly string[] = [
  // 1: points, 2: lines, 3: polygons, 0: none of them. Adding a column with a default rewrites no row, and most records are points.
  'alter table location_record add column family smallint not null default 1',
  // Without the default, a process of an older version cannot store lines as points: its writes fail until it is replaced.
  'alter table location_record alter column family drop default',
  // Quotes within values are escaped, so the names of members are found as text. PostgreSQL does not read JSON with an escaped NUL,
  // so escapes are replaced; the name of a type has none.
  `create function read_geometry_family(document text) returns smallint language plpgsql as $$
    declare
      location text := split_part(split_part(document, ',"location":', 2), ',"longitude":', 1);
    begin
      location := ('[' || location || ']')::json ->> 0;
      return case regexp_replace(location, '\\\\(\\\\|u[0-9a-fA-F]{4})', '_', 'g')::json ->> 'type'
        when 'Point' then 1 when 'MultiPoint' then 1 when 'LineString' then 2 when 'MultiLineString' then 2
        when 'Polygon' then 3 when 'MultiPolygon' then 3 else 0 end;
    exception when others then return 0;
    end $$`,
  // Only points have a longitude.
  `update location_record set family = read_geometry_family(document) from record_document
   where record_document.id = location_record.id and strpos(document, ',"longitude":null,') > 0`,
  'drop function read_geometry_family(text)',
]

/** Indexes of filtered lists: migration `indexes of lists`. Never edit them, because users have applied them. */
const LIST_INDEXES: readonly string[] = [
  // Records whose event and block are more than a day apart.
  `create index location_record_distant on location_record (event_time) include (block_time, uid, chain_id, bounds)
   where abs(block_time - event_time) > 86400`,
  // The records of a chain or an address are spread over the table, so the index alone has to tell which ones match a box and a time.
  'drop index location_record_chain',
  'drop index location_record_prover',
  'drop index location_record_subject',
  'create index location_record_chain on location_record (chain_id, block_time, uid) include (event_time, bounds)',
  'create index location_record_prover on location_record (prover, block_time, uid, chain_id) include (event_time, bounds)',
  'create index location_record_subject on location_record (subject, block_time, uid, chain_id) include (event_time, bounds)',
]

/** Columns of jobs: migration `room of jobs`. Never edit them, because users have applied them. */
const JOB_ROOM_COLUMNS: readonly string[] = [
  // Bytes that a chunk is counted with: room for its results until they are stored, then what they take. `job.bytes` is the sum.
  'alter table job_chunk add column room bigint not null default 0',
  `update job_chunk set room = coalesce(octet_length(input), 0) + coalesce(octet_length(result), 0) + coalesce(octet_length(leaves), 0)`,
  // When the operations arrived. 0: before this migration.
  'alter table job_chunk add column added_ms bigint not null default 0',
  // Why the operations have no results. The result is then empty.
  'alter table job_chunk add column problem text',
]

/** Compressed operations and results of jobs: migration `compressed jobs`. Never edit it, because users have applied it. */
const COMPRESSED_JOBS: readonly string[] = [
  // False for rows of older versions. Their new names make the statements of a process of an older version fail, which would send
  // compressed bytes to clients.
  'alter table job_chunk add column is_compressed boolean not null default false',
  'alter table job_chunk rename column input to stored_input',
  'alter table job_chunk rename column result to stored_result',
]

/** API keys of several nodes: migration `API keys`. Never edit them, because users have applied them. */
const API_KEY_TABLES: readonly string[] = [
  `create table api_key (
    sha256 text primary key,
    document text not null,
    created_ms bigint not null,
    change bigint not null,
    revoked boolean not null default false,
    last_used_ms bigint
  )`,
  'create index api_key_change_number on api_key (change)',
  'create table api_key_change (only_one boolean primary key default true check (only_one), number bigint not null default 0)',
  'insert into api_key_change default values',
]

/**
 * Tables of the leases of chains: migration `leases of chains`. Never edit them, because users have applied them. They replace the
 * lease in `sync_worker`, whose columns stay for processes of an older version that are still to be replaced.
 */
const LEASE_TABLES: readonly string[] = [
  // The processes that can read chains. With PostgreSQL each also holds a lock while its connection exists.
  'create table sync_process (owner text primary key, chains bigint[] not null, held_until timestamptz not null)',
  // The generation grows with each grant. Each write of a reader contains it, so a reader that has lost its lease cannot write.
  'create table chain_lease (chain_id bigint primary key, owner text, generation bigint not null, started_at timestamptz)',
]

/** The hours of clients: migration `hours of clients`. Never edit it, because users have applied it. */
const HOUR_TABLE: readonly string[] = [
  // `used` counts requests or, in rows of the kind `costs`, bytes. `cap` and `granted` belong to the last change.
  `create table client_hour (
        kind text not null,
        subject text not null,
        ends bigint not null,
        cap double precision not null,
        used double precision not null,
        vertices double precision not null,
        cpu_ms double precision not null,
        granted double precision not null,
        primary key (kind, subject)
      )`,
]

/** Nonces and sessions of wallets: migration `accounts`. Never edit them, because users have applied them. */
const ACCOUNT_TABLES: readonly string[] = [
  'create table sign_in_nonce (sha256 text primary key, client text not null, ends_ms bigint not null)',
  'create index sign_in_nonce_client on sign_in_nonce (client)',
  'create index sign_in_nonce_end on sign_in_nonce (ends_ms)',
  // One row for a session. Its id is a part of each of its refresh tokens, so an old one is known without a list of them.
  `create table account_session (
    id text primary key,
    account text not null,
    token_sha256 text not null unique,
    token_ends_ms bigint not null,
    refresh_sha256 text not null,
    created_ms bigint not null,
    ends_ms bigint not null,
    ended boolean not null default false,
    change bigint not null
  )`,
  'create index account_session_account on account_session (account, created_ms)',
  'create index account_session_end on account_session (ends_ms)',
  'create index account_session_change_number on account_session (change)',
  'create table account_session_change (only_one boolean primary key default true check (only_one), number bigint not null default 0)',
  'insert into account_session_change default values',
  // The account to which a key belongs, also in its document.
  'alter table api_key add column owner text',
  'create index api_key_owner on api_key (owner) where owner is not null',
]

/** What a session shows for its tier: migration `tiers of sessions`. Never edit it, because users have applied it. */
const SESSION_TIER_COLUMNS: readonly string[] = [
  'alter table account_session add column is_holder boolean not null default false, add column attestation text',
]

/** Usage by subject and day: migration `usage`. Never edit it, because users have applied it. */
const USAGE_TABLES: readonly string[] = [
  // Subjects are read by their beginnings, in the order of their bytes.
  `create table usage_daily (
    subject text collate "C" not null,
    day date not null,
    kind text collate "C" not null,
    requests bigint not null,
    operations bigint not null,
    bytes bigint not null,
    vertices bigint not null,
    cpu_micros bigint not null,
    errors_4xx bigint not null,
    errors_5xx bigint not null,
    primary key (subject, day, kind)
  )`,
  'create index usage_daily_day on usage_daily (day)',
  // The last flush of each process that counts. Readers wait for its counts until `awaited_until`.
  `create table usage_process (
    name text primary key,
    sequence bigint not null,
    complete_ms bigint not null,
    awaited_until timestamptz not null
  )`,
]

/** Refreshes that are repeated: migration `repeated refreshes`. Never edit it, because users have applied it. */
const REPEATED_REFRESHES: readonly string[] = [
  // The refresh token before the newest one, and when it was used first.
  'alter table account_session add column previous_refresh_sha256 text, add column refreshed_ms bigint',
  // The order in which sessions end when there are too many.
  'create index account_session_least_recent on account_session (token_ends_ms, id) where not ended',
]

/** When API keys were revoked: migration `revoked API keys`. Never edit it, because users have applied it. */
const REVOKED_KEYS: readonly string[] = [
  // By the clock of the database. A process of an older version leaves it empty.
  'alter table api_key add column revoked_at timestamptz',
  'create index api_key_revoked on api_key (revoked_at) where revoked',
  // The last change whose rows were deleted. Who knows only earlier changes has to read all keys.
  'alter table api_key_change add column deleted bigint not null default 0',
]

/** What jobs submit: migration `submissions of jobs`. Never edit it, because users have applied it. */
const JOB_SUBMISSION_COLUMNS: readonly string[] = [
  // `root_due` is true from the creation of a job until the submission of its root is noted, or why there is none.
  `alter table job add column root_due boolean not null default false, add column submission text, add column submission_error text`,
  // A job whose submissions find no room waits until then. `waits` is the number of pauses since its last chunk.
  'alter table job add column waits integer not null default 0, add column waits_until timestamptz',
  "create index job_root_due on job (waits_until nulls first, position) where root_due and state = 'done'",
  // Results of a chunk until they are submitted, and its errors by type.
  'alter table job_chunk add column computed bytea, add column computed_errors text',
  'alter table job_chunk alter column computed set storage external',
  'create index job_chunk_computed on job_chunk (job) where computed is not null',
  // The new name makes the statements of a process of an older version fail, which would store results without submitting them.
  'alter table job_chunk rename column stored_input to packed_input',
]

/** Indexes for the gas of 24 hours: migration `gas of waiting submissions`. Never edit it, because users have applied it. */
const SUBMISSION_GAS_INDEXES: readonly string[] = [
  'create index submission_updated on submission (updated_ms)',
  "create index submission_waiting on submission (position) where status in ('queued', 'sent')",
  'drop index submission_spent',
]

interface Migration {
  readonly name: string
  readonly statements: readonly string[]
}

/** Migrations in the order in which they are applied. Never edit one, because users have applied it: add another. */
const MIGRATIONS: readonly Migration[] = [
  {
    name: 'location records',
    statements: [
      // Keys are bytes: half the size of text, with the same order. Clients get only the document, which is finished JSON in a
      // separate table. Counts and scans therefore read narrow rows; a million of them fit into memory.
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
      // `version` counts the writes. Cached counts and pages are valid while the sum of the versions is the same.
      `create table record_counter (
        chain_id bigint primary key,
        records bigint not null,
        revoked bigint not null,
        version bigint not null
      )`,
      // Every thousandth record, counted from the oldest: for all chains together (scope 0) and for each chain.
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
      // One row per range of blocks and kind of change. New records: their first and last ID. Revoked and restored records:
      // their IDs. Removed records: their identifying members. Numbers have no gaps and follow the order of visibility.
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
      // Identifies the journal: the numbers of another database's journal mean something else.
      'create table record_journal (epoch text not null)',
      "insert into record_journal select substr(replace(gen_random_uuid()::text, '-', ''), 1, 12)",
    ],
  },
  { name: 'submissions', statements: SUBMISSION_TABLES },
  { name: 'synchronisation', statements: SYNC_TABLES },
  { name: 'gas of reverted submissions', statements: SUBMISSION_GAS_COLUMN },
  { name: 'jobs', statements: JOB_TABLES },
  { name: 'families of geometries', statements: FAMILY_COLUMN },
  { name: 'room of jobs', statements: JOB_ROOM_COLUMNS },
  { name: 'API keys', statements: API_KEY_TABLES },
  { name: 'leases of chains', statements: LEASE_TABLES },
  { name: 'hours of clients', statements: HOUR_TABLE },
  { name: 'accounts', statements: ACCOUNT_TABLES },
  { name: 'usage', statements: USAGE_TABLES },
  { name: 'tiers of sessions', statements: SESSION_TIER_COLUMNS },
  { name: 'compressed jobs', statements: COMPRESSED_JOBS },
  { name: 'repeated refreshes', statements: REPEATED_REFRESHES },
  { name: 'revoked API keys', statements: REVOKED_KEYS },
  { name: 'stored geometries', statements: STORED_TABLES },
  { name: 'submissions of jobs', statements: JOB_SUBMISSION_COLUMNS },
  { name: 'indexes of lists', statements: LIST_INDEXES },
  { name: 'gas of waiting submissions', statements: SUBMISSION_GAS_INDEXES },
]

/** Advisory lock: an arbitrary number that other programs on the same server are unlikely to use. */
const MIGRATION_LOCK = 5_831_907

/**
 * Brings the schema up to date in one transaction. Several processes may call this at the same time.
 *
 * @returns the names of the migrations that were applied
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

/** Counts the migrations that the next start will apply. Negative when a newer version wrote the database. */
export async function pendingMigrations(session: Session): Promise<number> {
  const [lookup] = await session.query("select (to_regclass('schema_migration') is not null) as there")
  if (lookup?.['there'] !== true) return MIGRATIONS.length
  const [row] = await session.query('select count(*)::int as applied from schema_migration')
  return MIGRATIONS.length - (row!['applied'] as number)
}
