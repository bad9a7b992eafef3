/** The program `trigpoint`. It reads the command line and runs one verb. */
import { runCommandLine } from './cli/program.ts'
import { printable, type Terminal } from './cli/terminal.ts'
import { publicEnvironment, SECRETS } from './config/signing-key.ts'

/**
 * Runs one verb in this process and sets the exit code when the verb is done.
 *
 * @param argv arguments without the program name
 */
export async function trigpoint(argv: readonly string[]): Promise<void> {
  if (argv[0] === 'serve') {
    const { main } = await import('./main.ts')
    return main(argv.slice(1))
  }
  if (argv[0] === 'process') {
    const { runProcess } = await import('./processes/process.ts')
    return runProcess(publicEnvironment(process.env))
  }
  const abortController = new AbortController()
  const stop = (signal: NodeJS.Signals) => {
    if (abortController.signal.aborted) process.exit(130)
    const reason = new Error(`ended by ${signal}`)
    abortController.abort(reason)
    // A verb that waits for standard input would not see that the signal is aborted.
    process.stdin.on('error', () => {}).destroy(reason)
  }
  // `mcp` has nothing to clean up, so the default handling of signals is right when an assistant stops it.
  if (argv[0] !== 'mcp') {
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  }
  // EPIPE means that the reader of our output has closed it, as `head` does. That is a success.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 70))
  // Progress and notes are then lost; the result is not.
  process.stderr.on('error', () => {})
  process.exitCode = await runCommandLine(argv, createTerminal(abortController.signal))
  process.off('SIGINT', stop)
  process.off('SIGTERM', stop)
}

function createTerminal(signal: AbortSignal): Terminal {
  return {
    env: publicEnvironment(process.env),
    secretNames: SECRETS.filter((name) => Boolean(process.env[name])),
    input: process.stdin,
    out: (text) =>
      new Promise((done) => {
        // A file and a pipe get every byte.
        if (process.stdout.write(process.stdout.isTTY === true ? printable(text) : text)) done()
        else process.stdout.once('drain', () => done())
      }),
    err: (text) => void process.stderr.write(text),
    isInteractive: process.stderr.isTTY === true,
    columns: process.stdout.columns,
    signal,
    now: Date.now,
  }
}
