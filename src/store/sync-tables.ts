/** Tables of the synchronisation: migration `synchronisation`. Never edit them, because users have applied them. */
export const SYNC_TABLES: readonly string[] = [
  // Blocks we have seen: every block that is not final, and ever fewer of the older ones.
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
  // A running pass. The process that began it may have ended; the lease tells.
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
