import type { Command } from 'commander'
import { withExamples, withServer } from '../options.ts'
import type { Terminal } from '../terminal.ts'

export function addOpenApi(program: Command, terminal: Terminal): void {
  const command = program
    .command('openapi')
    .description('print the OpenAPI 3.1 document of this version or, with --url, of a service')
  withServer(command)
  withExamples(command, 'trigpoint openapi > openapi.json', 'trigpoint openapi --url http://127.0.0.1:3000')
  command.action(async (options) => {
    const { printOpenApi } = await import('../commands/openapi.ts')
    await printOpenApi(options, terminal)
  })
}
