import { Argument, type Command } from 'commander'
import { integerBetween, numberBetween, withChain, withExamples, withJson, withServer } from '../options.ts'
import type { Finish } from '../program.ts'
import type { Terminal } from '../terminal.ts'

export function addBench(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('bench')
    .description('load: send requests as fast as the service answers, and check 1 % of the signatures')
    .addArgument(new Argument('<what>', 'load; ops is `npm run bench` in a checkout').choices(['load', 'ops']))
    .option('--seconds <number>', 'duration', numberBetween(0.1, 3600), 10)
    .option('--concurrency <number>', 'number of concurrent requests', integerBetween(1, 1024), 16)
  withServer(withChain(withJson(command)))
  withExamples(command, 'trigpoint bench load --seconds 10 --api-key tp_int_…')
  command.action(async (what, options) => {
    const { runBench } = await import('../commands/bench.ts')
    finish(await runBench(what, options, terminal))
  })
}
