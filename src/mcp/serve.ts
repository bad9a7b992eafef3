import type { Readable, Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js'
import { createClient } from '../client/client.ts'
import { version } from '../version.ts'
import { computeTools } from './compute-tools.ts'
import { errorText } from './error-text.ts'
import { localComputeTools } from './local-tools.ts'
import { recordTools } from './record-tools.ts'
import type { Tool } from './tool.ts'
import { verifyResultTool, verifyTools } from './verify-tools.ts'

export interface McpOptions {
  /** Of the service; asked only when a tool is called. */
  readonly url: string
  readonly apiKey?: string | undefined
  /** The chain answers are signed for, unless a call names another. */
  readonly chainId?: number | undefined
  /** Computes in this process, unsigned, and asks no service: no tools for evidence and records then. */
  readonly local?: boolean | undefined
}

/** In place of the process's own. Nothing but messages of the protocol goes to `output`. */
export interface McpStreams {
  readonly input: Readable
  readonly output: Writable
}

const SIGNED =
  'Spatial facts that are computed exactly and signed. Positions are [longitude, latitude]. Cite what the text of an answer says; the whole of it stands in structuredContent, which verify_result and contracts take unchanged.'
const UNSIGNED =
  'Spatial facts that are computed exactly on this machine and not signed. Positions are [longitude, latitude].'

/**
 * Answers the Model Context Protocol over standard input and output until the input ends.
 *
 * @throws {TypeError} on an address that is none
 */
export async function serveMcp(options: McpOptions, streams?: McpStreams): Promise<void> {
  const input = streams?.input ?? process.stdin
  const output = streams?.output ?? process.stdout
  const tools = toolsOf(options)
  const calls = new Set<Promise<CallToolResult>>()
  const server = new Server(
    { name: 'trigpoint', title: 'Trigpoint', version },
    { capabilities: { tools: {} }, instructions: options.local === true ? UNSIGNED : SIGNED },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(describe) }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `no tool is called ${params.name}`)
    const call = callTool(tool, params.arguments ?? {}, signal)
    calls.add(call)
    return call.finally(() => calls.delete(call))
  })
  const ended = new Promise<void>((done) => {
    server.onclose = done
  })
  // The transport does not notice the end of its input: without this a client that died would leave us behind. What was asked
  // before the end is answered: each turn of the loop gives what was read time to become a call, or an answer to be written.
  input.once('end', async () => {
    await nextTurn()
    await Promise.allSettled(calls)
    await nextTurn()
    await server.close()
  })
  output.once('error', () => void server.close())
  await server.connect(new StdioServerTransport(input, output))
  await ended
}

function toolsOf({ url, apiKey, chainId, local }: McpOptions): Tool[] {
  if (local === true) return [...localComputeTools(), verifyResultTool(undefined)]
  const client = createClient({ baseUrl: url, apiKey, chainId })
  return [...computeTools(client, chainId), ...verifyTools(client), verifyResultTool(client), ...recordTools(client)]
}

/** As a list of tools has it. Nothing here writes anywhere, and the same question may be asked again. */
function describe({ name, title, description, inputSchema, outputSchema }: Tool) {
  return {
    name,
    title,
    description,
    inputSchema: inputSchema as { type: 'object' },
    ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as { type: 'object' } }),
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  }
}

async function callTool(tool: Tool, given: Parameters<Tool['call']>[0], signal: AbortSignal): Promise<CallToolResult> {
  try {
    const { text, structured } = await tool.call(given, signal)
    return { content: [{ type: 'text', text }], structuredContent: structured as Record<string, unknown> }
  } catch (error) {
    const text = errorText(error)
    if (text === undefined) throw error
    return { content: [{ type: 'text', text }], isError: true }
  }
}
