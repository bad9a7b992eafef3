import { clip, visibleText } from '../../../src/base/text.ts'
import type { Readiness, SyncStatus } from '../../../src/client/answers.ts'
import { ApiError, ConnectionError } from '../../../src/client/client.ts'
import { h, replace } from '../dom.ts'
import { foreignText } from '../facts.ts'
import { bytesText, decimal, duration, short, shortHex, timeUtc, whole } from '../format.ts'
import { icon } from '../icons.ts'
import type { Page, PageParts } from '../page.ts'
import { createChainTable } from './chains.ts'
import { createChart, SHOWN_SECONDS } from './chart.ts'
import { type Reading, readMetrics, type Sample, sampleBetween } from './samples.ts'
import { createWorkerPanel } from './worker.ts'

const EVERY_MS = 1000
const PARTS_EVERY = 5
const TIMEOUT_MS = 4000
/** Longest text of an error, which may come from an RPC. */
const MAX_ERROR = 400

export function createStatusPage({ api, issuer }: PageParts): Page {
  const headline = h('div', { class: 'row' }, h('span', { class: 'tag' }, 'The status is loading …'))
  const facts = h('p', { class: 'hint numeric' })
  const charts = {
    rate: createChart('Requests', 'per second', (value) => decimal(value, value < 10 ? 1 : 0)),
    p99: createChart('p99 latency', 'ms', (value) => short(value)),
    waiting: createChart('Waiting for a thread', 'requests', whole),
    cores: createChart('CPU', 'cores', (value) => decimal(value, 2)),
  }
  const chartsNote = h(
    'p',
    { class: 'note', hidden: true },
    'Metrics are available only on the machine of the service. METRICS_PUBLIC=1 makes them public.',
  )
  const chartGrid = h(
    'div',
    { class: 'charts' },
    h('h2', { class: 'sr-only' }, 'The last minute'),
    Object.values(charts).map(({ element }) => element),
  )
  const checks = h('ul', { class: 'parts' }, h('li', { class: 'hint' }, 'The components are loading …'))
  const chains = createChainTable()
  const worker = createWorkerPanel(api, show)
  const errors = h('ul', { class: 'errors' })
  const errorSection = h('section', { hidden: true }, h('h2', {}, 'Recent errors'), errors)
  const element = h(
    'div',
    { class: 'page-frame status-page', role: 'region', 'aria-label': 'Status' },
    h('div', { class: 'status-head' }, h('h1', { class: 'page-title' }, 'Status'), headline, facts),
    chartsNote,
    chartGrid,
    h(
      'div',
      { class: 'status-columns' },
      h('section', {}, h('h2', {}, 'Components'), checks),
      h('section', {}, h('h2', {}, 'Chain sync'), worker.element),
    ),
    h('section', {}, h('h2', {}, 'Chains'), chains.element),
    errorSection,
  )
  const samples: (Sample | undefined)[] = []
  let last: Reading | undefined
  let timer: ReturnType<typeof setInterval> | undefined
  let events: EventSource | undefined
  let ticks = 0
  let isBusy = false
  let status: SyncStatus | undefined
  let records: Readonly<Record<string, number>> = {}

  return {
    element,
    enter() {
      last = undefined // otherwise the first rate would cover the time on another page
      void tick()
      timer ??= setInterval(() => void tick(), EVERY_MS)
      listen()
    },
    leave() {
      clearInterval(timer)
      timer = undefined
      events?.close()
      events = undefined
    },
  }

  async function tick(): Promise<void> {
    if (isBusy || document.hidden) return
    isBusy = true
    try {
      await readCounters()
      if (ticks++ % PARTS_EVERY === 0) await readParts()
    } finally {
      isBusy = false
    }
  }

  async function readCounters(): Promise<void> {
    let sample: Sample | undefined
    try {
      const response = await fetch('/metrics', { signal: AbortSignal.timeout(TIMEOUT_MS) })
      chartsNote.hidden = response.ok
      chartGrid.hidden = !response.ok
      if (!response.ok) return
      const reading = readMetrics(await response.text(), Date.now())
      if (last !== undefined) sample = sampleBetween(last, reading)
      last = reading
      facts.textContent = `attester ${shortHex(issuer()?.address ?? '', 8, 4)}  ·  up ${duration(reading.uptimeSeconds)}  ·  ${bytesText(reading.residentBytes)}  ·  ${whole(reading.inFlight)} in flight`
    } catch {
      last = undefined
    }
    samples.push(sample)
    if (samples.length > SHOWN_SECONDS) samples.shift()
    charts.rate.show(samples.map((value) => value?.requestsPerSecond))
    charts.p99.show(samples.map((value) => value?.p99Ms))
    charts.waiting.show(samples.map((value) => value?.waiting))
    charts.cores.show(samples.map((value) => value?.cores))
  }

  async function readParts(): Promise<void> {
    const options = { timeoutMs: TIMEOUT_MS, maxRetries: 0 }
    try {
      showParts(await api.client.ready(options))
    } catch (error) {
      if (error instanceof ApiError && error.status === 503) showParts(error.problem as unknown as Readiness)
      else
        replace(
          headline,
          h(
            'span',
            { class: 'tag bad' },
            icon('cross'),
            error instanceof ConnectionError ? 'The service does not respond' : String(error),
          ),
        )
    }
    try {
      records = (await api.client.records.stats(options)).by_chain
    } catch {
      // The list of components shows that the database is unavailable.
    }
    try {
      show(await api.client.sync.status(options))
    } catch (error) {
      chains.show(issuer(), undefined, records)
      worker.showNone(error)
    }
  }

  function showParts({ status, checks: results }: Readiness): void {
    const isReady = status === 'ready'
    replace(
      headline,
      h(
        'span',
        { class: `tag ${isReady ? 'good' : 'bad'}` },
        icon(isReady ? 'check' : 'cross'),
        isReady ? 'Ready' : 'Not ready',
      ),
    )
    replace(
      checks,
      Object.entries(results ?? {}).map(([name, { ok, detail }]) =>
        h(
          'li',
          { class: `check ${ok ? 'pass' : 'fail'}` },
          icon(ok ? 'check' : 'cross'),
          h('span', { class: 'check-name' }, name, h('span', { class: 'sr-only' }, ok ? ' works' : ' does not work')),
          h(
            'span',
            { class: 'check-detail' },
            typeof detail === 'string' ? visibleText(clip(detail, MAX_ERROR)) : 'works',
          ),
        ),
      ),
    )
  }

  /** Shows the sync status whenever it changes. `readParts` also reads it every few seconds, in case the stream breaks. */
  function listen(): void {
    events = new EventSource('/api/sync/events')
    events.onmessage = ({ data }) => {
      try {
        show(JSON.parse(data))
      } catch {
        // A heartbeat.
      }
    }
    events.onerror = () => {
      if (events?.readyState === EventSource.CLOSED) events.close()
    }
  }

  function show(next: SyncStatus): void {
    status = next
    chains.show(issuer(), status, records)
    worker.show(status)
    errorSection.hidden = status.recentErrors.length === 0
    replace(
      errors,
      status.recentErrors
        .slice(0, 10)
        .map(({ timestamp, chain, message }) =>
          h(
            'li',
            {},
            h('time', { class: 'numeric', datetime: timestamp }, timeUtc(Date.parse(timestamp) / 1000)),
            h('span', { class: 'tag' }, chain),
            h('span', { class: 'error-text' }, foreignText(message, MAX_ERROR)),
          ),
        ),
    )
  }
}
