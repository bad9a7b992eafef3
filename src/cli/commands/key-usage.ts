import { ApiError, createTransport } from '../../client/transport.ts'
import type { KeyUsage } from '../../service/usage/usage-api.ts'
import { CommandError, exitForError } from '../exit-codes.ts'
import { type ServerOptions, transportOptions } from '../options.ts'
import { outJson, type Terminal } from '../terminal.ts'

export interface UsageOptions extends ServerOptions {
  readonly from?: string
  readonly to?: string
  readonly csv?: boolean
  readonly json?: boolean
}

/**
 * Runs `trigpoint keys usage`.
 *
 * @param id of a key; undefined for the key that asks
 * @throws {CommandError} that says which key is needed, if the service rejected the one that was sent, or none was
 */
export async function printUsage(id: string | undefined, options: UsageOptions, terminal: Terminal): Promise<void> {
  try {
    await print(id, options, terminal)
  } catch (error) {
    const isRejected = error instanceof ApiError && (error.status === 401 || error.status === 403)
    if (!isRejected) throw error
    const { exitCode, text } = exitForError(error)
    throw new CommandError(exitCode, `${text}\n  ${id === undefined ? OWN_KEY_HINT : ADMIN_KEY_HINT}`, { cause: error })
  }
}

const OWN_KEY_HINT =
  'give the key whose usage you want with --api-key or TRIGPOINT_API_KEY, or name its ID and give a key with the scope admin'
const ADMIN_KEY_HINT =
  'give a key with the scope admin with --api-key or TRIGPOINT_API_KEY; on the machine of the service, `trigpoint keys add internal --scopes admin` makes one'

async function print(id: string | undefined, options: UsageOptions, terminal: Terminal): Promise<void> {
  const { from, to, csv, json } = options
  const query = new URLSearchParams({
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    format: csv === true ? 'csv' : 'json',
  })
  const route = id === undefined ? '/account/usage' : `/admin/keys/${encodeURIComponent(id)}/usage`
  const call = { method: 'GET', path: `${route}?${query}` } as const
  const transport = createTransport(transportOptions(options, terminal))
  if (csv === true) {
    for await (const piece of (await transport.open(call)).pieces()) await terminal.out(Buffer.from(piece).toString())
    return
  }
  const usage = await transport.json<KeyUsage>(call)
  if (json === true) return outJson(terminal, usage)
  const rows = usage.usage.map((row) => [
    row.day,
    row.kind,
    ...[row.requests, row.operations, row.bytes, row.vertices, row.cpuMs, row.errors4xx, row.errors5xx].map(String),
  ])
  const table = [['day', 'kind', 'requests', 'operations', 'bytes', 'vertices', 'cpu-ms', '4xx', '5xx'], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  const pad = (cell: string, column: number) =>
    column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)
  await terminal.out(table.map((row) => `${row.map(pad).join('  ')}\n`).join(''))
  terminal.err(
    `${usage.from} to ${usage.to}, complete until ${usage.completeUntil ?? 'a first flush, which is still to come'}\n`,
  )
}
