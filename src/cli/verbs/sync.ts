import { type Command, Option } from 'commander'
import { numberBetween, withExamples, withJson, withServer } from '../options.ts'
import type { Finish } from '../program.ts'
import type { Terminal } from '../terminal.ts'

export function addSync(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('sync')
    .description('make a service read its chains to their heads, and watch; runs on the machine of the service')
    .argument('[chain]', 'one chain, such as base-sepolia (default: all)')
    .option('--status', 'print the status and exit')
    .option('--follow', 'keep watching')
    .option('--revocations', 'check every valid record for revocation on its chain')
    .addOption(new Option('--worker <action>', 'start or stop reading in the background').choices(['start', 'stop']))
    .option('--wait <seconds>', 'longest wait until the heads are reached', numberBetween(1, 604_800), 3600)
    .option('--secret <token>', 'CRON_SECRET of a service on another machine (default: TRIGPOINT_CRON_SECRET)')
  withServer(withJson(command))
  withExamples(
    command,
    'trigpoint sync',
    'trigpoint sync base-sepolia --json',
    'trigpoint sync --status',
    'trigpoint sync --worker stop',
  )
  command.action(async (chain, options) => {
    const { runSync } = await import('../commands/sync.ts')
    finish(await runSync(chain, options, terminal))
  })
}
