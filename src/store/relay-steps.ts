import type { RelayAccount, RelayAttempt, RelayBlock, RelayStep } from '../relay-messages.ts'
import type { Session } from './database.ts'

interface Place extends RelayAccount {
  readonly nowMs: number
}

type StepOf<Name extends RelayStep['step']> = Extract<RelayStep, { step: Name }>

/** Says that a step does not fit what is stored, so that its transaction is rolled back. Never leaves this file. */
class Misfit extends Error {}

/**
 * Takes one step in a transaction of its own.
 *
 * @returns false when the state was another one than the step expects: nothing was changed
 */
export async function takeRelayStep(
  transaction: <T>(run: (session: Session) => Promise<T>) => Promise<T>,
  place: Place,
  change: RelayStep,
): Promise<boolean> {
  try {
    await transaction((session) => take(session, place, change))
    return true
  } catch (error) {
    if (error instanceof Misfit) return false
    throw error
  }
}

async function take(session: Session, place: Place, change: RelayStep): Promise<void> {
  switch (change.step) {
    case 'begin':
      return begin(session, place, change)
    case 'raise':
      return addAttempt(session, place, change.nonce, change.attempts, change.attempt)
    case 'mined':
      return mined(session, place, change)
    case 'reverted':
      return void (await setBlock(session, place, 'reverted', change.nonce, change.hash, change.block))
    case 'vanished':
      return vanished(session, place, change.nonces)
    case 'finalized':
      return finalized(session, place, change.blocks)
    case 'lost':
      return lost(session, place, change)
    case 'failed':
      return failed(session, place, change)
    case 'forget':
      return forget(session, place, change.beforeMs)
  }
}

async function begin(session: Session, place: Place, { nonce, ids, attempt }: StepOf<'begin'>): Promise<void> {
  const { chainId, sender, nowMs } = place
  const taken = await session.query(
    `insert into relay_transaction (chain_id, sender, nonce, state, items, updated_ms) values ($1, $2, $3, 'sent', $4, $5)
     on conflict do nothing returning nonce::text`,
    [chainId, sender, nonce, ids.length, nowMs],
  )
  if (taken.length === 0) throw new Misfit()
  const moved = await session.query(
    `update submission set status = 'sent', nonce = $3, place = member.place - 1, updated_ms = $5
     from unnest($4::text[]) with ordinality as member (id, place)
     where submission.id = member.id and chain_id = $1 and sender = $2 and status = 'queued' returning submission.id`,
    [chainId, sender, nonce, ids, nowMs],
  )
  if (moved.length !== ids.length) throw new Misfit()
  await addAttempt(session, place, nonce, 0, attempt)
}

async function addAttempt(
  session: Session,
  { chainId, sender }: Place,
  nonce: number,
  number: number,
  { hash, raw, gas, maxFeePerGas, maxPriorityFeePerGas, sentBlock }: RelayAttempt,
): Promise<void> {
  const rows = await session.query(
    `insert into relay_attempt (chain_id, sender, nonce, number, hash, raw, gas, max_fee, priority_fee, sent_block)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
     where exists (select from relay_transaction where chain_id = $1 and sender = $2 and nonce = $3 and state = 'sent')
     on conflict do nothing returning number`,
    [chainId, sender, nonce, number, hash, raw, gas, String(maxFeePerGas), String(maxPriorityFeePerGas), sentBlock],
  )
  if (rows.length === 0) throw new Misfit()
}

async function mined(
  session: Session,
  place: Place,
  { nonce, hash, block, uids, gasUsed }: StepOf<'mined'>,
): Promise<void> {
  if ((await setBlock(session, place, 'mined', nonce, hash, block)) !== uids.length) throw new Misfit()
  const updated = await session.query(
    `update submission set status = 'mined', uid = member.uid, error = null, gas = $5, updated_ms = $6
     from unnest($4::text[]) with ordinality as member (uid, place)
     where chain_id = $1 and sender = $2 and nonce = $3 and submission.place = member.place - 1 returning id`,
    [place.chainId, place.sender, nonce, uids, Math.ceil(gasUsed / Math.max(1, uids.length)), place.nowMs],
  )
  if (updated.length !== uids.length) throw new Misfit()
}

