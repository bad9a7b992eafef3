/** The program `trigpoint`: reads the command line and runs one verb. */
import { runCommandLine } from './cli/program.ts'
import { printable, type Terminal } from './cli/terminal.ts'
import type { Environment } from './config.ts'
import { SECRETS } from './config-key.ts'

/**
 * Runs one verb in this process; its exit code is set when that is done.
 *
 * @param argv without the program itself
 */
export async function trigpoint(argv: readonly string[]): Promise<void> {
  if (argv[0] === 'serve') {
    const { main } = await import('./main.ts')
    return main(argv.slice(1))
  }
  const stopper = new AbortController()
  const stop = (signal: NodeJS.Signals) => {
    if (stopper.signal.aborted) process.exit(130)
    stopper.abort(new Error(`ended by ${signal}`))
  }
  // An assistant ends its tools by a signal, and nothing is left to be brought to an end.
  if (argv[0] !== 'mcp') {
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  }
  // Who reads us has seen enough, as `head` does.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 70))
  process.exitCode = await runCommandLine(argv, terminalOf(stopper.signal))
  process.off('SIGINT', stop)
  process.off('SIGTERM', stop)
}

function terminalOf(signal: AbortSignal): Terminal {
  return {
    env: publicEnvironment(),
    secretNames: SECRETS.filter((name) => Boolean(process.env[name])),
    input: process.stdin,
    out: (text) =>
      new Promise((done) => {
        if (process.stdout.write(printable(text))) done()
        else process.stdout.once('drain', () => done())
      }),
    err: (text) => void process.stderr.write(text),
    isInteractive: process.stderr.isTTY === true,
    columns: process.stdout.columns,
    signal,
    now: Date.now,
  }
}

/** Without the signing key, which is read where it signs and nowhere else. */
function publicEnvironment(): Environment {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !SECRETS.includes(name)))
}
