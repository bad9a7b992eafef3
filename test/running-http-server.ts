/** A server of `src/http` on a free port, with services that the test provides. */

import type { Log, LogFields } from '../src/base/log.ts'
import { Metrics } from '../src/base/metrics.ts'
import { readConfig } from '../src/config/config.ts'
import { ApiKeys } from '../src/http/access/api-keys.ts'
import type { CountSharing } from '../src/http/access/shared-counts.ts'
import { type App, createApp } from '../src/http/app.ts'
import type { Route } from '../src/http/routes/route.ts'
import type { HttpServer } from '../src/http/transport/port.ts'
import { createHttpServer, loadInstalledUws } from '../src/http/transport/server.ts'
import { NO_JOBS } from '../src/service/jobs/jobs.ts'
import type { RecordFeeds, RecordService } from '../src/service/records/record-services.ts'
import type { Identity, Readiness, Services } from '../src/service/services.ts'
import { NO_STORED_GEOMETRIES } from '../src/service/stored/geometries.ts'
import { NO_SETS } from '../src/service/stored/sets.ts'

export type AdapterName = 'node' | 'uws'

const uws = loadInstalledUws([])
if (!uws.ok) console.warn(`skipped on uWebSockets.js: ${uws.reason}`)

const INSTALLED: readonly AdapterName[] = uws.ok ? ['node', 'uws'] : ['node']

/** The transports that run on this machine; only the default one in `npm test`, which is to be quick (scripts/test.mjs). */
export const ADAPTERS: readonly AdapterName[] =
  process.env['TEST_VARIANTS'] === 'default' ? INSTALLED.slice(-1) : INSTALLED

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly event: string
  readonly fields: LogFields
}

export interface RunningServer {
  readonly app: App
  readonly server: HttpServer
  readonly port: number
  readonly url: string
  readonly lines: readonly LogLine[]
  stop(): Promise<void>
}

export interface ServerParts {
  readonly env?: Readonly<Record<string, string>>
  readonly compute?: Services['compute']
  readonly computeRefusal?: Services['computeRefusal']
  readonly recordRefusal?: Services['recordRefusal']
  readonly openBatch?: Services['openBatch']
  readonly records?: RecordService
  readonly feeds?: RecordFeeds
  readonly graphql?: Services['graphql']
  readonly jobs?: Services['jobs']
  readonly readiness?: () => Readiness
  readonly now?: () => number
  readonly random?: () => number
  readonly moreRoutes?: readonly Route[]
  readonly shares?: CountSharing
}

export const IDENTITY: Identity = {
  attester: '0x590fdb53ed3f0B52694876d42367192a5336700F',
  purpose: 'development',
  version: '0.1.0',
  commit: 'abc1234',
  chains: [],
  retired: [],
}

/** Returns its request, so that a response can be matched with its request. */
export const echo: Services['compute'] = async (operation, body) => ({
  json: JSON.stringify({ operation, bytes: body.byteLength, body: Buffer.from(body).toString('latin1').slice(0, 300) }),
})

const noRecords: RecordService = {
  config: () => ({ json: '{}' }),
  list: async () => ({ json: Buffer.from('{}') }),
  record: async () => ({ json: '{}' }),
  stats: async () => ({ json: '{}' }),
}

const NO_KEYS: Services['keys'] = {
  list: async () => ({ json: '{}' }),
  add: async () => ({ json: '{}' }),
  rotate: async () => ({ json: '{}' }),
  revoke: async () => ({ json: '{}' }),
}

const noSync = async () => ({ status: 200, json: '{}' })

export async function startServer(adapter: AdapterName, parts: ServerParts = {}): Promise<RunningServer> {
  const config = readConfig(
    { HTTP_ADAPTER: adapter, RATE_LIMIT_PUBLIC: '1000000', LOG_SAMPLE_RATIO: '0', ...parts.env },
    2,
  )
  const lines: LogLine[] = []
  const write =
    (level: LogLine['level']) =>
    (event: string, fields: LogFields = {}) => {
      lines.push({ level, event, fields })
    }
  const log: Log = { info: write('info'), warn: write('warn'), error: write('error') }
  const services: Services = {
    compute: parts.compute ?? echo,
    accounts: undefined,
    isCrowded: () => parts.computeRefusal !== undefined || parts.recordRefusal !== undefined,
    computeRefusal: parts.computeRefusal ?? (() => undefined),
    recordRefusal: parts.recordRefusal ?? (() => undefined),
    batch: async (body, _context, sink) => void (await sink.write(`{"bytes":${body.byteLength}}`)),
    openBatch:
      parts.openBatch ??
      ((_query, _context, sink) => ({
        isFull: false,
        take: (bytes) => void sink.write(Buffer.from(bytes).toString('latin1')),
        end: async () => {},
      })),
    geometries: NO_STORED_GEOMETRIES,
    sets: NO_SETS,
    jobs: parts.jobs ?? NO_JOBS,
    keys: NO_KEYS,
    usage: { own: async () => ({ json: '{}' }), ofKey: async () => ({ json: '{}' }) },
    resign: async (body) => ({ json: `{"bytes":${body.byteLength}}` }),
    verifyStamp: async (body) => ({ json: `{"bytes":${body.byteLength}}` }),
    verifyProof: async (body) => ({ json: `{"bytes":${body.byteLength}}` }),
    submission: async (id) => ({ json: JSON.stringify({ id }) }),
    watchSubmission: async (id, _context, sink) => void (await sink.write(`data: ${id}\n\n`)),
    pluginsJson: '{"plugins":[]}',
    olderVerify: {
      stamp: async (body) => ({ json: `{"bytes":${body.byteLength}}` }),
      proof: async (body) => ({ json: `{"bytes":${body.byteLength}}` }),
      pluginsJson: '{"plugins":[]}',
    },
    records: parts.records ?? noRecords,
    ogc: {
      document: () => ({ json: '{}' }),
      collections: async () => ({ json: '{}' }),
      collection: async () => ({ json: '{}' }),
      queryables: () => ({ json: '{}' }),
      items: async () => ({ json: '{}' }),
      item: async () => ({ json: '{}' }),
    },
    sync: {
      trigger: noSync,
      revocations: noSync,
      worker: noSync,
      status: noSync,
      watch: async () => {},
      close: () => {},
    },
    feeds: parts.feeds ?? { export: async () => {}, stream: async () => {}, close: () => {} },
    graphql: parts.graphql,
    readiness:
      parts.readiness ?? (() => ({ ready: true, checks: { signer: { ok: true } }, database: { isConnected: true } })),
    identity: IDENTITY,
  }
  const app = createApp({
    config,
    services,
    log,
    metrics: new Metrics(),
    keys: new ApiKeys(config.apiKeys, false),
    now: parts.now ?? Date.now,
    random: parts.random ?? Math.random,
    extraRoutes: parts.moreRoutes ?? [],
    shares: parts.shares,
  })
  const server = createHttpServer(config, app.handler, log)
  const port = await server.listen('127.0.0.1', 0)
  return { app, server, port, url: `http://127.0.0.1:${port}`, lines, stop: () => server.close() }
}
