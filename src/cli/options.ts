/** Options that several verbs share. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseDecimal } from '../base/decimal.ts'
import type { Client } from '../client/client.ts'
import type { TransportOptions } from '../client/transport.ts'
import { type Environment, isThisMachine } from '../config/setting.ts'
import { type ExitCode, usage } from './exit-codes.ts'
import { FORMATS } from './inputs/source-item.ts'
import type { Terminal } from './terminal.ts'

/** The address on which `npm start` listens. */
const DEFAULT_URL = 'http://127.0.0.1:3000'
export const DEFAULT_CHAIN_ID = 84532

/** Sets the exit code of a verb that ran without an error. */
export type Finish = (exitCode: ExitCode) => void

/** What `serviceUrl` takes without an option, for the help. */
export const DEFAULT_URL_TEXT = `TRIGPOINT_URL, or HOST and PORT, or ${DEFAULT_URL}`

export interface ServerOptions {
  readonly url?: string
  readonly apiKey?: string
  readonly timeout?: number
}

export function withServer(command: Command): Command {
  return command
    .option('--url <address>', `URL of the service (default: ${DEFAULT_URL_TEXT})`)
    .option(
      '--api-key <key>',
      'raises the hourly limit (default: TRIGPOINT_API_KEY, which process lists do not show; on this machine, the development key)',
    )
    .option('--timeout <seconds>', 'longest wait for a response (default 30)', numberBetween(0.001, 3600))
}

export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON')
}

export function withChain(command: Command): Command {
  return command.option(
    '--chain-id <id>',
    `chain that the result is signed for (default ${DEFAULT_CHAIN_ID})`,
    integerBetween(1, Number.MAX_SAFE_INTEGER),
  )
}

/** Adds examples below the options of a verb. */
export function withExamples(command: Command, ...lines: readonly string[]): Command {
  const indented = lines.map((line) => (line === '' ? '' : `  ${line}`))
  return command.addHelpText('after', `\nExamples:\n${indented.join('\n')}\n`)
}

/** Returns the URL of the service: the flag, or TRIGPOINT_URL, or the address of a service with the settings of this environment. */
export function serviceUrl({ url }: { readonly url?: string | undefined }, { env }: Pick<Terminal, 'env'>): string {
  const address = url ?? (env['TRIGPOINT_URL'] || listeningUrl(env))
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) {
    throw usage(`${JSON.stringify(address)} is not the URL of a service: give --url http://host:port`)
  }
  return address
}

/** Addresses of a listener on all interfaces, which no client can connect to. */
const WILDCARDS: readonly string[] = ['0.0.0.0', '::']

