/**
 * Counters and histograms, rendered as Prometheus text. Histograms count in typed arrays: an observation finds an index and
 * adds, which takes a few nanoseconds.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */

/** Label names and values of one series, in the order in which they are rendered. */
export type Labels = Readonly<Record<string, string>>

interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Returns one line for each sample. */
  render(): string[]
}

/** Upper bounds of the duration buckets in seconds, from half a millisecond to ten seconds. */
export const DURATION_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const

/** The registry of all metrics. One is created at the start and passed down. */
export class Metrics {
  readonly #families: Family[] = []

  counter(name: string, help: string): Counter {
    const counter = new Counter(name, help)
    this.#families.push(counter)
    return counter
  }

  histogram(name: string, help: string, bounds: readonly number[] = DURATION_BOUNDS): Histogram {
    const histogram = new Histogram(name, help, bounds)
    this.#families.push(histogram)
    return histogram
  }

  /** @param read called whenever the metrics are rendered */
  gauge(name: string, help: string, read: () => number, labels: Labels = {}): void {
    this.#families.push({ name, help, type: 'gauge', render: () => [`${name}${labelText(labels)} ${read()}`] })
  }

  /**
   * Registers values that are counted elsewhere.
   *
   * @param read called whenever the metrics are rendered; the values of a counter must never decrease
   */
  samples(
    name: string,
    help: string,
    type: 'counter' | 'gauge',
    read: () => Iterable<readonly [Labels, number]>,
  ): void {
    const render = () => Array.from(read(), ([labels, value]) => `${name}${labelText(labels)} ${value}`)
    this.#families.push({ name, help, type, render })
  }

  render(): string {
    return this.#families
      .map((family) => {
        const { name, help, type } = family
        return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${family
          .render()
          .map((line) => `${line}\n`)
          .join('')}`
      })
      .join('')
  }
}

/** One series of a counter. Keep a reference to it where you count often: `Counter.series` builds a key for each look-up. */
export interface Series {
  count: number
}

export class Counter implements Family {
  readonly name: string
  readonly help: string
  readonly type = 'counter'
  readonly #series = new Map<string, Series>()

  constructor(name: string, help: string) {
    this.name = name
    this.help = help
  }

  /** @param labels must have few values each, because every combination stays in memory */
  series(labels: Labels = {}): Series {
    const key = labelText(labels)
    let series = this.#series.get(key)
    if (series === undefined) {
      series = { count: 0 }
      this.#series.set(key, series)
    }
    return series
  }

  render(): string[] {
    return [...this.#series].map(([labels, { count }]) => `${this.name}${labels} ${count}`)
  }
}

/** Counts observed values in buckets. */
export class Histogram implements Family {
  readonly name: string
  readonly help: string
  readonly type = 'histogram'
  readonly #bounds: Float64Array
  /** One more than the bounds: the last bucket counts values above all of them. */
  readonly #counts: Float64Array
  #sum = 0

  /** @param bounds ascending */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name
    this.help = help
    this.#bounds = Float64Array.from(bounds)
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    let bucket = 0
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]!) bucket++
    this.#counts[bucket]!++
    this.#sum += value
  }

  render(): string[] {
    let count = 0
    const lines = Array.from(this.#bounds, (bound, bucket) => {
      count += this.#counts[bucket]!
      return `${this.name}_bucket{le="${bound}"} ${count}`
    })
    count += this.#counts[this.#bounds.length]!
    return [
      ...lines,
      `${this.name}_bucket{le="+Inf"} ${count}`,
      `${this.name}_sum ${this.#sum}`,
      `${this.name}_count ${count}`,
    ]
  }
}

function labelText(labels: Labels): string {
  const parts: string[] = []
  for (const name in labels) parts.push(`${name}="${escapeLabel(labels[name]!)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function escapeLabel(value: string): string {
  return value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}
