/** Prints benchmark results as Markdown, so that the output can be pasted into a page. */
import { type MeasuredRow, measureRow, type Row } from './rounds.ts'

/** One performance target and its measured value. */
export interface Mark {
  readonly mark: string
  readonly measured: string
  readonly reached: 'yes' | 'no' | 'not measured' | 'information'
}

/** Measures rows and prints each one as soon as it is measured. */
export function printRows(title: string, rows: readonly Row[]): MeasuredRow[] {
  console.log(`\n### ${title}\n`)
  printHeader(['input', 'contender', 'median', 'fastest–slowest', '× Trigpoint', 'result differs by'])
  return rows.map((row) => {
    const measured = measureRow(row)
    const [trigpoint] = measured.contenders
    for (const { contender, nanoseconds, fastest, slowest, ratio, result, rounds } of measured.contenders) {
      const isTrigpoint = contender === trigpoint!.contender
      printCells([
        isTrigpoint ? `**${row.name}**` : '',
        contender + (rounds === 1 ? ' (one round)' : ''),
        `${time(nanoseconds)} / ${row.item}`,
        `${time(fastest)}–${time(slowest)}`,
        isTrigpoint ? '1' : significant(ratio),
        isTrigpoint ? '' : difference(result, trigpoint!.result, row.unit),
      ])
    }
    return measured
  })
}

export function printMarks(marks: readonly Mark[]): void {
  printHeader(['target', 'measured', 'reached'])
  for (const { mark, measured, reached } of marks) printCells([mark, measured, reached])
}

export function printHeader(titles: readonly string[]): void {
  printCells(titles)
  printCells(titles.map(() => '---'))
}

export function printCells(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}

/** Formats a time with its unit and three significant digits. */
export function time(nanoseconds: number): string {
  if (nanoseconds < 1e3) return `${significant(nanoseconds)} ns`
  if (nanoseconds < 1e6) return `${significant(nanoseconds / 1e3)} µs`
  return nanoseconds < 1e9 ? `${significant(nanoseconds / 1e6)} ms` : `${significant(nanoseconds / 1e9)} s`
}

export function significant(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3)
}

function difference(result: number, expected: number, unit: Row['unit']): string {
  if (Number.isNaN(result) || Number.isNaN(expected)) return ''
  if (unit === 'answers') return result === expected ? 'same answers' : `${result} true, Trigpoint ${expected}`
  const gap = Math.abs(result - expected)
  const relative = gap / Math.abs(expected)
  return gap === 0
    ? '0'
    : `${gap.toExponential(1)} ${unit}${relative > 1e-6 ? ` (${significant(100 * relative)} %)` : ''}`
}

/** The targets of one bench, compared with its measured rows. */
export class Marks {
  readonly #rows: readonly MeasuredRow[]
  readonly list: Mark[] = []

  constructor(rows: readonly MeasuredRow[]) {
    this.#rows = rows
  }

  /** Target: Trigpoint takes at most this time per item of a row. */
  atMost(mark: string, row: string, nanoseconds: number): void {
    const trigpoint = this.#rows.find((measured) => measured.row === row)?.contenders[0]
    this.add(mark, trigpoint && time(trigpoint.nanoseconds), trigpoint && trigpoint.nanoseconds <= nanoseconds)
  }

  /**
   * Target: a contender of a row takes at least `ratio` times as long as Trigpoint.
   *
   * @param variant the name of Trigpoint's contender, if the row has several; defaults to the first
   */
  atLeastTimes(mark: string, row: string, contender: string, ratio: number, variant?: string): void {
    const contenders = this.#rows.find((measured) => measured.row === row)?.contenders
    const findRatio = (name: string) => contenders?.find((measured) => measured.contender === name)?.ratio
    const contenderRatio = findRatio(contender)
    const times =
      contenderRatio === undefined ? undefined : contenderRatio / (variant === undefined ? 1 : findRatio(variant)!)
    if (times === undefined) this.add(mark, undefined, undefined)
    else this.add(mark, `${significant(times)}×`, times >= ratio)
  }

  /** @param isReached undefined if the target was not measured on this machine */
  add(mark: string, measured: string | undefined, isReached: boolean | undefined): void {
    const reached = isReached === undefined ? 'not measured' : isReached ? 'yes' : 'no'
    this.list.push({ mark, measured: measured ?? '–', reached })
  }

  /** Adds a figure without a target. */
  inform(mark: string, measured: string): void {
    this.list.push({ mark, measured, reached: 'information' })
  }
}