/** Returns the URL on which a service with the settings HOST and PORT listens. Port 0 is any free port, so the default is as good. */
function listeningUrl(env: Environment): string {
  const { hostname, port } = new URL(DEFAULT_URL)
  const { HOST: host = '', PORT: ownPort = '' } = env
  const name = host === '' || WILDCARDS.includes(host) ? hostname : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${Number(ownPort) > 0 ? ownPort : port}`
}

export function transportOptions(options: ServerOptions, terminal: Terminal): TransportOptions {
  const baseUrl = serviceUrl(options, terminal)
  const apiKey = options.apiKey ?? (terminal.env['TRIGPOINT_API_KEY'] || undefined)
  const timeoutMs = options.timeout === undefined ? undefined : options.timeout * 1000
  const isLocal = isThisMachine(baseUrl)
  const dataFolder = terminal.env['DATA_DIR'] || './.data'
  const token = apiKey === undefined ? terminal.env['TRIGPOINT_TOKEN'] || undefined : undefined
  const usesLocalKey = isLocal && apiKey === undefined && token === undefined
  return { baseUrl, apiKey, token, timeoutMs, ...(usesLocalKey ? { fetch: localFetch(dataFolder) } : {}) }
}

/**
 * Returns a `fetch` that sends the development key of the service on this machine. The service there may have other keys: after a
 * 401 the request is repeated without the key, and so are all later ones.
 */
function localFetch(dataFolder: string): typeof fetch {
  let key: Promise<string | undefined> | undefined
  const findKey = async () => {
    const { findDevelopmentKeys } = await import('../http/access/dev-keys.ts')
    return findDevelopmentKeys(dataFolder)?.internal
  }
  return async (url, request) => {
    key ??= findKey()
    const apiKey = await key
    if (apiKey === undefined) return fetch(url, request)
    const headers = new Headers(request?.headers)
    headers.set('x-api-key', apiKey)
    const response = await fetch(url, { ...request, headers })
    if (response.status !== 401) return response
    await response.body?.cancel()
    key = Promise.resolve(undefined)
    return fetch(url, request)
  }
}

/** @param chainId default for calls without a chain ID */
export async function createServiceClient(
  options: ServerOptions,
  terminal: Terminal,
  chainId?: number,
): Promise<Client> {
  const { createClient } = await import('../client/client.ts')
  return createClient({ ...transportOptions(options, terminal), chainId })
}

export function numberBetween(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = parseDecimal(text)
    if (value === undefined || value < low || value > high) {
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

/** Parses a pattern of DE-9IM. */
function matrixPattern(text: string): string {
  if (/^[TF*012]{9}$/.test(text)) return text
  throw new InvalidArgumentError('It must be nine characters of T, F, *, 0, 1 and 2, in quotes for the shell.')
}

/** Collects the values of an option that can be repeated. */
export function collectOption(text: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), text]
}

/** Operations and their inputs, for the help. A test checks that the engine's table is the same. */
export const OPERATION_INPUTS = {
  distance: ['from', 'to'],
  area: ['geometry'],
  length: ['geometry'],
  contains: ['container', 'containee'],
  within: ['geometry', 'target'],
  intersects: ['geometry1', 'geometry2'],
  relate: ['geometry1', 'geometry2'],
  equals: ['geometry1', 'geometry2'],
  disjoint: ['geometry1', 'geometry2'],
  touches: ['geometry1', 'geometry2'],
  crosses: ['geometry1', 'geometry2'],
  overlaps: ['geometry1', 'geometry2'],
  covers: ['geometry1', 'geometry2'],
  coveredBy: ['geometry1', 'geometry2'],
  direct: ['from'],
  waypoints: ['from', 'to'],
  nearest: ['from', 'to'],
  buffer: ['geometry'],
  repair: ['geometry'],
} as const

export type Operation = keyof typeof OPERATION_INPUTS

/** Options whose value is a member of the requests of some operations. */
const MEMBER_OPTIONS = {
  radius: { flag: '--radius <meters>', member: 'radius', neededBy: ['within', 'buffer'], takenBy: [] },
  pattern: { flag: '--pattern <pattern>', member: 'pattern', neededBy: [], takenBy: ['relate'] },
  edges: { flag: '--edges <kind>', member: 'edges', neededBy: [], takenBy: ['contains', 'intersects'] },
  azimuth: { flag: '--azimuth <degrees>', member: 'azimuthDegrees', neededBy: ['direct'], takenBy: [] },
  distance: { flag: '--distance <meters>', member: 'distanceMeters', neededBy: ['direct'], takenBy: [] },
  every: { flag: '--every <meters>', member: 'everyMeters', neededBy: ['waypoints'], takenBy: [] },
  tolerance: { flag: '--tolerance <meters>', member: 'toleranceMeters', neededBy: [], takenBy: ['buffer'] },
} as const satisfies Record<
  string,
  { flag: string; member: string; neededBy: readonly Operation[]; takenBy: readonly Operation[] }
>

export type MemberOptions = {
  readonly [name in keyof typeof MEMBER_OPTIONS]?: name extends 'pattern' | 'edges' ? string : number
}

/** Adds the options of `MEMBER_OPTIONS` to a verb. @param inFile `, if the file has none` for a file of items */
export function withMembers(command: Command, inFile = ''): Command {
  const unlessGiven = inFile === '' ? 'print the matrix, unsigned' : 'the matrix'
  return command
    .option('--radius <meters>', `radius of within and buffer${inFile}`, numberBetween(0, 20_037_508))
    .option('--pattern <pattern>', `pattern of relate (default: ${unlessGiven})`, matrixPattern)
    .addOption(
      new Option('--edges <kind>', 'edges of contains and intersects (default: straight in lon and lat)').choices([
        'geodesic',
      ]),
    )
    .option('--azimuth <degrees>', `direction of direct, clockwise from north${inFile}`, numberBetween(-360, 360))
    .option('--distance <meters>', `length of direct${inFile}`, numberBetween(0, 20_037_508))
    .option('--every <meters>', `distance between waypoints${inFile}`, numberBetween(0, 20_037_508))
    .option('--tolerance <meters>', 'error of buffer (default: radius / 1000)', numberBetween(0, 20_037_508))
}

/**
 * Returns the members of a request that come from options.
 *
 * @param isComplete true if every member that the operation needs must be an option
 * @throws {CommandError} if the operation takes no such option, or needs one that is missing
 */
export function optionMembers(
  operation: Operation | 'mixed',
  options: MemberOptions,
  isComplete: boolean,
): Readonly<Record<string, number | string>> {
  const members: Record<string, number | string> = {}
  for (const [name, { flag, member, neededBy, takenBy }] of Object.entries(MEMBER_OPTIONS)) {
    const value = options[name as keyof MemberOptions]
    const isNeeded = neededBy.some((needing) => needing === operation)
    if (value === undefined) {
      if (isNeeded && isComplete) throw usage(`${operation} needs ${flag}`)
      continue
    }
    if (!isNeeded && operation !== 'mixed' && !takenBy.some((taking) => taking === operation))
      throw usage(`${operation} takes no ${flag.split(' ')[0]}`)
    members[member] = value
  }
  return members
}

export const OPERATION_NAMES = Object.keys(OPERATION_INPUTS) as readonly Operation[]

/** Creates the option for the input format, for inputs whose name and beginning do not show it. */
export function formatOption(): Option {
  return new Option('--format <name>', 'format of the input (default: detected from its name and beginning)').choices(
    FORMATS,
  )
}
