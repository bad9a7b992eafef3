import { type Child, h } from '../dom.ts'
import { bytesText, duration, whole } from '../format.ts'
import { type Limits, limitStates } from './limits.ts'

const RESOURCES: readonly (readonly [name: string, title: string, format: (value: number) => string])[] = [
  ['requests', 'Requests', whole],
  ['bytes', 'Bytes', bytesText],
  ['vertices', 'Vertices', whole],
  ['cpu-ms', 'Processor time', (value) => duration(value / 1000)],
]

/** Shows each limit as a bar with words. */
export function limitList(limits: Limits): HTMLElement {
  const states = limitStates(
    limits,
    RESOURCES.map(([name]) => name),
  )
  const rows = states.map(({ resource, isOfAddress, quota, remaining, share, resetSeconds }) => {
    const [, title, format] = RESOURCES.find(([name]) => name === resource)!
    const whose = isOfAddress ? `${title} of your network address` : title
    return limitRow(
      whose,
      share,
      wordsOf(format(quota), remaining === undefined ? undefined : format(remaining), share),
      resetSeconds,
    )
  })
  return h('ul', { class: 'limit-list' }, rows)
}

function wordsOf(quota: string, remaining: string | undefined, share: number | undefined): string {
  if (remaining !== undefined) return `${remaining} left of ${quota}`
  if (share === undefined) return `at most ${quota}`
  return share < 1 ? `at least ${Math.floor(share * 100)} % left of ${quota}` : `all left of ${quota}`
}

function limitRow(
  title: string,
  share: number | undefined,
  words: Child,
  resetSeconds: number | undefined,
): HTMLElement {
  const fill = h('i')
  fill.style.width = `${Math.max(0, Math.min(1, share ?? 0)) * 100}%`
  const bar = h('span', { class: 'bar', 'aria-hidden': 'true' }, fill)
  if (share === undefined) bar.style.visibility = 'hidden' // an empty bar would mean that nothing is left
  return h(
    'li',
    { 'data-low': share !== undefined && share < 0.2 },
    h('span', { class: 'limit-title' }, title),
    bar,
    h(
      'span',
      { class: 'numeric' },
      words,
      resetSeconds === undefined ? undefined : h('span', { class: 'hint' }, ` resets in ${duration(resetSeconds)}`),
    ),
  )
}
