/** What a bench prints: Markdown, so that a run can be put into a page as it is. */
import { type MeasuredRow, measureRow, type Row } from './rounds.ts'

/** One line of "what has to be reached". */
export interface Mark {
  readonly mark: string
  readonly measured: string
  readonly reached: 'yes' | 'no' | 'not measured'
}

/** Measures rows and prints each as soon as it is there. */
export function printRows(title: string, rows: readonly Row[]): MeasuredRow[] {
  console.log(`\n### ${title}\n`)
  printHeader(['input', 'contender', 'median', 'fastest–slowest', '× Trigpoint', 'result differs by'])
  return rows.map((row) => {
    const measured = measureRow(row)
    const [ours] = measured.contenders
    for (const { contender, nanoseconds, fastest, slowest, ratio, result, rounds } of measured.contenders) {
      const isOurs = contender === ours!.contender
      printCells([
        isOurs ? `**${row.name}**` : '',
        contender + (rounds === 1 ? ' (one round)' : ''),
        `${time(nanoseconds)} / ${row.item}`,
        `${time(fastest)}–${time(slowest)}`,
        isOurs ? '1' : significant(ratio),
        isOurs ? '' : difference(result, ours!.result, row.unit),
      ])
    }
    return measured
  })
}

export function printMarks(marks: readonly Mark[]): void {
  printHeader(['must reach', 'measured', 'reached'])
  for (const { mark, measured, reached } of marks) printCells([mark, measured, reached])
}

export function printHeader(titles: readonly string[]): void {
  printCells(titles)
  printCells(titles.map(() => '---'))
}

export function printCells(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}

/** A time with its unit, three digits. */
export function time(nanoseconds: number): string {
  if (nanoseconds < 1e3) return `${significant(nanoseconds)} ns`
  if (nanoseconds < 1e6) return `${significant(nanoseconds / 1e3)} µs`
  return nanoseconds < 1e9 ? `${significant(nanoseconds / 1e6)} ms` : `${significant(nanoseconds / 1e9)} s`
}

export function significant(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3)
}

function difference(result: number, ours: number, unit: Row['unit']): string {
  if (Number.isNaN(result) || Number.isNaN(ours)) return ''
  if (unit === 'answers') return result === ours ? 'same answers' : `${result} yes, Trigpoint ${ours}`
  const gap = Math.abs(result - ours)
  const relative = gap / Math.abs(ours)
  return gap === 0
    ? '0'
    : `${gap.toExponential(1)} ${unit}${relative > 1e-6 ? ` (${significant(100 * relative)} %)` : ''}`
}

/** The marks of one bench, looked up in what it measured. */
export class Marks {
  readonly #rows: readonly MeasuredRow[]
  readonly list: Mark[] = []

  constructor(rows: readonly MeasuredRow[]) {
    this.#rows = rows
  }

  /** Trigpoint takes at most this per item of a row. */
  atMost(mark: string, row: string, nanoseconds: number): void {
    const ours = this.#rows.find((measured) => measured.row === row)?.contenders[0]
    this.add(mark, ours && time(ours.nanoseconds), ours && ours.nanoseconds <= nanoseconds)
  }

  /**
   * A contender of a row takes at least this many times as long as Trigpoint.
   *
   * @param ours which of Trigpoint's own ways, when the row has several; else the first
   */
  atLeastTimes(mark: string, row: string, contender: string, ratio: number, ours?: string): void {
    const contenders = this.#rows.find((measured) => measured.row === row)?.contenders
    const ratioOf = (name: string) => contenders?.find((measured) => measured.contender === name)?.ratio
    const theirs = ratioOf(contender)
    const times = theirs === undefined ? undefined : theirs / (ours === undefined ? 1 : ratioOf(ours)!)
    if (times === undefined) this.add(mark, undefined, undefined)
    else this.add(mark, `${significant(times)}×`, times >= ratio)
  }

  /** @param isReached undefined: it was not measured here */
  add(mark: string, measured: string | undefined, isReached: boolean | undefined): void {
    const reached = isReached === undefined ? 'not measured' : isReached ? 'yes' : 'no'
    this.list.push({ mark, measured: measured ?? '–', reached })
  }
}
