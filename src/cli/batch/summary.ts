import { counted, type Terminal } from '../terminal.ts'

export interface Summary {
  /** With those of earlier runs. */
  readonly items: number
  readonly failed: number
  /** What earlier runs had done. */
  readonly skipped: number
  readonly seconds: number
}

/** What became of a batch: on standard error where the results themselves are on standard output. */
export async function printSummary(
  summary: Summary,
  options: { readonly output: string; readonly errors: string; readonly json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const { items, failed, seconds, skipped } = summary
  const { output, errors } = options
  const isPiped = output === '-'
  // Of what was over at once the speed says nothing.
  const rate = Math.round((items - skipped) / seconds).toLocaleString('en-US')
  const speed = seconds < 0.1 ? '' : `, ${rate} items/s`
  if (options.json === true) {
    const line = JSON.stringify({
      items,
      results: items - failed,
      failed,
      skipped,
      seconds,
      output: options.output,
      errors,
    })
    if (isPiped) terminal.err(`${line}\n`)
    else await terminal.out(`${line}\n`)
    return
  }
  const where = isPiped ? '' : ` in ${output}`
  const refused = failed === 0 ? '' : `, ${failed.toLocaleString('en-US')} refused${isPiped ? '' : ` (${errors})`}`
  const said = `${counted(items - failed, 'result')}${where}${refused}; ${seconds.toFixed(1)} s${speed}\n`
  if (isPiped) terminal.err(said)
  else await terminal.out(said)
}
