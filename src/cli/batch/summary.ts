import { formatCount, type Terminal } from '../terminal.ts'

export interface Summary {
  /** Number of items, including those of earlier runs. */
  readonly items: number
  readonly failed: number
  /** Number of items that earlier runs had done. */
  readonly skipped: number
  readonly seconds: number
}

/** Prints the outcome of a batch. It goes to standard error if the results go to standard output. */
export async function printSummary(
  summary: Summary,
  options: { readonly output: string; readonly errors: string; readonly json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const { items, failed, seconds, skipped } = summary
  const { output, errors } = options
  const isPiped = output === '-'
  // The rate of a very short run is meaningless.
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
  const outputText = isPiped ? '' : ` in ${output}`
  const rejectedText =
    failed === 0 ? '' : `, ${failed.toLocaleString('en-US')} rejected${isPiped ? '' : ` (${errors})`}`
  const text = `${formatCount(items - failed, 'result')}${outputText}${rejectedText}; ${seconds.toFixed(1)} s${speed}\n`
  if (isPiped) terminal.err(text)
  else await terminal.out(text)
}
