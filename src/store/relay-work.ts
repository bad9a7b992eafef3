import type { AttestationKind, AttestationPayload, Hex } from '../wire/messages.ts'
import type { OpenTransaction, RelayAccount, RelayAttempt, RelayWork } from '../wire/relay-messages.ts'
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
