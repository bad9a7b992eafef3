/** Verbs that run, read, measure and check a service. */

import { Argument, type Command, Option } from 'commander'
import { helpText, SERVICE_FLAGS } from '../arguments.ts'
import {
  DEFAULT_CHAIN_ID,
  type Finish,
  hexBytes,
  integerBetween,
  numberBetween,
  type ServerOptions,
  transportOptions,
  withChain,
  withExamples,
  withJson,
  withServer,
} from '../options.ts'
import type { Terminal } from '../terminal.ts'

/** Adds `serve` to the help. The service parses its own options, before this program runs. */
export function addServe(program: Command, terminal: Terminal): void {
  const command = program
    .command('serve')
    .description('run the service, as npm start does')
    .helpOption(false)
    .allowUnknownOption()
  for (const [flag, help] of SERVICE_FLAGS) command.option(flag, help)
  command.action(() => terminal.out(helpText()))
}

export function addSync(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('sync')
    .description('make a service read its chains to their heads, and watch; runs on the machine of the service')
    .argument('[chain]', 'one chain, such as base-sepolia (default: all)')
    .option('--status', 'print the status and exit')
    .option('--follow', 'keep watching')
    .option('--revocations', 'check every valid record for revocation on its chain')
    .addOption(new Option('--worker <action>', 'start or stop reading in the background').choices(['start', 'stop']))
    .option('--wait <seconds>', 'longest wait until the heads are reached', numberBetween(1, 604_800), 3600)
    .option(
      '--secret <token>',
      'CRON_SECRET of a service in production or on another machine (default: TRIGPOINT_CRON_SECRET)',
    )
  withServer(withJson(command))
  withExamples(
    command,
    'trigpoint sync',
    'trigpoint sync base-sepolia --json',
    'trigpoint sync --status',
    'trigpoint sync --worker stop',
  )
  command.action(async (chain, options) => {
    const { runSync } = await import('../commands/sync.ts')
    finish(await runSync(chain, options, terminal))
  })
}

export function addRecords(program: Command, terminal: Terminal): void {
  const records = program.command('records').description('records of a service: list, get, export')
  const list = records
    .command('list')
    .description('print the records that match, newest block first')
    .option('--limit <number>', 'largest number of records', integerBetween(1, 10_000_000), 100)
  withExamples(
    withServer(withFilters(list).addOption(recordFormat())),
    'trigpoint records list --chain base --from 2026-01-01 --limit 20',
    'trigpoint records list --bbox 170,-50,-170,-30 --format geojson > pacific.geojson',
  )
  list.action(async (options) => {
    const { listRecords } = await import('../commands/records.ts')
    await listRecords(options, terminal)
  })
  const get = records.command('get').description('print one record').argument('<uid>', 'UID of the attestation')
  withExamples(withServer(get.addOption(recordFormat())), 'trigpoint records get 0x… --format geojson')
  get.action(async (uid, options) => {
    const { getRecord } = await import('../commands/records.ts')
    await getRecord(uid, options, terminal)
  })
  const all = records
    .command('export')
    .description('write every record that matches, as a stream')
    .option('--filter <condition>', "a further condition in CQL2: revoked = FALSE AND chain <> 'celo'")
    .option('-o, --output <file>', 'file for the records; - for standard output', '-')
    .addOption(
      recordFormat({
        fgb: 'fgb (FlatGeobuf)',
        fgbz: 'fgbz (FlatGeobuf with heights)',
        parquet: 'parquet (GeoParquet)',
      }),
    )
  withExamples(
    withServer(withFilters(all)),
    'trigpoint records export > records.ndjson',
    'trigpoint records export --chain celo --format csv > celo.csv',
    'trigpoint records export --bbox 170,-50,-170,-30 --format fgb -o pacific.fgb',
    `trigpoint records export --filter "revoked = FALSE AND chain <> 'celo'" --format fgb -o valid.fgb`,
  )
  all.action(async (options) => {
    const { exportRecords } = await import('../commands/records.ts')
    await exportRecords(options, terminal)
  })
}

function withFilters(command: Command): Command {
  return command
    .option('--chain <name>', 'chain, such as base-sepolia')
    .option('--prover <address>', 'address of the attester', hexBytes(20))
    .option('--subject <address>', 'address of the recipient', hexBytes(20))
    .option('--from <time>', 'earliest event, ISO 8601')
    .option('--to <time>', 'latest event, ISO 8601')
    .option('--bbox <w,s,e,n>', 'box in degrees; with west > east it crosses the antimeridian')
}

