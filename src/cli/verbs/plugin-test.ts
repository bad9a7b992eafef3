import { availableParallelism } from 'node:os'
import type { Command } from 'commander'
import type { ExitCode } from '../exit-codes.ts'
import { withExamples } from '../options.ts'
import type { Finish } from '../program.ts'
import type { Terminal } from '../terminal.ts'

export function addPluginTest(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('plugin-test')
    .description('test a plugin before you add it with --plugin of serve')
    .argument('<module>', 'file of the module')
  withExamples(command, 'trigpoint plugin-test ./barometer.mjs')
  command.action(async (file) => {
    const { testPlugin } = await import('../commands/plugin-test.ts')
    const { readConfig } = await import('../../config/config.ts')
    const lines: string[] = []
    const code = await testPlugin([file], readConfig(terminal.env, availableParallelism()), (line) => lines.push(line))
    await terminal.out(`${lines.join('\n')}\n`)
    finish(code as ExitCode)
  })
}
