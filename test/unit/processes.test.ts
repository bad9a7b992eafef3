import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { HourTable } from '../../src/base/hour-table.ts'
import { readConfig } from '../../src/config/config.ts'
import { RateLimiter, takeOwnQuota } from '../../src/http/access/rate-limit.ts'
import { SharedCounts } from '../../src/http/access/shared-counts.ts'
import { CountTotals } from '../../src/processes/count-totals.ts'
import { joinMetrics } from '../../src/processes/machine-metrics.ts'
import type { CountReport } from '../../src/wire/process-messages.ts'
import { SocketPort } from '../../src/wire/socket-port.ts'

describe('PROCESSES=auto', () => {
  it.each([
    [1, 1],
    [3, 1],
    [4, 2],
    [16, 8],
  ])('runs on %i cores %i processes, which share the cores', (cores, processes) => {
    const config = readConfig({ PROCESSES: 'auto' }, cores)
    expect(config.processes).toBe(processes)
    expect(config.limits.computeThreads).toBe(Math.ceil(cores / processes))
  })
})

describe('messages over a socket', () => {
  it('arrive whole and in order, however the bytes are cut', () => {
    const messages = [
      { type: 'page', documents: new Uint8Array([1, 2, 3]), after: undefined },
      { type: 'fees', maxFeePerGas: 10n ** 18n },
      { type: 'text', text: 'é'.repeat(1000) },
    ]
    const written: Buffer[] = []
    const source = new PassThrough()
    source.on('data', (bytes: Buffer) => written.push(bytes))
    const sender = new SocketPort(source as unknown as Socket)
    for (const message of messages) sender.postMessage(message)
    const bytes = Buffer.concat(written)
    for (const size of [1, 3, 1000, bytes.length]) {
      const target = new PassThrough()
      const received: unknown[] = []
      new SocketPort(target as unknown as Socket).on('message', (message) => received.push(message))
      for (let start = 0; start < bytes.length; start += size) target.emit('data', bytes.subarray(start, start + size))
      expect(received).toEqual(messages)
    }
  })
})

describe('the metrics of several processes', () => {
  it('have each family once, with a label for the process', () => {
    const text = (count: number) =>
      `# HELP a_total A\n# TYPE a_total counter\na_total ${count}\n# HELP b B\n# TYPE b gauge\nb{x="1"} ${count}\n`
    expect(
      joinMetrics([
        ['1', text(5)],
        ['2', text(7)],
      ]),
    ).toBe(
      '# HELP a_total A\n# TYPE a_total counter\na_total{process="1"} 5\na_total{process="2"} 7\n' +
        '# HELP b B\n# TYPE b gauge\nb{process="1",x="1"} 5\nb{process="2",x="1"} 7\n',
    )
  })
})

/** One process: its limiter, connected to the totals without a socket. */
function connectLimiter(totals: CountTotals): { take(): number; deliver(): void } {
  const toTotals: ((report: CountReport) => void)[] = []
  const toProcess: ((report: CountReport) => void)[] = []
  const waiting: CountReport[] = []
  const portOfTotals = {
    on: (event: string, listener: (report: CountReport) => void) => {
      if (event === 'message') toTotals.push(listener)
    },
    postMessage: (report: CountReport) => waiting.push(report),
  }
  totals.serve(portOfTotals as unknown as SocketPort, () => 0)
  const shares = new SharedCounts(() => ({
    on: (event: string, listener: (report: CountReport) => void) => {
      if (event === 'message') toProcess.push(listener)
    },
    postMessage: (report: CountReport) => {
      for (const listener of toTotals) listener(structuredClone(report))
    },
  }))
  const limiter = new RateLimiter(new HourTable(10), shares)
  shares.listen((counts) => limiter.receive(counts, 0))
  return {
    take: () => takeOwnQuota(limiter.open('client', 0), 100, 1),
    deliver: () => {
      for (const report of waiting.splice(0)) for (const listener of toProcess) listener(report)
    },
  }
}

describe('the limit of a client of ten processes', () => {
  it('is exceeded by at most a hundredth for each further process', async () => {
    const totals = new CountTotals(10)
    const processes = Array.from({ length: 10 }, () => connectLimiter(totals))
    let granted = 0
    for (let round = 0; round < 30; round++) {
      for (const one of processes) granted += one.take()
      await new Promise((resolve) => setImmediate(resolve)) // reports are sent at the end of a tick
      for (const one of processes) one.deliver()
    }
    expect(granted).toBeGreaterThanOrEqual(100)
    expect(granted).toBeLessThanOrEqual(109)
  })
})
