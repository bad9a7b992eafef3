import type { Config } from '../../config/config.ts'
import { recordsUnavailable } from '../records/questions.ts'
import type { EventSink } from '../records/record-services.ts'

export interface SyncWatch {
  /** @throws {ProblemError} before the first event, if the stream cannot start */
  watch(sink: EventSink): Promise<void>
  close(): void
}

/** Members that change all the time; a change in them alone is not sent. */
const CLOCK_MEMBERS = new Set(['uptime', 'lagSeconds'])

/**
 * Streams the status as server-sent events whenever it changes.
 *
 * @param read returns the body of `GET /api/sync/status`; rejects while the database is unavailable
 */
export function createSyncWatch({ limits }: Config, read: () => Promise<object>): SyncWatch {
  const openStreams = new Set<() => void>()
  return {
    async watch(sink) {
      if (openStreams.size >= limits.maxStreamsPerClient)
        throw recordsUnavailable(`${openStreams.size} streams are open; try again`)
      let hasEnded = false
      let wake = () => {}
      const end = () => {
        hasEnded = true
        wake()
      }
      openStreams.add(end)
      sink.onGone(end)
      const lifeTimer = setTimeout(end, limits.streamLifeMs)
      const heartbeat = setInterval(() => sink.tryWrite(': \n\n'), limits.streamHeartbeatMs)
      try {
        let last = ''
        for (let status: object | undefined = await read(); !hasEnded; status = await read().catch(() => undefined)) {
          const text =
            status === undefined
              ? last
              : JSON.stringify(status, (name, value) => (CLOCK_MEMBERS.has(name) ? undefined : value))
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
        clearTimeout(lifeTimer)
        clearInterval(heartbeat)
        openStreams.delete(end)
      }
    },
    close() {
      for (const end of openStreams) end()
    },
  }
}
