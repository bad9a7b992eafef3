import { Argument, Command, CommanderError, Option } from 'commander'
import { version } from '../base/version.ts'
import { helpText, SERVICE_FLAGS } from './arguments.ts'
import type { Shell } from './commands/completions.ts'
import { EXIT, type ExitCode, exitForError } from './exit-codes.ts'
import {
  collectOption,
  DEFAULT_CHAIN_ID,
  formatOption,
  hexBytes,
  integerBetween,
  numberBetween,
  OPERATION_NAMES,
  type ServerOptions,
  transportOptions,
  withChain,
  withExamples,
  withJson,
  withServer,
} from './options.ts'
import { printable, type Terminal } from './terminal.ts'

function addBatch(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('batch')
    .description('run one operation on every item of a file, in order; resumes after an interruption')
    .addArgument(
      new Argument('<operation>', 'operation to run; mixed: each line names it as "op"').choices([
        ...OPERATION_NAMES,
        'mixed',
      ]),
    )
    .argument('<file>', 'lines of JSON, GeoJSON, WKT, CSV or GPX; - for standard input')
    .option('-o, --output <file>', 'file for the results, one per line; - for standard output', '-')
    .option('--errors <file>', 'file for rejected items, with the reason (default: next to the output)')
    .option('--with <member=input>', 'the other input, the same for all items: --with target=2.3522,48.8566')
    .option('--radius <meters>', 'radius of within, if the file has none', numberBetween(0, 20_037_508))
    .addOption(new Option('--attest <how>', 'sign each result or none').choices(['each', 'none']))
    .option('--recipient <address>', 'recipient of the results', hexBytes(20))
    .option('--concurrency <number>', 'number of concurrent requests', integerBetween(1, 64), 2)
    .option('--chunk <items>', 'items per request', integerBetween(1, 10_000), 256)
    .option('--restart', 'start again and overwrite the results of an earlier run')
    .option('--local', 'compute in this process, without a service, and sign with the development key')
    .option('--data <folder>', 'folder of the development key of --local (default: DATA_DIR, or ./.data)')
    .addOption(formatOption())
    .option('--columns <names>', 'columns of a table without a header: lon,lat')
  withServer(withChain(withJson(command)))
  withExamples(
    command,
    'trigpoint batch area parcels.geojson -o areas.ndjson',
    'trigpoint batch within stops.csv --with target=2.3522,48.8566 --radius 500 -o near.ndjson',
    'trigpoint batch contains points.csv --with container=city.geojson --attest none -o inside.ndjson',
    'trigpoint batch mixed requests.ndjson -o answers.ndjson   # {"op":"distance","from":…,"to":…}',
    '',
    'While it runs, answers.ndjson.part records the progress. Run the same command again to resume',
    'after any interruption: no result is lost or duplicated.',
  )
  command.action(async (operation, file, options) => {
    const { runBatch } = await import('./commands/batch.ts')
    finish(await runBatch(operation, file, options, terminal))
  })
}

function addBench(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('bench')
    .description('load: send requests as fast as the service answers, and check 1 % of the signatures')
    .addArgument(new Argument('<what>', 'load; ops is `npm run bench` in a checkout').choices(['load', 'ops']))
    .option('--seconds <number>', 'duration', numberBetween(0.1, 3600), 10)
    .option('--concurrency <number>', 'number of concurrent requests', integerBetween(1, 1024), 16)
  withServer(withChain(withJson(command)))
  withExamples(command, 'trigpoint bench load --seconds 10 --api-key tp_int_…')
  command.action(async (what, options) => {
    const { runBench } = await import('./commands/bench.ts')
    finish(await runBench(what, options, terminal))
  })
}

