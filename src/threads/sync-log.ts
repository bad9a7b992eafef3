import type { Log } from '../log.ts'
import type { SyncEvent } from '../sync-messages.ts'

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
    case 'lead':
      log.info(event.isHeld ? 'this process reads the chains' : 'this process does not read the chains')
  }
}
