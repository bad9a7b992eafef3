import type { Command } from 'commander'
import { DEFAULT_CHAIN_ID, transportOptions, withChain, withExamples, withServer } from '../options.ts'
import type { Terminal } from '../terminal.ts'

export function addMcp(program: Command, terminal: Terminal): void {
  const command = program
    .command('mcp')
    .description('run an MCP server (Model Context Protocol) over standard input and output: docs/mcp.md')
    .option('--local', 'compute in this process, unsigned, without a service')
  withServer(withChain(command))
  withExamples(command, 'trigpoint mcp --url http://127.0.0.1:3000', 'trigpoint mcp --local')
  command.action(async (options) => {
    const { baseUrl: url, apiKey } = transportOptions(options, terminal)
    const { serveMcp } = await import('../../mcp/serve.ts')
    await serveMcp({ url, apiKey, chainId: options.chainId ?? DEFAULT_CHAIN_ID, local: options.local })
  })
}
