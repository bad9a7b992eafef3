import type { Command } from 'commander'
import { helpText } from '../arguments.ts'
import type { Terminal } from '../terminal.ts'

/** Adds `serve` to the help. The service parses its own options, before this program runs. */
export function addServe(program: Command, terminal: Terminal): void {
  program
    .command('serve')
    .description('run the service, as npm start does')
    .helpOption(false)
    .allowUnknownOption()
    .action(() => terminal.out(helpText()))
}
