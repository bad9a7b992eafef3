/** What the account used: a chart by day and kind, a table with all numbers, and the same as CSV. */
import type { KeyUsage } from '../../../src/types/generated.ts'
import { download, h, replace } from '../dom.ts'
import { clockUtc, decimal, whole } from '../format.ts'
import { icon } from '../icons.ts'
import { accountProblem } from './problem.ts'
import { type AccountSession, isEnded } from './session.ts'
import { usageChart } from './usage-chart.ts'
import { usageByDay } from './usage-days.ts'

const DAY_MS = 86_400_000
const RANGES = [7, 30, 90]
const DEFAULT_DAYS = 30
const COLUMNS = ['Day', 'Kind', 'Requests', 'Operations', 'Errors', 'Bytes', 'Vertices', 'Processor, ms']

/** @param ended called when the session has ended */
export function createUsagePanel(session: AccountSession, ended: () => void) {
  let days = DEFAULT_DAYS
  let reading = 0
  /** Raised at the end of a session: answers to its requests are ignored. */
  let generation = 0
  const range = h(
    'div',
    { class: 'segments usage-range', role: 'group', 'aria-label': 'Days' },
    RANGES.map((count) =>
      h(
        'button',
        { type: 'button', 'aria-pressed': String(count === days), onclick: () => choose(count) },
        `${count} days`,
      ),
    ),
  )
  const refresh = h('button', { class: 'button small', type: 'button', onclick: () => void show() }, 'Refresh')
  const csv = h('button', { class: 'button small', type: 'button', onclick: () => void saveCsv() }, icon('down'), 'CSV')
  csv.setAttribute('aria-label', 'Download as CSV')
  const body = h('div', { class: 'stack' })
  const outcome = h('div', { class: 'stack' })
  const element = h(
    'section',
    { class: 'account-card stack', 'aria-label': 'Usage' },
    h('div', { class: 'row between' }, h('h2', {}, 'Usage'), h('div', { class: 'row' }, range, refresh, csv)),
    outcome,
    body,
  )
  return {
    element,
    show,
    clear(): void {
      generation++
      replace(body)
      replace(outcome)
    },
  }

  function choose(count: number): void {
    days = count
    for (const [index, button] of [...range.children].entries())
      button.setAttribute('aria-pressed', String(RANGES[index] === days))
    void show()
  }

  async function show(): Promise<void> {
    const number = ++reading
    await attempt(
      () => session.client.account.usage(rangeOf(days)),
      (usage) => {
        if (number === reading) showUsage(usage)
      },
    )
  }

  function saveCsv(): Promise<void> {
    const { from, to } = rangeOf(days)
    return attempt(
      () => session.client.account.usageCsv({ from, to }),
      (csv) => download(`usage-${from}-${to}.csv`, csv, 'text/csv'),
    )
  }

  async function attempt<T>(send: () => Promise<T>, use: (response: T) => void): Promise<void> {
    const number = generation
    try {
      const response = await send()
      if (number !== generation) return
      use(response)
      replace(outcome)
    } catch (error) {
      if (number !== generation) return
      if (isEnded(error)) ended()
      else replace(outcome, accountProblem(error))
    }
  }

  function showUsage(usage: KeyUsage): void {
    const until =
      usage.completeUntil === null ? '' : ` Complete until ${clockUtc(Date.parse(usage.completeUntil) / 1000)}.`
    if (usage.usage.length === 0) {
      replace(body, h('p', { class: 'hint' }, `Nothing was counted from ${usage.from} to ${usage.to}.${until}`))
      return
    }
    const sum = (count: (row: KeyUsage['usage'][number]) => number) =>
      whole(usage.usage.reduce((total, row) => total + count(row), 0))
    const errors = sum(({ errors4xx, errors5xx }) => errors4xx + errors5xx)
    const wasOpen = body.querySelector('details')?.open === true
    replace(
      body,
      h(
        'p',
        { class: 'numeric usage-sum' },
        h('strong', {}, `Requests: ${sum(({ requests }) => requests)}`),
        ` · operations: ${sum(({ operations }) => operations)} · errors: ${errors}.`,
        h('span', { class: 'hint' }, until),
      ),
      usageChart(usageByDay(usage)),
      h(
        'details',
        { class: 'fold', open: wasOpen },
        h('summary', {}, 'All numbers as a table', h('span', { class: 'tail' }, `rows: ${whole(usage.usage.length)}`)),
        table(usage),
      ),
    )
  }
}

/** The last days in UTC, today included. */
function rangeOf(days: number): { readonly from: string; readonly to: string } {
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const nowMs = Date.now()
  return { from: dayOf(nowMs - (days - 1) * DAY_MS), to: dayOf(nowMs) }
}

function table({ from, to, usage }: KeyUsage): HTMLElement {
  const rows = [...usage].reverse().map(({ day, kind, requests, operations, bytes, vertices, cpuMs, ...errors }) => {
    const numbers = [requests, operations, errors.errors4xx + errors.errors5xx, bytes, vertices].map(whole)
    return h(
      'tr',
      {},
      h('th', { scope: 'row', class: 'numeric' }, day),
      h('td', {}, kind),
      [...numbers, decimal(cpuMs, 1)].map((text) => h('td', { class: 'numeric' }, text)),
    )
  })
  return h(
    'div',
    { class: 'table-scroll usage-table', tabindex: 0, role: 'region', 'aria-label': 'Table of usage' },
    h(
      'table',
      { class: 'table' },
      h('caption', { class: 'sr-only' }, `Usage by day and kind from ${from} to ${to}, newest first`),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          COLUMNS.map((title) => h('th', { scope: 'col' }, title)),
        ),
      ),
      h('tbody', {}, rows),
    ),
  )
}
