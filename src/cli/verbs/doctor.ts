import type { Command } from 'commander'
import { withExamples, withJson } from '../options.ts'
import type { Finish } from '../program.ts'
import type { Terminal } from '../terminal.ts'

export function addDoctor(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('doctor')
    .description('look whether a service can run here with this environment, and say what to do')
    .option('--data <folder>', 'of keys and data (DATA_DIR, else ./.data)')
  withJson(command)
  withExamples(command, 'trigpoint doctor', 'RPC_URL_84532=https://… NODE_ENV=production trigpoint doctor --json')
  command.action(async (options) => {
    const { runDoctor } = await import('../run/doctor.ts')
    finish(await runDoctor(options, terminal))
  })
}
