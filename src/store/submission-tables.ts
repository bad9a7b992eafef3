/** Tables of submissions: migration `submissions`. Never edit them, because users have applied them. */
export const SUBMISSION_TABLES: readonly string[] = [
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
export const SUBMISSION_GAS_COLUMN: readonly string[] = [
  'alter table submission add column spent_gas bigint not null default 0',
]