function addCompute(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('compute')
    .description('compute a signed distance, area, length, contains, within or intersects')
    .addArgument(new Argument('<operation>', 'operation to run').choices(OPERATION_NAMES))
    .argument('<inputs...>', 'lon,lat, WKT, h3:…, geohash:…, JSON, 0x…uid, a file (GeoJSON, WKT, CSV, GPX), file#2, -')
    .option('--radius <meters>', 'radius of within', numberBetween(0, 20_037_508))
    .option('--local', 'compute in this process, without a service, and sign with the development key')
    .option('--data <folder>', 'folder of the development key of --local (default: DATA_DIR, or ./.data)')
    .option('--recipient <address>', 'recipient of the result', hexBytes(20))
    .option('--schema <uid>', 'attestation schema (default: that of the operation)', hexBytes(32))
    .option('--result-signature', 'also return a signature that contracts can check without EAS')
    .addOption(formatOption())
    .option('--columns <names>', 'columns of a table without a header: lon,lat')
  withServer(withChain(withJson(command)))
  withExamples(
    command,
    'trigpoint compute distance 2.2945,48.8584 2.3522,48.8566',
    'trigpoint compute length walk.gpx#1 --local',
    "trigpoint compute within 2.2945,48.8584 'POINT (2.3522 48.8566)' --radius 5000 --json",
    'ogr2ogr -f GeoJSON /vsistdout/ parks.shp | trigpoint compute area -',
  )
  command.action(async (operation, inputs, options) => {
    const { runCompute } = await import('./commands/compute.ts')
    finish(await runCompute(operation, inputs, options, terminal))
  })
}

function addCompletions(program: Command, terminal: Terminal): void {
  const command = program
    .command('completions')
    .description('print completions of verbs, options and their values for a shell')
    .addArgument(new Argument('<shell>', 'shell').choices(['bash', 'zsh', 'fish']))
  withExamples(
    command,
    'source <(trigpoint completions bash)',
    'source <(trigpoint completions zsh)',
    'trigpoint completions fish > ~/.config/fish/completions/trigpoint.fish',
  )
  command.action(async (shell: Shell) => {
    const { completionScript } = await import('./commands/completions.ts')
    await terminal.out(completionScript(shell, program))
  })
}

function addDoctor(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('doctor')
    .description('check whether a service can run here with this environment, and say how to fix it')
    .option('--data <folder>', 'folder of keys and data (default: DATA_DIR, or ./.data)')
  withJson(command)
  withExamples(command, 'trigpoint doctor', 'RPC_URL_84532=https://… NODE_ENV=production trigpoint doctor --json')
  command.action(async (options) => {
    const { runDoctor } = await import('./commands/doctor.ts')
    finish(await runDoctor(options, terminal))
  })
}

function addKeygen(program: Command, terminal: Terminal): void {
  const command = program
    .command('keygen')
    .description('generate a signing key (secp256k1) and store it in a file')
    .option('--out <file>', 'write the key to a new file that only its owner can read')
    .option('--keystore <file>', 'write the key to an encrypted keystore (version 3, scrypt); needs --password-file')
    .option('--password-file <file>', 'file with the password of the keystore')
    .option('--mnemonic', "generate 12 English words (BIP-39) and use key m/44'/60'/0'/0/0")
    .option('--reveal', 'print the secret (by default it is not printed)')
  withJson(command)
  withExamples(
    command,
    'trigpoint keygen --out signer.key',
    'trigpoint keygen --keystore signer.json --password-file password.txt   # SIGNER_KEYSTORE, SIGNER_PASSWORD_FILE',
    'trigpoint keygen --mnemonic --reveal',
  )
  command.action(async (options) => {
    const { runKeygen } = await import('./commands/keygen.ts')
    await runKeygen(options, terminal)
  })
}

function addKeys(program: Command, terminal: Terminal, finish: Finish): void {
  const keys = program.command('keys').description('API keys of the service on this machine: add, list, revoke')
  const add = keys
    .command('add')
    .description('create a key and show it once; only its SHA-256 is stored')
    .addArgument(new Argument('<tier>', 'tier, which sets the hourly limit').choices(['developer', 'internal']))
    .option('--label <text>', 'label, such as the owner of the key', 'unnamed')
  withExamples(add, "trigpoint keys add developer --label 'map of the city'")
  withFile(add).action(async (tier, options) => {
    const { addKey } = await import('./commands/keys.ts')
    await addKey(tier, options, terminal)
  })
  withFile(keys.command('list').description('list all keys, without their secrets')).action(async (options) => {
    const { listKeys } = await import('./commands/keys.ts')
    await listKeys(options, terminal)
  })
  const revoke = keys
    .command('revoke')
    .description('revoke a key; takes effect within a second')
    .argument('<id>', 'ID as shown by list, or the key itself')
  withFile(revoke).action(async (id, options) => {
    const { revokeKey } = await import('./commands/keys.ts')
    finish(await revokeKey(id, options, terminal))
  })
}

function withFile(command: Command): Command {
  return withJson(command)
    .option('--data <folder>', 'data folder of the service (default: DATA_DIR, or ./.data)')
    .option('--file <file>', 'file with the keys (default: API_KEYS_FILE, or api-keys.json in the data folder)')
}

