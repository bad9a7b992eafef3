import type { Command } from 'commander'
import { withExamples, withJson } from '../options.ts'
import type { Finish } from '../program.ts'
import type { Terminal } from '../terminal.ts'

export function addDoctor(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('doctor')
    .description('check whether a service can run here with this environment, and say how to fix it')
    .option('--data <folder>', 'folder of keys and data (default: DATA_DIR, or ./.data)')
  withJson(command)
  withExamples(command, 'trigpoint doctor', 'RPC_URL_84532=https://… NODE_ENV=production trigpoint doctor --json')
  command.action(async (options) => {
    const { runDoctor } = await import('../commands/doctor.ts')
    finish(await runDoctor(options, terminal))
  })
}
