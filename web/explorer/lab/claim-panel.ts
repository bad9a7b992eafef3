import { h } from '../dom.ts'
import { degreesText, duration, shortMeters, timeUtc } from '../format.ts'
import type { LabState } from './evidence.ts'
import { slider } from './stamp-card.ts'
import { createTimeBars } from './time-bars.ts'

/** The panel of the claim: its position, radius and duration, and a timeline with all stamps. */
export function createClaimPanel(change: (patch: Partial<LabState>, isFinal: boolean) => void) {
  const words = h('p', { class: 'input-summary' })
  const radius = slider(
    'claim-radius',
    'Radius',
    (share) => Number((10 * 10 ** (share * 4)).toPrecision(2)),
    (meters) => Math.log10(meters / 10) / 4,
    shortMeters,
    (radiusMeters, isFinal) => change({ radiusMeters }, isFinal),
  )
  const lasts = slider(
    'claim-lasts',
    'Duration',
    (share) => Math.round(60 + share * share * 86_340),
    (seconds) => Math.sqrt((seconds - 60) / 86_340),
    duration,
    (lastsSeconds, isFinal) => change({ lastsSeconds }, isFinal),
  )
  const bars = createTimeBars()
  const head = h(
    'div',
    { class: 'input-head bare shape-a' },
    h('span', { class: 'letter', 'aria-hidden': 'true' }, 'C'),
    h('div', { class: 'input-words' }, h('h2', { class: 'stamp-title' }, 'The claim'), words),
  )
  const element = h('div', { class: 'panel' }, head, radius.element, lasts.element, bars.element)
  return { element, show }

  function show(state: LabState): void {
    words.textContent = `${degreesText(state.place[0], state.place[1], 5)}, ${timeUtc(state.startSeconds)}`
    radius.show(state.radiusMeters)
    lasts.show(state.lastsSeconds)
    bars.show(state)
  }
}
