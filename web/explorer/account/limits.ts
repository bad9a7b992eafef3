/** The limits of an hour and what is left of them, as the `RateLimit` headers report them. */
import { type Child, h } from '../dom.ts'
import { bytesText, duration, whole } from '../format.ts'

export interface Limits {
  /** Limit per hour by resource: `requests`, `bytes`, `vertices`, `cpu-ms`. */
  readonly quotas: ReadonlyMap<string, number>
  /** What is left: of the requests, and of the budget of which the smallest share is left. */
  readonly left: ReadonlyMap<string, { readonly remaining: number; readonly resetSeconds: number }>
}

/** @returns undefined without the headers */
export function readLimits(headers: Headers): Limits | undefined {
  const [policy, state] = [headers.get('ratelimit-policy'), headers.get('ratelimit')]
  if (policy === null || state === null) return undefined
  const quotas = new Map(readItems(policy).map(([name, { q }]) => [name, q ?? Number.NaN]))
  const left = new Map(
    readItems(state).map(([name, { r, t }]) => [name, { remaining: r ?? Number.NaN, resetSeconds: t ?? Number.NaN }]),
  )
  return { quotas, left }
}

/** Reads a list of names with integers: `"requests";q=100;w=3600, …`. */
function readItems(text: string): [name: string, parameters: Readonly<Record<string, number>>][] {
  return [...text.matchAll(/"([\w-]+)"((?:;\w+=(?:\d+|"[^"]*"))*)/g)].map(([, name, parameters]) => [
    name!,
    Object.fromEntries([...parameters!.matchAll(/;(\w+)=(\d+)/g)].map(([, key, value]) => [key!, Number(value)])),
  ])
}

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
