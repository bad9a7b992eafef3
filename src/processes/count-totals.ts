import { COSTS, HourObjects, HourTable, REQUESTS } from '../base/hour-table.ts'
import type { CountKind, CountReport, Counts } from '../wire/process-messages.ts'
import type { SocketPort } from '../wire/socket-port.ts'

/** What all processes have counted for one client in one hour. */
interface Entry {
  readonly endSeconds: number
  /** Amounts by connection number. Those of a process that has ended stay until the hour ends. */
  readonly amounts: Map<number, readonly number[]>
}

/** Adds up the counts of all processes for each client, and sends each process the total of the others. */
export class CountTotals {
  readonly #hours: Readonly<Record<CountKind, HourObjects<Entry>>>
  readonly #ports = new Map<number, SocketPort>()
  #nextNumber = 0

  /** @param maxSubjects number of clients that are held in memory */
  constructor(maxSubjects: number) {
    const table = new HourTable(maxSubjects)
    this.#hours = { requests: new HourObjects(table, REQUESTS), costs: new HourObjects(table, COSTS) }
  }

  /** Serves the connection of a process. */
  serve(port: SocketPort, now: () => number): void {
    const number = this.#nextNumber++
    this.#ports.set(number, port)
    port.on('close', () => this.#ports.delete(number))
    port.on('message', (message: CountReport) => {
      if (message.type === 'counts') this.#add(number, message.counts, now())
    })
  }

  #add(number: number, reports: readonly Counts[], nowMs: number): void {
    const outbox = new Map<number, Counts[]>()
    for (const { kind, subject, endSeconds, amounts } of reports) {
      if (endSeconds * 1000 <= nowMs) continue
      const hours = this.#hours[kind]
      const entry = hours.peek(subject, nowMs) ?? hours.begin(subject, nowMs, { endSeconds, amounts: new Map() })
      entry.amounts.set(number, amounts)
      for (const receiver of entry.amounts.keys()) {
        const others = amounts.map((_, index) => sumOfOthers(entry, receiver, index))
        const counts: Counts = { kind, subject, endSeconds: entry.endSeconds, amounts: others }
        const waiting = outbox.get(receiver)
        if (waiting === undefined) outbox.set(receiver, [counts])
        else waiting.push(counts)
      }
    }
    for (const [receiver, counts] of outbox) this.#ports.get(receiver)?.postMessage({ type: 'counts', counts })
  }
}

function sumOfOthers({ amounts }: Entry, receiver: number, index: number): number {
  let sum = 0
  for (const [number, own] of amounts) if (number !== receiver) sum += own[index]!
  return sum
}
