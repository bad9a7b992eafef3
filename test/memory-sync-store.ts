/** The store's interface for synchronisation, in memory, for thousands of runs. A contract test compares it with the real one. */
import { serializeRecord, setRevoked } from '../src/store/records/writes.ts'
import type { SyncStore } from '../src/sync/chain-position.ts'
import type { AppliedRange, BlockRange, LocationRecord } from '../src/wire/store-messages.ts'
import type { BlockId, Quarantined, StoredLog } from '../src/wire/sync-messages.ts'

interface Kept {
  readonly record: LocationRecord
  blockNumber: number
  revokedBlock: number | null
}

export interface MemorySyncStore extends SyncStore {
  /** Its whole content as text: equal stores have equal texts. */
  dump(): string
}

const STORED_AT = '2026-01-01T00:00:00.000Z'

/** Creates the store of one chain. */
export function createMemorySyncStore(): MemorySyncStore {
  const records = new Map<string, Kept>()
  const quarantine = new Map<string, Quarantined & { attempts: number; revokedBlock: number | null }>()
  const knownBlocks = new Map<number, string>()
  let checkpoint: BlockId | undefined
  let finalized = -1
  let auditedTo = -1

  return {
    async syncState() {
      const blocks = [...knownBlocks].map(([number, hash]) => ({ number, hash: hash as `0x${string}` }))
      return { checkpoint, knownBlocks: blocks.sort((a, b) => b.number - a.number), finalized, auditedTo }
    },
    async known({ uids }) {
      return uids.filter((uid) => records.has(uid) || quarantine.has(uid))
    },
    async storedLogs({ from, to }) {
      return [...records, ...quarantine]
        .flatMap(([key, { blockNumber, revokedBlock }]): StoredLog[] => {
          const uid = key as `0x${string}`
          const revoked = revokedBlock === null ? [] : [{ kind: 'revoked' as const, uid, blockNumber: revokedBlock }]
          return [{ kind: 'attested', uid, blockNumber }, ...revoked]
        })
        .filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to)
    },
    async activeRecords({ after, limit }) {
      return [...records]
        .filter(([uid, { revokedBlock }]) => revokedBlock === null && (after === null || uid > after))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .slice(0, limit)
        .map(([uid, { blockNumber }]) => ({ uid: uid as `0x${string}`, blockNumber }))
    },
    async quarantined({ nowSeconds, decoder, limit }) {
      return [...quarantine.values()]
        .filter((row) => (row.retryAtSeconds !== null && row.retryAtSeconds <= nowSeconds) || row.decoder < decoder)
        .sort((a, b) => (a.uid < b.uid ? -1 : 1))
        .slice(0, limit)
        .map(({ uid, blockNumber, attempts, revokedBlock }) => ({ uid, blockNumber, attempts, revokedBlock }))
    },
    apply: async (range) => apply(range),
    dump() {
      const documents = [...records.values()].map(({ record, revokedBlock }) => {
        const document = serializeRecord(record, STORED_AT)
        return `${revokedBlock === null ? document : setRevoked(document, true, STORED_AT)} ${record.bounds} ${revokedBlock}`
      })
      const setAside = [...quarantine.values()].map(({ uid, blockNumber, stage, reason, revokedBlock }) =>
        JSON.stringify({ uid, blockNumber, stage, reason, revokedBlock }),
      )
      const blocks = [...records].map(([uid, { blockNumber }]) => `${uid} ${blockNumber}`)
      return [...documents.sort(), ...setAside.sort(), ...blocks.sort(), JSON.stringify(checkpoint)].join('\n')
    },
  }

  function apply(range: BlockRange): AppliedRange {
    const refused = { ok: false, inserted: 0, revoked: 0, rolledBack: 0 }
    const {
      checkpoint: move,
      rollBackTo,
      knownBlocks: changed,
      quarantine: setAside = [],
      released = [],
      removed = [],
      areAgreed = false,
      progress,
    } = range
    if (move !== undefined) {
      if ((checkpoint?.hash ?? null) !== move.from) return refused
      checkpoint = move.to === null ? undefined : { number: move.to.blockNumber, hash: move.to.blockHash }
    }
    let rolledBack = 0
    if (rollBackTo !== undefined) rolledBack = rollBack(rollBackTo)
    for (const { kind, uid } of removed) {
      const kept = records.get(uid) ?? quarantine.get(uid)
      if (kind === 'revoked') {
        if (kept !== undefined) kept.revokedBlock = null
      } else if (records.delete(uid)) rolledBack++
      else quarantine.delete(uid)
    }
    let inserted = 0
    for (const record of range.records) {
      const known = records.get(record.uid)
      if (known === undefined) {
        records.set(record.uid, { record, blockNumber: record.blockNumber, revokedBlock: null })
        inserted++
      } else if (areAgreed) known.blockNumber = record.blockNumber
    }
    let revoked = 0
    const revokedBlocks = new Map(range.revocations.map(({ uid, blockNumber }) => [uid, blockNumber]))
    for (const [uid, blockNumber] of revokedBlocks) {
      const record = records.get(uid)
      if (record !== undefined && record.revokedBlock !== null && areAgreed) record.revokedBlock = blockNumber
      if (record === undefined || record.revokedBlock !== null) continue
      record.revokedBlock = blockNumber
      revoked++
    }
    for (const number of changed?.remove ?? []) knownBlocks.delete(number)
    for (const { number, hash } of changed?.add ?? []) knownBlocks.set(number, hash)
    for (const row of setAside) {
      const known = quarantine.get(row.uid)
      quarantine.set(row.uid, {
        ...row,
        blockNumber: areAgreed ? row.blockNumber : (known?.blockNumber ?? row.blockNumber),
        attempts: (known?.attempts ?? 0) + 1,
        revokedBlock: known?.revokedBlock ?? null,
      })
    }
    for (const uid of released) quarantine.delete(uid)
    for (const [uid, blockNumber] of revokedBlocks) {
      const row = quarantine.get(uid)
      if (row !== undefined && (areAgreed || row.revokedBlock === null)) row.revokedBlock = blockNumber
    }
    finalized = Math.max(progress?.finalized ?? -1, finalized)
    auditedTo = progress?.auditedTo ?? auditedTo
    return { ok: true, inserted, revoked, rolledBack }
  }

  function rollBack(to: number): number {
    let gone = 0
    for (const [uid, kept] of records) {
      if (kept.blockNumber > to) {
        records.delete(uid)
        gone++
      } else if (kept.revokedBlock !== null && kept.revokedBlock > to) kept.revokedBlock = null
    }
    for (const number of [...knownBlocks.keys()]) if (number > to) knownBlocks.delete(number)
    for (const [uid, row] of quarantine) {
      if (row.blockNumber > to) quarantine.delete(uid)
      else if (row.revokedBlock !== null && row.revokedBlock > to) row.revokedBlock = null
    }
    finalized = Math.min(finalized, to)
    auditedTo = Math.min(auditedTo, to)
    return gone
  }
}
