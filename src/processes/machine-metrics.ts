/** Prometheus text of several processes as one text. */

interface Family {
  /** Its lines `# HELP` and `# TYPE`. */
  readonly head: string
  readonly samples: string[]
}

/**
 * Joins the metrics of processes. Each sample gets the label `process`. They are not added up: a counter that falls because one process
 * started again would look like the restart of all.
 *
 * @param texts the name of each process, and its metrics
 */
export function joinMetrics(texts: readonly (readonly [name: string, text: string])[]): string {
  const families = new Map<string, Family>()
  for (const [name, text] of texts) {
    let family: Family | undefined
    // Each family begins with its line `# HELP`.
    for (const block of text.split(/^(?=# HELP )/m)) {
      const lines = block.split('\n').filter((line) => line !== '')
      const head = lines.filter((line) => line.startsWith('#')).join('\n')
      family = families.get(head) ?? { head, samples: [] }
      families.set(head, family)
      for (const line of lines) if (!line.startsWith('#')) family.samples.push(withProcess(line, name))
    }
  }
  return [...families.values()].map(({ head, samples }) => `${[head, ...samples].join('\n')}\n`).join('')
}

/** Adds the label to one sample: `name value` or `name{labels} value`. */
function withProcess(sample: string, name: string): string {
  const end = sample.search(/[{ ]/)
  const label = `process="${name}"`
  const rest = sample.slice(end)
  return `${sample.slice(0, end)}{${label}${rest.startsWith('{') ? `,${rest.slice(1)}` : `}${rest}`}`
}