function addMcp(program: Command, terminal: Terminal): void {
  const command = program
    .command('mcp')
    .description('run an MCP server (Model Context Protocol) over standard input and output: docs/mcp.md')
    .option('--local', 'compute in this process, unsigned, without a service')
  withServer(withChain(command))
  withExamples(command, 'trigpoint mcp --url http://127.0.0.1:3000', 'trigpoint mcp --local')
  command.action(async (options) => {
    const { baseUrl: url, apiKey, fetch } = transportOptions(options, terminal)
    const { serveMcp } = await import('../mcp/serve.ts')
    await serveMcp({ url, apiKey, fetch, chainId: options.chainId ?? DEFAULT_CHAIN_ID, local: options.local })
  })
}

function addOpenApi(program: Command, terminal: Terminal): void {
  const command = program
    .command('openapi')
    .description('print the OpenAPI 3.1 document of this version or, with --url, of a service')
  withServer(command)
  withExamples(command, 'trigpoint openapi > openapi.json', 'trigpoint openapi --url http://127.0.0.1:3000')
  command.action(async (options) => {
    const document =
      options.url === undefined && !terminal.env['TRIGPOINT_URL']
        ? (await import('../http/openapi/document.ts')).openApiDocument()
        : await fetchOpenApi(options, terminal)
    await terminal.out(`${JSON.stringify(document, null, 2)}\n`)
  })
}

async function fetchOpenApi(options: ServerOptions, terminal: Terminal): Promise<unknown> {
  const { createTransport } = await import('../client/transport.ts')
  const transport = createTransport(transportOptions(options, terminal))
  return transport.json({ method: 'GET', path: '/openapi.json' }, { signal: terminal.signal })
}

function addPluginTest(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('plugin-test')
    .description('test a plugin before you add it with --plugin of serve')
    .argument('<module>', 'file of the module')
  withExamples(command, 'trigpoint plugin-test ./barometer.mjs')
  command.action(async (file) => {
    const { testPlugin } = await import('./commands/plugin-test.ts')
    finish(await testPlugin(file, terminal))
  })
}