/** @returns submissions of the transaction */
async function setBlock(
  session: Session,
  { chainId, sender, nowMs }: Place,
  state: 'mined' | 'reverted',
  nonce: number,
  hash: string,
  block: RelayBlock,
): Promise<number> {
  const rows = await session.query(
    `update relay_transaction set state = $4, hash = $5, block_number = $6, block_hash = $7, block_time = $8, updated_ms = $9
     where chain_id = $1 and sender = $2 and nonce = $3 and state in ('sent', 'mined', 'reverted') returning items`,
    [chainId, sender, nonce, state, hash, block.number, block.hash, block.timeSeconds, nowMs],
  )
  if (rows.length === 0) throw new Misfit()
  return rows[0]!['items'] as number
}

async function vanished(session: Session, place: Place, nonces: readonly number[]): Promise<void> {
  const account = [place.chainId, place.sender, nonces.map(String), place.nowMs]
  await session.query(
    `update relay_transaction set state = 'sent', hash = null, block_number = null, block_hash = null, block_time = null, updated_ms = $4
     where chain_id = $1 and sender = $2 and nonce = any($3::bigint[]) and state in ('mined', 'reverted')`,
    account,
  )
  await session.query(
    `update submission set status = 'sent', uid = null, updated_ms = $4
     where chain_id = $1 and sender = $2 and nonce = any($3::bigint[]) and status = 'mined'`,
    account,
  )
}

async function finalized(
  session: Session,
  { chainId, sender, nowMs }: Place,
  blocks: StepOf<'finalized'>['blocks'],
): Promise<void> {
  await session.query(
    `with final as (
       update relay_transaction set state = 'finalized', updated_ms = $5
       from unnest($3::bigint[], $4::text[]) as block (nonce, hash)
       where chain_id = $1 and sender = $2 and state = 'mined'
         and relay_transaction.nonce = block.nonce and block_hash = block.hash
       returning relay_transaction.nonce
     ) update submission set status = 'finalized', updated_ms = $5
       where chain_id = $1 and sender = $2 and status = 'mined' and nonce in (select nonce from final)`,
    [chainId, sender, blocks.map(({ nonce }) => String(nonce)), blocks.map(({ hash }) => hash), nowMs],
  )
}

async function lost(session: Session, place: Place, { nonce, maxAttempts, error }: StepOf<'lost'>): Promise<void> {
  const account = [place.chainId, place.sender, nonce, place.nowMs]
  const rows = await session.query(
    `update relay_transaction set state = 'lost', updated_ms = $4
     where chain_id = $1 and sender = $2 and nonce = $3 and state in ('sent', 'reverted') returning hash`,
    account,
  )
  if (rows.length === 0) throw new Misfit()
  // A revert is paid for: it has a block, where a nonce that somebody else used has none of ours.
  const isPaid = rows[0]!['hash'] !== null
  await session.query(
    `update submission set nonce = null, place = null, uid = null, error = $5, attempts = attempts + 1, updated_ms = $4,
       spent_gas = spent_gas + case when $7 then gas else 0 end,
       status = case when attempts + 1 >= $6 then 'failed' else 'queued' end
     where chain_id = $1 and sender = $2 and nonce = $3`,
    [...account, error, maxAttempts, isPaid],
  )
}

async function failed(session: Session, place: Place, { ids, error }: StepOf<'failed'>): Promise<void> {
  await session.query(
    `update submission set status = 'failed', error = $4, updated_ms = $5
     where chain_id = $1 and sender = $2 and id = any($3::text[]) and status = 'queued'`,
    [place.chainId, place.sender, ids, error, place.nowMs],
  )
}

async function forget(session: Session, { chainId, sender }: Place, beforeMs: number): Promise<void> {
  await session.query(
    `delete from submission where chain_id = $1 and sender = $2 and status in ('finalized', 'failed') and updated_ms < $3`,
    [chainId, sender, beforeMs],
  )
  // Their raw forms are long; the row of the nonce stays and says that it was used.
  await session.query(
    `delete from relay_attempt using relay_transaction as used
     where relay_attempt.chain_id = $1 and relay_attempt.sender = $2 and used.chain_id = $1 and used.sender = $2
       and used.nonce = relay_attempt.nonce and used.state in ('finalized', 'lost') and used.updated_ms < $3`,
    [chainId, sender, beforeMs],
  )
}
