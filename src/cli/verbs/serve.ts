import type { Command } from 'commander'
import { helpText } from '../arguments.ts'
import type { Terminal } from '../terminal.ts'

/** Its options are read by the service itself, before this program begins: here stands what the help says. */
export function addServe(program: Command, terminal: Terminal): void {
  program
    .command('serve')
    .description('run the service, as npm start does')
    .helpOption(false)
    .allowUnknownOption()
    .action(() => terminal.out(helpText()))
}