function addRecords(program: Command, terminal: Terminal): void {
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
    const { listRecords } = await import('./commands/records.ts')
    await listRecords(options, terminal)
  })
  const get = records.command('get').description('print one record').argument('<uid>', 'UID of the attestation')
  withExamples(withServer(get.addOption(recordFormat())), 'trigpoint records get 0x… --format geojson')
  get.action(async (uid, options) => {
    const { getRecord } = await import('./commands/records.ts')
    await getRecord(uid, options, terminal)
  })
  const all = records
    .command('export')
    .description('write every record that matches, as a stream')
    .option('-o, --output <file>', 'file for the records; - for standard output', '-')
    .addOption(recordFormat({ fgb: 'fgb (FlatGeobuf)', parquet: 'parquet (GeoParquet)' }))
  withExamples(
    withServer(withFilters(all)),
    'trigpoint records export > records.ndjson',
    'trigpoint records export --chain celo --format csv > celo.csv',
    'trigpoint records export --bbox 170,-50,-170,-30 --format fgb -o pacific.fgb',
  )
  all.action(async (options) => {
    const { exportRecords } = await import('./commands/records.ts')
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

function addStamp(program: Command, terminal: Terminal): void {
  const stamp = program.command('stamp').description('create and sign location stamps for tests; they prove nothing')
  const create = stamp
    .command('create')
    .description('create a stamp of the mock plugin, signed if a key is given')
    .requiredOption('--at <place>', 'lon,lat, WKT, GeoJSON or a file')
    .option('--start <time>', 'ISO 8601 or Unix seconds (default now)')
    .option('--seconds <number>', 'duration of the observation', numberBetween(0, 31_536_000), 60)
    .option('--accuracy <meters>', 'value of the signal accuracy', numberBetween(0, 1_000_000), 10)
    .option('--plugin <name>', 'plugin of the stamp', 'mock')
    .option('--signal <name=value>', 'additional signal, JSON or text; can be repeated', collectOption)
  withKey(create)
  withExamples(
    create,
    'trigpoint stamp create --at 2.2945,48.8584 --key signer.key',
    'trigpoint stamp create --at 2.2945,48.8584 --key 0x…01 --start 2026-01-01T00:00:00Z   # the same every time',
  )
  create.action(async (options) => {
    const { createStamp } = await import('./commands/stamp.ts')
    await createStamp(options, terminal)
  })
  const sign = stamp
    .command('sign')
    .description('add a signature to a stamp')
    .argument('<stamp>', 'file with the stamp, or -')
    .option('--replace', 'remove existing signatures')
  withKey(sign)
  withExamples(sign, 'trigpoint stamp sign stamp.json --key signer.key | trigpoint verify -')
  sign.action(async (file, options) => {
    const { signStampFile } = await import('./commands/stamp.ts')
    await signStampFile(file, options, terminal)
  })
}

/** Adds the options for a key. It should be a file, because every user of the machine can see the command line. */
function withKey(command: Command): Command {
  return command
    .option('--key <key>', 'key file (keygen, keystore, dev-signer.json); 0x… only for tests: process lists show it')
    .option('--password-file <file>', 'file with the password of a keystore')
}

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

function addSchema(program: Command, terminal: Terminal): void {
  const schema = program.command('schema').description('attestation schemas: list, compute a UID, register')
  const list = schema.command('list').description('list the schemas of signed results')
  withJson(list).action(async (options) => {
    const { listSchemas } = await import('./commands/schema.ts')
    await listSchemas(options, terminal)
  })
  const uid = schema.command('uid').description('compute the UID of a schema, which is the same in every EAS registry')
  withText(uid)
  withJson(uid)
  withExamples(uid, "trigpoint schema uid 'uint256 result,string units'", 'trigpoint schema uid boolean --resolver 0x…')
  uid.action(async (text, options) => {
    const { printSchemaUid } = await import('./commands/schema.ts')
    await printSchemaUid(text, options, terminal)
  })
  const register = schema.command('register').description('register a schema on a chain, in a transaction')
  withText(register)
    .requiredOption('--rpc <address>', 'RPC URL of the chain')
    .option('--registry <address>', 'SchemaRegistry address, for a chain that is not built in', hexBytes(20))
  withJson(withKey(register))
  withExamples(register, 'trigpoint schema register numeric --rpc http://127.0.0.1:8545 --key payer.key')
  register.action(async (text, options) => {
    const { registerSchema } = await import('./commands/schema.ts')
    await registerSchema(text, options, terminal)
  })
}

function withText(command: Command): Command {
  return command
    .argument('<schema>', 'schema string, or numeric, boolean, verify, merkle-root, location')
    .option('--resolver <address>', 'resolver contract of the schema', hexBytes(20), ZERO_ADDRESS)
    .option('--no-revocable', 'attestations under this schema cannot be revoked')
}

/** Adds `serve` to the help. The service parses its own options, before this program runs. */
function addServe(program: Command, terminal: Terminal): void {
  const command = program
    .command('serve')
    .description('run the service, as npm start does')
    .helpOption(false)
    .allowUnknownOption()
  for (const [flag, help] of SERVICE_FLAGS) command.option(flag, help)
  command.action(() => terminal.out(helpText()))
}

function addSync(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('sync')
    .description('make a service read its chains to their heads, and watch; runs on the machine of the service')
    .argument('[chain]', 'one chain, such as base-sepolia (default: all)')
    .option('--status', 'print the status and exit')
    .option('--follow', 'keep watching')
    .option('--revocations', 'check every valid record for revocation on its chain')
    .addOption(new Option('--worker <action>', 'start or stop reading in the background').choices(['start', 'stop']))
    .option('--wait <seconds>', 'longest wait until the heads are reached', numberBetween(1, 604_800), 3600)
    .option('--secret <token>', 'CRON_SECRET of a service on another machine (default: TRIGPOINT_CRON_SECRET)')
  withServer(withJson(command))
  withExamples(
    command,
    'trigpoint sync',
    'trigpoint sync base-sepolia --json',
    'trigpoint sync --status',
    'trigpoint sync --worker stop',
  )
  command.action(async (chain, options) => {
    const { runSync } = await import('./commands/sync.ts')
    finish(await runSync(chain, options, terminal))
  })
}

function addVerify(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('verify')
    .description('verify a result, a batch, a proof or a stamp, check by check')
    .argument('<file>', 'a file, or - for standard input; several results as lines of JSON')
    .option('--attester <address>', 'expected signer; can be repeated', collectOption)
    .option('--issuer <file>', 'your copy of /.well-known/attester.json, or the URL of a service')
    .option('--chain-id <id>', 'expected chain', integerBetween(1, Number.MAX_SAFE_INTEGER))
    .option(
      '--geometry <input>',
      'input of the request, as in compute; repeat it in the order of the request',
      collectOption,
    )
    .option('--recompute', 'recompute the result; needs --geometry')
    .option('--batch <file>', 'the batch of an item with a Merkle proof')
    .option('--rpc <address>', 'RPC URL to check the chain too: contract, schema, nonce, simulation')
    .option('--allow-expired', 'accept a deadline that has passed')
    .option('--nonce <number>', 'nonce of a bare attestation', integerBetween(0, Number.MAX_SAFE_INTEGER))
    .option('--deadline <seconds>', 'deadline of a bare attestation', integerBetween(0, 2 ** 48))
    .addOption(formatOption())
  withJson(command)
  withExamples(
    command,
    'trigpoint verify answer.json --attester 0xDe20EEBf65d712AF3816d75Aa4f8FaA522C81002',
    'trigpoint verify answer.json --geometry 2.2945,48.8584 --geometry 2.3522,48.8566 --recompute',
    'trigpoint verify item.json --batch batch.json --issuer attester.json',
    'trigpoint verify results.ndjson --issuer http://127.0.0.1:3000',
  )
  command.action(async (file, options) => {
    const { runVerify } = await import('./commands/verify.ts')
    finish(await runVerify(file, options, terminal))
  })
}

/** Width of the help when standard output is not a terminal. */
const HELP_COLUMNS = 80

/** Sets the exit code of a verb that ran without an error. */
type Finish = (exitCode: ExitCode) => void

/**
 * Runs one verb.
 *
 * Only the modules of the verb are loaded, so that the help takes a tenth of a second.
 *
 * @param argv arguments without the program name
 * @returns the exit code; never throws
 */
export async function runCommandLine(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.ok
  const finish: Finish = (code) => {
    exitCode = code
  }
  try {
    await createProgram(terminal, finish).parseAsync(argv.map(protectCoordinates), { from: 'user' })
    return exitCode
  } catch (error) {
    // Commander has printed the message already. Help is a success; everything else is an invalid command line.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usageError
    if (terminal.signal.aborted && error === terminal.signal.reason) {
      terminal.err(`trigpoint: ${(error as Error).message}\n`)
      return EXIT.interrupted
    }
    const exit = exitForError(error)
    terminal.err(printable(`trigpoint: ${exit.text}\n`))
    return exit.exitCode
  }
}

/** Puts a space before an argument such as `-73.98,40.75`, so that it is not taken for an option. */
function protectCoordinates(text: string): string {
  return /^-[\d.]+[\d.eE+-]*\s*,/.test(text) ? ` ${text}` : text
}

function createProgram(terminal: Terminal, finish: Finish): Command {
  const program = new Command('trigpoint')
  // Before any verb is added, because verbs inherit these settings.
  program
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.out(text),
      writeErr: terminal.err,
      getOutHelpWidth: () => terminal.columns ?? HELP_COLUMNS,
      getErrHelpWidth: () => terminal.columns ?? HELP_COLUMNS,
    })
    .showHelpAfterError('(see --help)')
    .description('Answers spatial questions with signed facts, and verifies them.')
    .version(version, '--version', 'print the version')
    .helpOption('-h, --help', 'print this text')
    .helpCommand('help [verb]', 'print the help of a verb')
  for (const add of VERBS) add(program, terminal, finish)
  return withExamples(
    program,
    'trigpoint serve --chain',
    'trigpoint compute distance 2.2945,48.8584 2.3522,48.8566 --local',
    'trigpoint compute area park.geojson --json | trigpoint verify - --geometry park.geojson',
  ).addHelpText('after', EXIT_CODES)
}

const EXIT_CODES = `Exit codes:
0 success, 1 check failed, 2 usage error, 3 no response, 4 key rejected,
5 hourly limit reached, 70 internal error, 78 invalid configuration

\`-\` is standard input. For more, see docs/command-line.md.
`

const VERBS: readonly ((program: Command, terminal: Terminal, finish: Finish) => void)[] = [
  addServe,
  addCompute,
  addBatch,
  addVerify,
  addStamp,
  addKeygen,
  addSchema,
  addSync,
  addRecords,
  addBench,
  addDoctor,
  addKeys,
  addCompletions,
  addMcp,
  addOpenApi,
  addPluginTest,
]
