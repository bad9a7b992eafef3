import type {
  OpenTransaction,
  RelayAccount,
  RelayAttempt,
  RelayBlock,
  RelayStep,
  RelayWork,
} from '../wire/relay-messages.ts'
import type { AttestationPayload } from '../wire/signing-messages.ts'
import type { AttestationKind, Hex } from '../wire/values.ts'
import type { Row, Session } from './database.ts'

/** The most sent transactions that are handled at once. There is more than one only after a reorganisation. */
const MAX_SENT = 16

/** Reads the work of the relay of one chain. The session should be one snapshot. */
export async function readRelayWork(
  session: Session,
  { chainId, sender, maxItems }: RelayAccount & { readonly maxItems: number },
): Promise<RelayWork> {
  const account = [chainId, sender]
  const queued = await session.query(
    `select id, kind, schema, recipient, data from submission
     where chain_id = $1 and sender = $2 and status = 'queued' order by position limit $3`,
    [...account, maxItems],
  )
  const [next] = await session.query(
    'select (max(nonce) + 1)::text as nonce from relay_transaction where chain_id = $1 and sender = $2',
    account,
  )
  const rows = await session.query(
    `select nonce::text, state, items, hash, block_number::text, block_hash from relay_transaction
     where chain_id = $1 and sender = $2 and state in ('sent', 'mined', 'reverted') order by nonce`,
    account,
  )
  const sent = rows.filter((row) => row['state'] === 'sent').slice(0, MAX_SENT)
  const nonces = sent.map((row) => row['nonce'] as string)
  const attempts = nonces.length === 0 ? [] : await readAttempts(session, chainId, sender, nonces)
  const items = nonces.length === 0 ? [] : await readItems(session, chainId, sender, nonces)
  const open = rows.flatMap((row): OpenTransaction[] => {
    const common = { nonce: Number(row['nonce']), itemCount: row['items'] as number }
    if (row['state'] !== 'sent') {
      const state = row['state'] as 'mined' | 'reverted'
      const [hash, blockHash] = [row['hash'] as Hex, row['block_hash'] as Hex]
      return [{ ...common, state, hash, blockHash, blockNumber: Number(row['block_number']) }]
    }
    if (!sent.includes(row)) return []
    const hasSameNonce = (other: Row) => other['nonce'] === row['nonce']
    return [
      {
        ...common,
        state: 'sent',
        attempts: attempts.filter(hasSameNonce).map(readAttempt),
        items: items.filter(hasSameNonce).map((item) => readPayload(item, chainId)),
      },
    ]
  })
  return {
    queued: queued.map((row) => ({ id: row['id'] as string, payload: readPayload(row, chainId) })),
    open,
    nextNonce: next!['nonce'] === null ? undefined : Number(next!['nonce']),
  }
}

function readAttempts(session: Session, chainId: number, sender: Hex, nonces: readonly string[]) {
  return session.query(
    `select nonce::text, hash, raw, gas::text, max_fee, priority_fee, sent_block::text from relay_attempt
     where chain_id = $1 and sender = $2 and nonce = any($3::bigint[]) order by nonce, number`,
    [chainId, sender, nonces],
  )
}

function readItems(session: Session, chainId: number, sender: Hex, nonces: readonly string[]) {
  return session.query(
    `select nonce::text, kind, schema, recipient, data from submission
     where chain_id = $1 and sender = $2 and nonce = any($3::bigint[]) order by nonce, place`,
    [chainId, sender, nonces],
  )
}

function readAttempt(row: Row): RelayAttempt {
  return {
    hash: row['hash'] as Hex,
    raw: row['raw'] as Hex,
    gas: Number(row['gas']),
    maxFeePerGas: BigInt(row['max_fee'] as string),
    maxPriorityFeePerGas: BigInt(row['priority_fee'] as string),
    sentBlock: Number(row['sent_block']),
  }
}

function readPayload(row: Row, chainId: number): AttestationPayload {
  return {
    kind: row['kind'] as AttestationKind,
    chainId,
    schema: row['schema'] as Hex,
    recipient: row['recipient'] as Hex,
    data: row['data'] as Hex,
  }
}

interface StepContext extends RelayAccount {
  readonly nowMs: number
}

type StepOf<Name extends RelayStep['step']> = Extract<RelayStep, { step: Name }>

/** Thrown when a step does not fit the stored state, so that its transaction is rolled back. Never leaves this file. */
class StaleStepError extends Error {}

/**
 * Takes one step in a separate transaction.
 *
 * @returns false when the stored state is not the one that the step expects; then nothing was changed
 */
export async function takeRelayStep(
  transaction: <T>(run: (session: Session) => Promise<T>) => Promise<T>,
  context: StepContext,
  change: RelayStep,
): Promise<boolean> {
  try {
    await transaction((session) => applyStep(session, context, change))
    return true
  } catch (error) {
    if (error instanceof StaleStepError) return false
    throw error
  }
}

async function applyStep(session: Session, context: StepContext, change: RelayStep): Promise<void> {
  switch (change.step) {
    case 'begin':
      return begin(session, context, change)
    case 'raise':
      return addAttempt(session, context, change.nonce, change.attempts, change.attempt)
    case 'mined':
      return markMined(session, context, change)
    case 'reverted':
      return void (await setBlock(session, context, 'reverted', change.nonce, change.hash, change.block))
    case 'vanished':
      return markVanished(session, context, change.nonces)
    case 'finalized':
      return markFinalized(session, context, change.blocks)
    case 'lost':
      return markLost(session, context, change)
    case 'failed':
      return markFailed(session, context, change)
    case 'forget':
      return forget(session, context, change.beforeMs)
  }
}

