import type { Config } from '../config.ts'
import { recordsUnavailable } from './record-questions.ts'
import type { EventSink } from './record-services.ts'

export interface SyncWatch {
  /** @throws {ProblemError} before the first event: it cannot be begun */
  watch(sink: EventSink): Promise<void>
  close(): void
}

/** Members that grow by themselves: they are no news. */
const CLOCKS = new Set(['uptime', 'lagSeconds'])

/**
 * The status as server-sent events, whenever it changes, for those who look at it.
 *
 * @param read the status as `GET /api/sync/status` gives it; rejects while the database is away
 */
export function createSyncWatch({ limits }: Config, read: () => Promise<object>): SyncWatch {
  const leave = new Set<() => void>()
  return {
    async watch(sink) {
      if (leave.size >= limits.maxStreamsPerClient)
        throw recordsUnavailable(`${leave.size} streams are open; try again`)
      let isGone = false
      let wake = () => {}
      const end = () => {
        isGone = true
        wake()
      }
      leave.add(end)
      sink.onGone(end)
      const life = setTimeout(end, limits.streamLifeMs)
      const heartbeat = setInterval(() => sink.tryWrite(': \n\n'), limits.streamHeartbeatMs)
      try {
        let last = ''
        for (let status: object | undefined = await read(); !isGone; status = await read().catch(() => undefined)) {
          const text =
            status === undefined
              ? last
              : JSON.stringify(status, (name, value) => (CLOCKS.has(name) ? undefined : value))
          if (text !== last) await sink.write(`event: status\ndata: ${JSON.stringify(status)}\n\n`)
          last = text
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, limits.streamPollMs)
            wake = () => {
              clearTimeout(timer)
              resolve()
            }
          })
        }
      } finally {
        clearTimeout(life)
        clearInterval(heartbeat)
        leave.delete(end)
      }
    },
    close() {
      for (const end of leave) end()
    },
  }
}
