/** The program `trigpoint`: its verbs, and how it runs one of them. */
import { Argument, Command, CommanderError } from 'commander'
import { version } from '../base/version.ts'
import type { Shell } from './commands/completions.ts'
import { EXIT, type ExitCode, exitForError } from './exit-codes.ts'
import { type Finish, withExamples } from './options.ts'
import { printable, type Terminal } from './terminal.ts'
import { addKeygen, addKeys, addSchema, addStamp } from './verbs/keys.ts'
import { addBatch, addCompute, addReceipt, addVerify } from './verbs/results.ts'
import {
  addBench,
  addDoctor,
  addMcp,
  addOpenApi,
  addPluginTest,
  addRecords,
  addServe,
  addStore,
  addSync,
} from './verbs/service.ts'
import { addGeometries, addSets } from './verbs/stored.ts'

/** Width of the help when standard output is not a terminal. */
const HELP_COLUMNS = 80

/**
 * Runs one verb.
 *
 * Only the modules of the verb are loaded, so that the help takes a tenth of a second.
 *
 * @param argv arguments without the program name
 * @returns the exit code; never throws
 */
export async function runCommandLine(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok
  const finish: Finish = (code) => {
    exitCode = code
  }
  try {
    await createProgram(terminal, finish).parseAsync(argv.map(protectCoordinates), { from: 'user' })
    return exitCode
  } catch (error) {
    // Commander has printed the message already. Help is a success; everything else is an invalid command line.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usageError
    if (terminal.signal.aborted && error === terminal.signal.reason) {
      terminal.err(`trigpoint: ${(error as Error).message}\n`)
      return EXIT.interrupted
    }
    const exit = exitForError(error)
    terminal.err(printable(`trigpoint: ${exit.text}\n`))
    return exit.exitCode
  }
}

/** Puts a space before an argument such as `-73.98,40.75`, so that it is not taken for an option. */
function protectCoordinates(text: string): string {
  return /^-[\d.]+[\d.eE+-]*\s*,/.test(text) ? ` ${text}` : text
}

function createProgram(terminal: Terminal, finish: Finish): Command {
  const program = new Command('trigpoint')
  // Before any verb is added, because verbs inherit these settings.
  program
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.out(text),
      writeErr: terminal.err,
      getOutHelpWidth: () => terminal.columns ?? HELP_COLUMNS,
      getErrHelpWidth: () => terminal.columns ?? HELP_COLUMNS,
    })
    .showHelpAfterError('(see --help)')
    .description('Answers spatial questions with signed facts, and verifies them.')
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

/** Completions describe the whole program, so they are added here. */
function addCompletions(program: Command, terminal: Terminal): void {
  const command = program
    .command('completions')
    .description('print completions of verbs, options and their values for a shell')
    .addArgument(new Argument('<shell>', 'shell').choices(['bash', 'zsh', 'fish']))
  withExamples(
    command,
    'source <(trigpoint completions bash)',
    'source <(trigpoint completions zsh)',
    'trigpoint completions fish > ~/.config/fish/completions/trigpoint.fish',
  )
  command.action(async (shell: Shell) => {
    const { completionScript } = await import('./commands/completions.ts')
    await terminal.out(completionScript(shell, program))
  })
}

const EXIT_CODES = `Exit codes:
0 success, 1 check failed, 2 usage error, 3 no response, 4 key rejected,
5 hourly limit reached, 70 internal error, 78 invalid configuration

\`-\` is standard input. For more, see docs/command-line.md.
`

const VERBS: readonly ((program: Command, terminal: Terminal, finish: Finish) => void)[] = [
  addServe,
  addCompute,
  addBatch,
  addVerify,
  addReceipt,
  addGeometries,
  addSets,
  addStamp,
  addKeygen,
  addSchema,
  addSync,
  addRecords,
  addBench,
  addDoctor,
  addStore,
  addKeys,
  addCompletions,
  addMcp,
  addOpenApi,
  addPluginTest,
]
