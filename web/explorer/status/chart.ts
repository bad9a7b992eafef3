import { h, replace, svg } from '../dom.ts'

/** Seconds that a chart shows, with one value per second. */
export const SHOWN_SECONDS = 60
const WIDTH = 300
const HEIGHT = 64

/** A chart of one value over the last minute; the current value is in large type. */
export function createChart(title: string, unit: string, format: (value: number) => string) {
  const figure = h('p', { class: 'chart-figure numeric' })
  const maximum = h('span', { class: 'hint numeric' })
  const plot = h('div', { class: 'chart-plot', role: 'img' })
  const element = h(
    'section',
    { class: 'chart', 'aria-label': title },
    h('div', { class: 'row between' }, h('h3', { class: 'eyebrow' }, title), maximum),
    figure,
    plot,
  )

  /** @param values oldest first; undefined where a value is missing */
  function show(values: readonly (number | undefined)[]): void {
    const shown = values.slice(-SHOWN_SECONDS)
    const known = shown.filter((value) => value !== undefined)
    const latest = known.at(-1)
    const peak = known.length === 0 ? undefined : Math.max(...known)
    replace(
      figure,
      latest === undefined
        ? h('span', { class: 'none' }, '–')
        : [format(latest), h('span', { class: 'unit' }, ` ${unit}`)],
    )
    maximum.textContent = peak === undefined ? '' : `peak ${format(peak)}`
    plot.setAttribute(
      'aria-label',
      latest === undefined
        ? `${title}: not known yet`
        : `${title} over the last minute: latest ${format(latest)} ${unit}, peak ${format(peak!)}`,
    )
    replace(plot, draw(shown, peak ?? 0))
  }

  return { element, show }
}

function draw(values: readonly (number | undefined)[], peak: number): SVGElement {
  const top = Math.max(peak, 1e-9) * 1.1
  const x = (index: number) => WIDTH - ((values.length - 1 - index) * WIDTH) / (SHOWN_SECONDS - 1)
  const y = (value: number) => HEIGHT - 1 - (value / top) * (HEIGHT - 6)
  // A missing value leaves a gap in the line.
  const pieces: string[][] = [[]]
  values.forEach((value, index) => {
    if (value === undefined) pieces.push([])
    else pieces.at(-1)!.push(`${x(index).toFixed(1)} ${y(value).toFixed(1)}`)
  })
  const drawn = pieces.filter((piece) => piece.length > 0)
  const line = drawn.map((piece) => `M${piece.join('L')}`).join('')
  const area = drawn
    .map(
      (piece) => `M${piece[0]!.split(' ')[0]} ${HEIGHT}L${piece.join('L')}L${piece.at(-1)!.split(' ')[0]} ${HEIGHT}Z`,
    )
    .join('')
  const last = values.at(-1)
  const dot = last === undefined ? '' : `<circle class="dot" cx="${WIDTH}" cy="${y(last).toFixed(1)}" r="3"/>`
  const element = svg(
    `<path class="ground" d="M0 ${HEIGHT - 0.5}H${WIDTH}"/><path class="area" d="${area}"/><path class="line" d="${line}"/>${dot}`,
    'plot',
  )
  element.setAttribute('viewBox', `0 0 ${WIDTH + 4} ${HEIGHT}`)
  element.setAttribute('preserveAspectRatio', 'none')
  return element
}