/** @param more further formats with their descriptions */
function recordFormat(more: Readonly<Record<string, string>> = {}): Option {
  const formats = { json: 'json (one record per line)', geojson: 'geojson (one collection)', csv: 'csv', ...more }
  const descriptions = Object.values(formats)
  const last = descriptions.pop()
  return new Option('--format <name>', `${descriptions.join(', ')} or ${last}`)
    .choices(Object.keys(formats))
    .default('json')
}

export function addBench(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('bench')
    .description('load: send requests as fast as the service answers, and check 1 % of the signatures')
    .addArgument(new Argument('<what>', 'load; ops is `npm run bench` in a checkout').choices(['load', 'ops']))
    .option('--seconds <number>', 'duration', numberBetween(0.1, 3600), 10)
    .option('--concurrency <number>', 'number of concurrent requests', integerBetween(1, 1024), 16)
  withServer(withChain(withJson(command)))
  withExamples(command, 'trigpoint bench load --seconds 10 --api-key tp_int_…')
  command.action(async (what, options) => {
    const { runBench } = await import('../commands/bench.ts')
    finish(await runBench(what, options, terminal))
  })
}

export function addDoctor(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('doctor')
    .description('check whether a service can run here with this environment, and say how to fix it')
  withJson(withData(command))
  withExamples(command, 'trigpoint doctor', 'RPC_URL_84532=https://… NODE_ENV=production trigpoint doctor --json')
  command.action(async (options) => {
    const { runDoctor } = await import('../commands/doctor.ts')
    finish(await runDoctor(options, terminal))
  })
}

export function addStore(program: Command, terminal: Terminal, finish: Finish): void {
  const store = program.command('store').description('the embedded database on this machine: check, rebuild')
  const check = withData(store.command('check').description('read everything in the store of a stopped service'))
  withExamples(withJson(check), 'trigpoint store check')
  check.action(async (options) => {
    const { runStoreCheck } = await import('../commands/store.ts')
    finish(await runStoreCheck(options, terminal))
  })
  const rebuild = withData(
    store.command('rebuild').description('set a damaged store aside, and make a new one with what is still readable'),
  )
    .option('--backup <file>', 'restore the records from this backup (default: the service reads them from the chains)')
    .option('--force', 'also if the store is intact')
  withExamples(withJson(rebuild), 'trigpoint store rebuild', 'trigpoint store rebuild --backup records.gz')
  rebuild.action(async (options) => {
    const { runStoreRebuild } = await import('../commands/store.ts')
    finish(await runStoreRebuild(options, terminal))
  })
}

function withData(command: Command): Command {
  return command.option('--data <folder>', 'folder of keys and data (default: DATA_DIR, or ./.data)')
}

export function addMcp(program: Command, terminal: Terminal): void {
  const command = program
    .command('mcp')
    .description('run an MCP server (Model Context Protocol) over standard input and output: docs/mcp.md')
    .option('--local', 'compute in this process, unsigned, without a service')
  withServer(withChain(command))
  withExamples(command, 'trigpoint mcp --url http://127.0.0.1:3000', 'trigpoint mcp --local')
  command.action(async (options) => {
    const { baseUrl: url, apiKey, fetch } = transportOptions(options, terminal)
    const { serveMcp } = await import('../../mcp/serve.ts')
    await serveMcp({ url, apiKey, fetch, chainId: options.chainId ?? DEFAULT_CHAIN_ID, local: options.local })
  })
}

export function addOpenApi(program: Command, terminal: Terminal): void {
  const command = program
    .command('openapi')
    .description('print the OpenAPI 3.1 document of this version or, with --url, of a service')
  withServer(command)
  withExamples(command, 'trigpoint openapi > openapi.json', 'trigpoint openapi --url http://127.0.0.1:3000')
  command.action(async (options) => {
    const document =
      options.url === undefined && !terminal.env['TRIGPOINT_URL']
        ? (await import('../../http/openapi/document.ts')).openApiDocument()
        : await fetchOpenApi(options, terminal)
    await terminal.out(`${JSON.stringify(document, null, 2)}\n`)
  })
}

async function fetchOpenApi(options: ServerOptions, terminal: Terminal): Promise<unknown> {
  const { createTransport } = await import('../../client/transport.ts')
  const transport = createTransport(transportOptions(options, terminal))
  return transport.json({ method: 'GET', path: '/openapi.json' }, { signal: terminal.signal })
}

export function addPluginTest(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('plugin-test')
    .description('test a plugin before you add it with --plugin of serve')
    .argument('<module>', 'file of the module')
  withExamples(command, 'trigpoint plugin-test ./barometer.mjs')
  command.action(async (file) => {
    const { testPlugin } = await import('../commands/plugin-test.ts')
    finish(await testPlugin(file, terminal))
  })
}
