/** Options that several verbs have, each declared and read in one place. */
import { type Command, InvalidArgumentError } from 'commander'
import type { Client } from '../client/client.ts'
import type { TransportOptions } from '../client/transport.ts'
import { usage } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

/** The service that verbs ask when nobody names one: where `npm start` listens. */
const DEFAULT_URL = 'http://127.0.0.1:3000'
export const DEFAULT_CHAIN_ID = 84532

export interface ServerOptions {
  readonly url?: string
  readonly apiKey?: string
  readonly timeout?: number
}

export function withServer(command: Command): Command {
  return command
    .option('--url <address>', `address of the service (TRIGPOINT_URL, else ${DEFAULT_URL})`)
    .option('--api-key <key>', 'raises the hourly limit (TRIGPOINT_API_KEY, which no list of processes shows)')
    .option('--timeout <seconds>', 'longest wait for an answer (default 30)', numberBetween(0.001, 3600))
}

export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON')
}

export function withChain(command: Command): Command {
  return command.option(
    '--chain-id <id>',
    `chain the result is signed for (default ${DEFAULT_CHAIN_ID})`,
    integerBetween(1, Number.MAX_SAFE_INTEGER),
  )
}

/** Examples below the options of a verb. */
export function withExamples(command: Command, ...lines: readonly string[]): Command {
  const indented = lines.map((line) => (line === '' ? '' : `  ${line}`))
  return command.addHelpText('after', `\nExamples:\n${indented.join('\n')}\n`)
}

/** Address of the service, the flag before the environment. */
export function urlOf({ url }: ServerOptions, { env }: Terminal): string {
  const address = url ?? (env['TRIGPOINT_URL'] || DEFAULT_URL)
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
    throw usage(`${JSON.stringify(address)} is no address of a service: --url http://host:port`)
  }
  return address
}

export function transportOf(options: ServerOptions, terminal: Terminal): TransportOptions {
  const apiKey = options.apiKey ?? (terminal.env['TRIGPOINT_API_KEY'] || undefined)
  const timeoutMs = options.timeout === undefined ? undefined : options.timeout * 1000
  return { baseUrl: urlOf(options, terminal), apiKey, timeoutMs }
}

/** @param chainId of calls that name none */
export async function clientOf(options: ServerOptions, terminal: Terminal, chainId?: number): Promise<Client> {
  const { createClient } = await import('../client/client.ts')
  return createClient({ ...transportOf(options, terminal), chainId })
}

export function numberBetween(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (text.trim() === '' || !(value >= low && value <= high)) {
      throw new InvalidArgumentError(`It must be a number from ${low} to ${high}.`)
    }
    return value
  }
}

export function integerBetween(low: number, high: number): (text: string) => number {
  const number = numberBetween(low, high)
  return (text) => {
    const value = number(text)
    if (!Number.isInteger(value)) throw new InvalidArgumentError('It must be a whole number.')
    return value
  }
}

export function hexBytes(bytes: number): (text: string) => string {
  return (text) => {
    if (new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`).test(text)) return text
    throw new InvalidArgumentError(`It must be 0x and ${2 * bytes} hex digits.`)
  }
}

/** For options that can be given more than once. */
export function collected(text: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), text]
}
