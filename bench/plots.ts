/** Draws the results of the benches as SVG that adapts to light and dark pages. */
import type { LoadRow } from './load-marks.ts'
import type { MeasuredRow } from './rounds.ts'
import { significant, time } from './tables.ts'

/** The part of the results of `scripts/bench.mjs` that is drawn. */
export interface Results {
  readonly date: string
  readonly cpu?: string
  readonly cores?: number
  readonly geodesy?: { readonly rows: readonly MeasuredRow[] }
  readonly topology?: { readonly rows: readonly MeasuredRow[] }
  readonly load?: { readonly rows: Readonly<Record<string, LoadRow>> | readonly unknown[] }
}

interface Bar {
  readonly label: string
  readonly value: number
  readonly text: string
  readonly isTrigpoint: boolean
}

/** For each plot: its file name in `docs/plots`, the bench, the row of that bench, and the title. */
const ROWS = [
  ['geodesy-edge', 'geodesy', 'area and length, ring of 10,000, 60 m', 'Area and length of a ring of 10,000, one edge'],
  ['geodesy-inverse', 'geodesy', 'inverse, anywhere', 'Distance between two positions anywhere'],
  [
    'topology-contains',
    'topology',
    'contains(polygon of 10,000, point)',
    'Polygon of 10,000 vertices contains a point',
  ],
] as const

/**
 * Draws the plots for which these results have data.
 *
 * @returns pairs of name and SVG
 */
export function plotsOf(results: Results): [name: string, svg: string][] {
  const note = `${results.date.slice(0, 10)}, ${results.cores ?? '?'} cores, ${results.cpu ?? 'unknown processor'}`
  const times = ROWS.flatMap(([name, part, rowName, title]): [string, string][] => {
    const row = results[part]?.rows.find((candidate) => candidate.row.startsWith(rowName))
    if (row === undefined) return []
    const bars = row.contenders.map(({ contender, nanoseconds }) => ({
      label: contender,
      value: nanoseconds,
      text: time(nanoseconds),
      isTrigpoint: contender.startsWith('Trigpoint'),
    }))
    return [[name, barsSvg(`${title}: time, logarithmic`, note, bars)]]
  })
  const { rows = {} } = results.load ?? {}
  const loads = Array.isArray(rows) ? [] : Object.entries(rows as Readonly<Record<string, LoadRow>>)
  if (loads.length === 0) return times
  const rates = loads.map(([label, { operationsPerSecond: value }]) => ({
    label,
    value,
    text: `${Math.round(value).toLocaleString('en')}/s`,
    isTrigpoint: true,
  }))
  const latencies = loads.flatMap(([label, { p50Ms, p99Ms }]) => [
    { label, value: p50Ms, text: `p50 ${significant(p50Ms)} ms`, isTrigpoint: true },
    { label: '', value: p99Ms, text: `p99 ${significant(p99Ms)} ms`, isTrigpoint: false },
  ])
  return [
    ...times,
    ['load-rate', barsSvg('Operations per second, logarithmic', note, rates)],
    ['load-latency', barsSvg('Latency, logarithmic', note, latencies)],
  ]
}

const WIDTH = 820
/** Of the longest label in a wide typeface, such as DejaVu Sans. */
const LABEL_WIDTH = 360
const VALUE_WIDTH = 110
const BAR_HEIGHT = 18
const STEP = 28
const TOP = 56

/** Draws horizontal bars on a logarithmic scale, with their values after them. */
function barsSvg(title: string, note: string, bars: readonly Bar[]): string {
  const values = bars.map(({ value }) => value)
  // The scale starts below the smallest value, so that the shortest bar is visible.
  const low = Math.floor(Math.log10(Math.min(...values)) - 0.3)
  const high = Math.log10(Math.max(...values))
  const plotWidth = WIDTH - LABEL_WIDTH - VALUE_WIDTH
  const rows = bars.map(({ label, value, text, isTrigpoint }, index) => {
    const y = TOP + index * STEP
    const width = Math.max(2, (plotWidth * (Math.log10(value) - low)) / (high - low))
    return `<text class="label" x="${LABEL_WIDTH - 12}" y="${y + 13}" text-anchor="end">${escapeXml(truncate(label))}</text><rect class="${isTrigpoint ? 'ours' : 'other'}" x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" rx="3"/><text class="value" x="${(LABEL_WIDTH + width + 8).toFixed(1)}" y="${y + 13}">${escapeXml(text)}</text>`
  })
  const height = TOP + bars.length * STEP + 32
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeXml(title)}">
<style>svg{background:#fff}text{font:13px system-ui,sans-serif;fill:#14181b}.title{font-size:15px;font-weight:600}.note{font-size:11px;fill:#636b72}.ours{fill:#1d4ed8}.other{fill:#b5b1a4}@media(prefers-color-scheme:dark){svg{background:#151a1e}text{fill:#eef1f2}.note{fill:#8d989f}.ours{fill:#86a8ff}.other{fill:#46525b}}</style>
<text class="title" x="20" y="30">${escapeXml(title)}</text>
${rows.join('\n')}
<text class="note" x="20" y="${height - 14}">${escapeXml(note)}</text>
</svg>
`
}

/** Number of characters of a label that fit. */
const MAX_LABEL = 44

function truncate(label: string): string {
  return label.length <= MAX_LABEL ? label : `${label.slice(0, MAX_LABEL - 1)}…`
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
