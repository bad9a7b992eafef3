import type { Log } from '../base/log.ts'
import type { SyncEvent } from '../wire/sync-messages.ts'

/** Reading this many blocks in ranges of ten thousand takes some minutes. */
const MANY_BLOCKS = 1_000_000

/** Logs an event of the sync thread. */
export function logSyncEvent(log: Log, event: SyncEvent): void {
  switch (event.kind) {
    case 'progress': {
      const { chainId, block, head, inserted, revoked, rolledBack } = event
      log.info('records synced', { chainId, block, head, inserted, revoked, rolledBack })
      break
    }
    case 'problem':
      log.warn('sync problem', { chainId: event.chainId, reason: event.message })
      break
    case 'began': {
      const { chainId, from, block, head } = event
      // Reading all blocks may take hours and use up an RPC quota, although the old ones may contain nothing.
      const isLong = from === 0 && head - block > MANY_BLOCKS
      const hint = `to skip older blocks, set START_BLOCK_${chainId} for a new database: docs/sync.md`
      log.info('a chain is read for the first time', { chainId, from, block, head, ...(isLong ? { hint } : {}) })
      break
    }
    case 'lead':
      log.info(event.isHeld ? 'this process reads the chains' : 'this process does not read the chains')
      break
    case 'stopped':
      log.warn('sync is stopped by request', { hint: 'POST /api/sync/worker?action=start starts it again' })
  }
}
