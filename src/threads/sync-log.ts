import type { Log } from '../log.ts'
import type { SyncEvent } from '../sync-messages.ts'

/** Some minutes of reading by ranges of ten thousand. */
const LONG_WAY_BLOCKS = 1_000_000

/** Says on the terminal what the sync thread did. */
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
      // Hours of questions, and a tariff's worth of them, for blocks in which there may be nothing.
      const isLong = from === 0 && head - block > LONG_WAY_BLOCKS
      const hint = `START_BLOCK_${chainId} in the environment of a new database leaves out older blocks: docs/sync.md`
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
