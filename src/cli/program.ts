import { Command, CommanderError } from 'commander'
import { version } from '../version.ts'
import { EXIT, type ExitCode, endingOf } from './exit-codes.ts'
import { withExamples } from './options.ts'
import { printable, type Terminal } from './terminal.ts'
import { addBatch } from './verbs/batch.ts'
import { addBench } from './verbs/bench.ts'
import { addCompute } from './verbs/compute.ts'
import { addDoctor } from './verbs/doctor.ts'
import { addKeygen } from './verbs/keygen.ts'
import { addKeys } from './verbs/keys.ts'
import { addMcp } from './verbs/mcp.ts'
import { addOpenApi } from './verbs/openapi.ts'
import { addPluginTest } from './verbs/plugin-test.ts'
import { addSchema } from './verbs/schema.ts'
import { addServe } from './verbs/serve.ts'
import { addStamp } from './verbs/stamp.ts'
import { addSync } from './verbs/sync.ts'
import { addVerify } from './verbs/verify.ts'

/** Where nobody looks at a screen. */
const HELP_COLUMNS = 80

/** Ends a verb that did what it was asked, with the answer no. */
export type Finish = (exitCode: ExitCode) => void

/**
 * Runs one verb.
 *
 * Only what the verb needs is loaded: the help of all of them comes in a tenth of a second.
 *
 * @param argv without the program itself
 * @returns the exit code; never throws
 */
export async function runCommandLine(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok
  const finish: Finish = (code) => {
    exitCode = code
  }
  try {
    await createProgram(terminal, finish).parseAsync(argv.map(asArgument), { from: 'user' })
    return exitCode
  } catch (error) {
    // Said already: help is no failure, anything else was a wrong command line.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    if (terminal.signal.aborted && error === terminal.signal.reason) {
      terminal.err(`trigpoint: ${(error as Error).message}\n`)
      return EXIT.interrupted
    }
    const ending = endingOf(error)
    terminal.err(printable(`trigpoint: ${ending.text}\n`))
    return ending.exitCode
  }
}

/** `-73.98,40.75` is a place and no option: a space before it says so. */
function asArgument(text: string): string {
  return /^-[\d.]+[\d.eE+-]*\s*,/.test(text) ? ` ${text}` : text
}

function createProgram(terminal: Terminal, finish: Finish): Command {
  const program = new Command('trigpoint')
  // Before any verb is added, for each takes these over.
  program
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.out(text),
      writeErr: terminal.err,
      getOutHelpWidth: () => terminal.columns ?? HELP_COLUMNS,
      getErrHelpWidth: () => terminal.columns ?? HELP_COLUMNS,
    })
    .showHelpAfterError('(--help says more)')
    .description('Answers spatial questions with signed facts, and checks such answers.')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this text')
    .helpCommand('help [verb]', 'print the help of a verb')
  for (const add of VERBS) add(program, terminal, finish)
  return withExamples(
    program,
    'trigpoint serve --chain',
    'trigpoint compute distance 2.2945,48.8584 2.3522,48.8566 --local',
    'trigpoint compute area park.geojson --json | trigpoint verify - --geometry park.geojson',
  ).addHelpText('after', EXIT_CODES)
}

const EXIT_CODES = `Exit codes:
  0 done, 1 a check failed, 2 wrong use, 3 no answer, 4 key refused, 5 limit reached,
  70 our fault, 78 wrong configuration

\`-\` is standard input. docs/command-line.md says more.
`

const VERBS: readonly ((program: Command, terminal: Terminal, finish: Finish) => void)[] = [
  addServe,
  addCompute,
  addBatch,
  addVerify,
  addStamp,
  addKeygen,
  addSchema,
  addSync,
  addBench,
  addDoctor,
  addKeys,
  addMcp,
  addOpenApi,
  addPluginTest,
]