async function begin(session: Session, context: StepContext, { nonce, ids, attempt }: StepOf<'begin'>): Promise<void> {
  const { chainId, sender, nowMs } = context
  const inserted = await session.query(
    `insert into relay_transaction (chain_id, sender, nonce, state, items, updated_ms) values ($1, $2, $3, 'sent', $4, $5)
     on conflict do nothing returning nonce::text`,
    [chainId, sender, nonce, ids.length, nowMs],
  )
  if (inserted.length === 0) throw new StaleStepError()
  const moved = await session.query(
    `update submission set status = 'sent', nonce = $3, place = member.place - 1, updated_ms = $5
     from unnest($4::text[]) with ordinality as member (id, place)
     where submission.id = member.id and chain_id = $1 and sender = $2 and status = 'queued' returning submission.id`,
    [chainId, sender, nonce, ids, nowMs],
  )
  if (moved.length !== ids.length) throw new StaleStepError()
  await addAttempt(session, context, nonce, 0, attempt)
}

async function addAttempt(
  session: Session,
  { chainId, sender }: StepContext,
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
  if (rows.length === 0) throw new StaleStepError()
}

async function markMined(
  session: Session,
  context: StepContext,
  { nonce, hash, block, uids, gasUsed }: StepOf<'mined'>,
): Promise<void> {
  if ((await setBlock(session, context, 'mined', nonce, hash, block)) !== uids.length) throw new StaleStepError()
  const updated = await session.query(
    `update submission set status = 'mined', uid = member.uid, error = null, gas = $5, updated_ms = $6
     from unnest($4::text[]) with ordinality as member (uid, place)
     where chain_id = $1 and sender = $2 and nonce = $3 and submission.place = member.place - 1 returning id`,
    [context.chainId, context.sender, nonce, uids, Math.ceil(gasUsed / Math.max(1, uids.length)), context.nowMs],
  )
  if (updated.length !== uids.length) throw new StaleStepError()
}

/** Stores the block of a transaction. Returns the number of its submissions. */
async function setBlock(
  session: Session,
  { chainId, sender, nowMs }: StepContext,
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
  if (rows.length === 0) throw new StaleStepError()
  return rows[0]!['items'] as number
}

async function markVanished(session: Session, context: StepContext, nonces: readonly number[]): Promise<void> {
  const parameters = [context.chainId, context.sender, nonces.map(String), context.nowMs]
  await session.query(
    `update relay_transaction set state = 'sent', hash = null, block_number = null, block_hash = null, block_time = null, updated_ms = $4
     where chain_id = $1 and sender = $2 and nonce = any($3::bigint[]) and state in ('mined', 'reverted')`,
    parameters,
  )
  await session.query(
    `update submission set status = 'sent', uid = null, updated_ms = $4
     where chain_id = $1 and sender = $2 and nonce = any($3::bigint[]) and status = 'mined'`,
    parameters,
  )
}

async function markFinalized(
  session: Session,
  { chainId, sender, nowMs }: StepContext,
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

async function markLost(
  session: Session,
  context: StepContext,
  { nonce, maxAttempts, error }: StepOf<'lost'>,
): Promise<void> {
  const parameters = [context.chainId, context.sender, nonce, context.nowMs]
  const rows = await session.query(
    `update relay_transaction set state = 'lost', updated_ms = $4
     where chain_id = $1 and sender = $2 and nonce = $3 and state in ('sent', 'reverted') returning hash`,
    parameters,
  )
  if (rows.length === 0) throw new StaleStepError()
  // A reverted transaction cost gas and has a hash. When a foreign transaction used the nonce, none of ours is in a block.
  const isPaid = rows[0]!['hash'] !== null
  await session.query(
    `update submission set nonce = null, place = null, uid = null, error = $5, attempts = attempts + 1, updated_ms = $4,
       spent_gas = spent_gas + case when $7 then gas else 0 end,
       status = case when attempts + 1 >= $6 then 'failed' else 'queued' end
     where chain_id = $1 and sender = $2 and nonce = $3`,
    [...parameters, error, maxAttempts, isPaid],
  )
}

async function markFailed(session: Session, context: StepContext, { ids, error }: StepOf<'failed'>): Promise<void> {
  await session.query(
    `update submission set status = 'failed', error = $4, updated_ms = $5
     where chain_id = $1 and sender = $2 and id = any($3::text[]) and status = 'queued'`,
    [context.chainId, context.sender, ids, error, context.nowMs],
  )
}

async function forget(session: Session, { chainId, sender }: StepContext, beforeMs: number): Promise<void> {
  await session.query(
    `delete from submission where chain_id = $1 and sender = $2 and status in ('finalized', 'failed') and updated_ms < $3`,
    [chainId, sender, beforeMs],
  )
  // Signed transactions are long, so they are deleted. The row of the nonce stays: it records that the nonce was used.
  await session.query(
    `delete from relay_attempt using relay_transaction as used
     where relay_attempt.chain_id = $1 and relay_attempt.sender = $2 and used.chain_id = $1 and used.sender = $2
       and used.nonce = relay_attempt.nonce and used.state in ('finalized', 'lost') and used.updated_ms < $3`,
    [chainId, sender, beforeMs],
  )
}
