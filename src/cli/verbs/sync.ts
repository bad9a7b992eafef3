import { type Command, Option } from 'commander'
import { numberBetween, withExamples, withJson, withServer } from '../options.ts'
import type { Finish } from '../program.ts'
import type { Terminal } from '../terminal.ts'

export function addSync(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('sync')
    .description('have a service read chains to their heads now, and watch it; for its own machine')
    .argument('[chain]', 'one of them, as base-sepolia (default: all)')
    .option('--status', 'say how far they are, and end')
    .option('--follow', 'go on watching')
    .option('--revocations', 'compare every valid record with its chain')
    .addOption(new Option('--worker <action>', 'the reading in the background').choices(['start', 'stop']))
    .option('--wait <seconds>', 'longest wait for the heads', numberBetween(1, 604_800), 3600)
    .option('--secret <token>', 'CRON_SECRET of a service elsewhere (TRIGPOINT_CRON_SECRET)')
  withServer(withJson(command))
  withExamples(
    command,
    'trigpoint sync',
    'trigpoint sync base-sepolia --json',
    'trigpoint sync --status',
    'trigpoint sync --worker stop',
  )
  command.action(async (chain, options) => {
    const { runSync } = await import('../run/sync.ts')
    finish(await runSync(chain, options, terminal))
  })
}
