import type { Readable, Writable } from 'node:stream'
import { setImmediate as nextTick } from 'node:timers/promises'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js'
import { version } from '../base/version.ts'
import { createClient } from '../client/client.ts'
import { ApiError, ConnectionError } from '../client/transport.ts'
import { createComputeTools, createLocalComputeTools } from './compute-tools.ts'
import { createRecordTools } from './record-tools.ts'
import type { Tool } from './tool.ts'
import { createVerifyResultTool, createVerifyTools } from './verify-tools.ts'

/**
 * Describes an error to a model: a problem of the service with its pointers and hints, a connection error, or an invalid
 * argument.
 *
 * @returns undefined for any other error, which is our bug
 */
function describeError(error: unknown): string | undefined {
  if (error instanceof ApiError) {
    const { title, detail, errors = [] } = error.problem
    const hints = errors.flatMap(({ pointer, hint }) => (hint === undefined ? [] : [`${pointer}: ${hint}`]))
    const wait = error.retryAfterSeconds === undefined ? [] : [`Try again in ${error.retryAfterSeconds} s.`]
    return [`${title} (${error.status}): ${detail}`, ...hints, ...wait].join('\n')
  }
  if (error instanceof ConnectionError) {
    return `${error.message}. Start a service there (npm start), or pass another address with --url.`
  }
  // The client throws a TypeError, with a hint, on an invalid argument.
  return error instanceof TypeError ? error.message : undefined
}

export interface McpOptions {
  /** Address of the service; it is contacted only when a tool is called. */
  readonly url: string
  readonly apiKey?: string | undefined
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
  /** The chain that results are signed for, unless a call names another one. */
  readonly chainId?: number | undefined
  /** Computes in this process, unsigned, without a service. There are then no tools for evidence and records. */
  readonly local?: boolean | undefined
}

/** Streams to use instead of standard input and output. Only protocol messages are written to `output`. */
export interface McpStreams {
  readonly input: Readable
  readonly output: Writable
}

const SIGNED =
  'Spatial facts, computed exactly and signed. Positions are [longitude, latitude]. Cite the text of a result; structuredContent has the whole response, which verify_result and contracts accept unchanged.'
const UNSIGNED = 'Spatial facts, computed exactly on this machine and not signed. Positions are [longitude, latitude].'

/**
 * Serves the Model Context Protocol over standard input and output until the input ends.
 *
 * @throws {TypeError} when the address is not an http(s) URL
 */
export async function serveMcp(options: McpOptions, streams?: McpStreams): Promise<void> {
  const input = streams?.input ?? process.stdin
  const output = streams?.output ?? process.stdout
  const tools = createTools(options)
  const calls = new Set<Promise<CallToolResult>>()
  const server = new Server(
    { name: 'trigpoint', title: 'Trigpoint', version },
    { capabilities: { tools: {} }, instructions: options.local === true ? UNSIGNED : SIGNED },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(describe) }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `there is no tool ${params.name}`)
    const call = callTool(tool, params.arguments ?? {}, signal)
    calls.add(call)
    return call.finally(() => calls.delete(call))
  })
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve
  })
  // The transport does not notice the end of its input, so without this handler the process would outlive its client. Requests
  // that arrived before the end are still answered: the first tick lets input become calls, the second lets responses be written.
  input.once('end', async () => {
    await nextTick()
    await Promise.allSettled(calls)
    await nextTick()
    await server.close()
  })
  output.once('error', () => void server.close())
  await server.connect(new StdioServerTransport(input, output))
  await ended
}

function createTools({ url, apiKey, fetch, chainId, local }: McpOptions): Tool[] {
  if (local === true) return [...createLocalComputeTools(), createVerifyResultTool(undefined)]
  const client = createClient({ baseUrl: url, apiKey, fetch, chainId })
  return [
    ...createComputeTools(client, chainId),
    ...createVerifyTools(client),
    createVerifyResultTool(client),
    ...createRecordTools(client),
  ]
}

/** Describes a tool for the list of tools. All tools are read-only, and calls may be repeated. */
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

/** @throws {TypeError} if an argument is missing, or if its name is unknown: a misspelt argument would otherwise be ignored */
function checkArguments({ inputSchema }: Tool, given: Readonly<Record<string, unknown>>): void {
  const { properties = {}, required = [] } = inputSchema as { properties?: object; required?: readonly string[] }
  const missing = required.find((name) => given[name] === undefined)
  if (missing !== undefined) throw new TypeError(`${missing} is missing`)
  const known = Object.keys(properties)
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw new TypeError(
    known.length === 0
      ? `${unknown} is not an argument; this tool has none`
      : `${unknown} is not an argument; the arguments are ${known.join(', ')}`,
  )
}

async function callTool(tool: Tool, given: Parameters<Tool['call']>[0], signal: AbortSignal): Promise<CallToolResult> {
  try {
    checkArguments(tool, given)
    const { text, structured } = await tool.call(given, signal)
    return { content: [{ type: 'text', text }], structuredContent: structured as Record<string, unknown> }
  } catch (error) {
    const text = describeError(error)
    if (text === undefined) throw error
    return { content: [{ type: 'text', text }], isError: true }
  }
}
