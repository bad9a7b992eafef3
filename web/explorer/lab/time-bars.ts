import { h, replace } from '../dom.ts'
import { clockUtc } from '../format.ts'
import type { LabState } from './evidence.ts'

/** A timeline: one bar for the claim, and one for each stamp below it. */
export function createTimeBars() {
  const element = h('figure', { class: 'time-bars' })
  return { element, show }

  function show({ startSeconds, lastsSeconds, stamps }: LabState): void {
    const spans = [
      { name: 'Claim', className: 'claim', start: startSeconds, end: startSeconds + lastsSeconds },
      ...stamps.map((stamp) => {
        const given = stamp.given?.temporalFootprint
        const start = given?.start ?? startSeconds + stamp.startSeconds
        return { name: `${stamp.id}`, className: 'stamp-bar', start, end: given?.end ?? start + stamp.lastsSeconds }
      }),
    ]
    const first = Math.min(...spans.map(({ start }) => start))
    const last = Math.max(...spans.map(({ end }) => end))
    const margin = Math.max(60, (last - first) * 0.04)
    const [from, to] = [first - margin, last + margin]
    const share = (seconds: number) => (100 * (seconds - from)) / (to - from)
    replace(
      element,
      h(
        'figcaption',
        { class: 'sr-only' },
        spans.map(
          ({ name, start, end }) =>
            `${name === 'Claim' ? name : `Stamp ${name}`}: ${clockUtc(start)} to ${clockUtc(end)}. `,
        ),
      ),
      h(
        'div',
        { class: 'bars', 'aria-hidden': 'true' },
        spans.map(({ name, className, start, end }) => {
          const bar = h('i', { class: className })
          bar.style.left = `${share(start)}%`
          bar.style.width = `max(4px, ${share(end) - share(start)}%)`
          return h('div', { class: 'bar-row' }, h('span', {}, name), h('div', { class: 'bar-track' }, bar))
        }),
      ),
      h(
        'div',
        { class: 'row between hint numeric', 'aria-hidden': 'true' },
        h('span', {}, clockUtc(from)),
        h('span', {}, clockUtc(to)),
      ),
    )
  }
}
