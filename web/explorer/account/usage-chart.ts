/** The chart of usage: a bar for each day, in which each kind of request has its colour. */
import { h, svg } from '../dom.ts'
import { whole } from '../format.ts'
import type { UsageByDay } from './usage-days.ts'

/** Units of the drawing: the width of a day and of its bar, and the height. */
const STEP = 10
const BAR = 7.5
const HEIGHT = 100

/** Draws the chart with its legend. The table below the chart has all numbers. */
export function usageChart({ days, kinds, requests }: UsageByDay): HTMLElement {
  const totals = requests.map((ofDay) => ofDay.reduce((sum, count) => sum + count, 0))
  const peak = Math.max(...totals)
  const all = totals.reduce((sum, total) => sum + total, 0)
  const busiest = days[totals.indexOf(peak)]!
  const label = `Requests by day from ${days[0]} to ${days.at(-1)}: ${whole(all)}, most on ${busiest} with ${whole(peak)}`
  return h(
    'div',
    { class: 'usage-chart' },
    h('span', { class: 'hint numeric usage-peak', 'aria-hidden': 'true' }, whole(peak)),
    h('div', { class: 'usage-plot', role: 'img', 'aria-label': label }, draw(days, kinds, requests, peak)),
    h(
      'div',
      { class: 'row between hint numeric usage-days', 'aria-hidden': 'true' },
      h('span', {}, dayWords(days[0]!)),
      h('span', {}, dayWords(days.at(-1)!)),
    ),
    h(
      'ul',
      { class: 'usage-legend' },
      kinds.map((kind, index) =>
        h(
          'li',
          {},
          h('i', { class: `swatch series-${index}`, 'aria-hidden': 'true' }),
          kind === 'other' ? 'other, such as this page' : kind,
          h('span', { class: 'hint numeric' }, whole(requests.reduce((sum, ofDay) => sum + ofDay[index]!, 0))),
        ),
      ),
    ),
  )
}

function draw(
  days: readonly string[],
  kinds: readonly string[],
  requests: UsageByDay['requests'],
  peak: number,
): SVGElement {
  const bars = requests.map((ofDay, day) => {
    let top = HEIGHT
    const parts = ofDay.map((count, kind) => {
      if (count === 0) return ''
      const height = (count / peak) * HEIGHT
      top -= height
      const place = `x="${day * STEP}" y="${top.toFixed(2)}" width="${BAR}" height="${height.toFixed(2)}"`
      return `<rect class="series-${kind}" ${place}/>`
    })
    return `<g>${parts.join('')}</g>`
  })
  const width = days.length * STEP - (STEP - BAR)
  const element = svg(`${bars.join('')}<path class="ground" d="M0 ${HEIGHT}H${width}"/>`, 'plot')
  element.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`)
  element.setAttribute('preserveAspectRatio', 'none')
  // The text that appears over a bar. It comes from the service, so it is set as text.
  for (const [day, group] of [...element.querySelectorAll('g')].entries()) {
    const title = document.createElementNS('http://www.w3.org/2000/svg', 'title')
    const parts = kinds.flatMap((kind, index) => {
      const count = requests[day]![index]!
      return count === 0 ? [] : [`${whole(count)} ${kind}`]
    })
    title.textContent = `${days[day]}: ${parts.join(', ')}`
    group.append(title)
  }
  return element
}

/** `2030-12-31` → `31 Dec`. */
function dayWords(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
}
