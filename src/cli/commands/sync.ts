import type { SyncResponse, SyncStatus } from '../../client/answers.ts'
import { ApiError, createTransport, sleep, type Transport } from '../../client/transport.ts'
import { isThisMachine } from '../../config/setting.ts'
import { CommandError, EXIT, type ExitCode } from '../exit-codes.ts'
import { type ServerOptions, transportOptions } from '../options.ts'
import { formatCount, outJson, printable, progressText, type Terminal } from '../terminal.ts'

export interface SyncVerbOptions extends ServerOptions {
  readonly status?: boolean
  readonly follow?: boolean
  readonly revocations?: boolean
  readonly worker?: 'start' | 'stop'
  readonly wait: number
  readonly secret?: string
  readonly json?: boolean
}

/** Members of a chain's status that the wire contract does not have. */
interface ChainStatus {
  readonly block: number | null
  readonly head: number | null
  readonly lagBlocks: number | null
  readonly lagSeconds: number | null
  readonly quarantined: number
}
type FullStatus = SyncStatus & { readonly chains?: Readonly<Record<string, ChainStatus>> }

const POLL_MS = 500
const LINE_INTERVAL_MS = 10_000

/** Runs `trigpoint sync`. The service reads from its checkpoint, so an interrupted command loses nothing. */
export async function runSync(
  chain: string | undefined,
  options: SyncVerbOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const api = createSyncApi(options, terminal)
  try {
    if (options.worker !== undefined)
      return await printMessage(await api.post(`/api/sync/worker?action=${options.worker}`), options, terminal)
    if (options.revocations === true)
      return await printMessage(await api.post('/api/sync/revocations'), options, terminal)
    if (options.status !== true) {
      await start(api, chain)
      await watch(api, chain, options, terminal)
    }
    const status = await api.status()
    if (options.json === true) await outJson(terminal, status)
    else await terminal.out(statusText(status, chain))
    return EXIT.ok
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error
    const remedy =
      'give the CRON_SECRET of the service with --secret; in production this is needed on its own machine too'
    throw new CommandError(EXIT.auth, `${error.problem.title}: ${error.problem.detail}\n  ${remedy}`, { cause: error })
  }
}

type SyncApi = ReturnType<typeof createSyncApi>

function createSyncApi(options: SyncVerbOptions, terminal: Terminal) {
  const service = transportOptions(options, terminal)
  const transport: Transport = createTransport(service)
  // If the environment has the settings of the service, as under systemd, it has the secret too. No other machine gets the secret.
  const ownSecret = isThisMachine(service.baseUrl) ? terminal.env['CRON_SECRET'] : undefined
  const secret = options.secret ?? (terminal.env['TRIGPOINT_CRON_SECRET'] || ownSecret)
  const headers = secret ? { authorization: `Bearer ${secret}` } : {}
  const call = { signal: terminal.signal }
  return {
    status: () => transport.json<FullStatus>({ method: 'GET', path: '/api/sync/status', headers }, call),
    post: (path: string) => transport.json<SyncResponse>({ method: 'POST', path, headers, mayRepeat: false }, call),
  }
}

/** Starts reading. A read that is already running (409) is fine. */
async function start(api: SyncApi, chain: string | undefined): Promise<void> {
  const { supportedChains } = await api.status()
  if (supportedChains.length === 0) {
    throw new CommandError(EXIT.config, 'the service reads no chains: start it with RPC_URL_<chainId>=https://…')
  }
  try {
    await api.post(`/api/sync${chain === undefined ? '' : `?chain=${encodeURIComponent(chain)}`}`)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
  }
}

async function watch(
  api: SyncApi,
  chain: string | undefined,
  { wait, follow }: SyncVerbOptions,
  terminal: Terminal,
): Promise<void> {
  const startedMs = terminal.now()
  const firstBlocks = new Map<string, number>()
  let drawnLines = 0
  let shownMs = startedMs - LINE_INTERVAL_MS
  for (;;) {
    const chains = chainsOf(await api.status(), chain)
    for (const [name, { block }] of chains) if (block !== null && !firstBlocks.has(name)) firstBlocks.set(name, block)
    const isAtHead = chains.length > 0 && chains.every(([, { lagBlocks }]) => lagBlocks === 0)
    const nowMs = terminal.now()
    if (terminal.isInteractive || nowMs - shownMs >= LINE_INTERVAL_MS || isAtHead) {
      const lines = chains.map(([name, state]) =>
        chainLine(name, state, firstBlocks.get(name), (nowMs - startedMs) / 1000),
      )
      const cursorUp = drawnLines > 0 && terminal.isInteractive ? `\u001b[${drawnLines}A` : ''
      terminal.err(
        cursorUp + lines.map((line) => `${printable(line)}${terminal.isInteractive ? '\u001b[K' : ''}\n`).join(''),
      )
      drawnLines = lines.length
      shownMs = nowMs
    }
    if (isAtHead && follow !== true) return
    if (nowMs - startedMs > wait * 1000) {
      throw new CommandError(
        EXIT.network,
        `not at the head after ${wait} s; the service continues: trigpoint sync --status`,
      )
    }
    await sleep(POLL_MS, terminal.signal)
  }
}

function chainsOf({ chains = {} }: FullStatus, chain: string | undefined): [string, ChainStatus][] {
  return Object.entries(chains).filter(([name]) => chain === undefined || name === chain)
}

function chainLine(name: string, { block, head }: ChainStatus, first: number | undefined, seconds: number): string {
  if (block === null || head === null) return `${name.padEnd(14)} not read yet`
  const share = head === 0 ? 1 : block / head
  const firstShare = head === 0 ? 0 : (first ?? block) / head
  const progress = progressText(
    { done: block - (first ?? block), share, note: undefined },
    'block',
    seconds,
    firstShare,
  )
  return `${name.padEnd(14)} ${progress}  block ${block.toLocaleString('en-US')} of ${head.toLocaleString('en-US')}`
}

function statusText(status: FullStatus, chain: string | undefined): string {
  const lines = chainsOf(status, chain).map(([name, { block, head, lagBlocks, quarantined }]) => {
    const records = status.attestations.byChain[name] ?? 0
    const progress =
      block === null
        ? 'not read yet'
        : `block ${block.toLocaleString('en-US')} of ${head?.toLocaleString('en-US') ?? '?'} (${lagBlocks ?? '?'} behind)`
    const quarantineText = quarantined > 0 ? `, ${quarantined} in quarantine` : ''
    return `${name.padEnd(14)} ${progress}, ${formatCount(records, 'record')}${quarantineText}\n`
  })
  const errors = status.recentErrors
    .slice(0, 5)
    .map(({ timestamp, chain: name, message }) => `! ${timestamp} ${name}: ${message}\n`)
  return lines.length === 0
    ? `no chain is read${chain === undefined ? '' : ` with the name ${chain}`}\n`
    : [...lines, ...errors].join('')
}

async function printMessage(response: SyncResponse, { json }: SyncVerbOptions, terminal: Terminal): Promise<ExitCode> {
  if (json === true) await outJson(terminal, response)
  else await terminal.out(`${response.message}\n`)
  return EXIT.ok
}
