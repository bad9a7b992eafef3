import { type Child, h } from '../dom.ts'
import { bytesText, duration, whole } from '../format.ts'
import type { Limits } from './limits.ts'

const RESOURCES: readonly (readonly [name: string, title: string, format: (value: number) => string])[] = [
  ['requests', 'Requests', whole],
  ['bytes', 'Bytes', bytesText],
  ['vertices', 'Vertices', whole],
  ['cpu-ms', 'Processor time', (value) => duration(value / 1000)],
]

/** Shows each limit as a bar with words. */
export function limitList({ quotas, left }: Limits): HTMLElement {
  const budgets = [...left].filter(([name]) => name !== 'requests')
  const tightest = Math.min(1, ...budgets.map(([name, { remaining }]) => remaining / (quotas.get(name) ?? 1)))
  const rows = RESOURCES.flatMap(([name, title, format]) => {
    const quota = quotas.get(name)
    if (quota === undefined) return []
    const known = left.get(name)
    // Of the other budgets, a larger share is left than of the one that the service reports.
    const share = known === undefined ? tightest : known.remaining / quota
    const atLeast = share < 1 ? `at least ${Math.floor(share * 100)} % left` : 'all left'
    const words = `${known === undefined ? atLeast : `${format(known.remaining)} left`} of ${format(quota)}`
    return [limitRow(title, share, words, known?.resetSeconds)]
  })
  return h('ul', { class: 'limit-list' }, rows)
}

function limitRow(title: string, share: number, words: Child, resetSeconds: number | undefined): HTMLElement {
  const fill = h('i')
  fill.style.width = `${Math.max(0, Math.min(1, share)) * 100}%`
  return h(
    'li',
    { 'data-low': share < 0.2 },
    h('span', { class: 'limit-title' }, title),
    h('span', { class: 'bar', 'aria-hidden': 'true' }, fill),
    h(
      'span',
      { class: 'numeric' },
      words,
      resetSeconds === undefined ? undefined : h('span', { class: 'hint' }, ` resets in ${duration(resetSeconds)}`),
    ),
  )
}
