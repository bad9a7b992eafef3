/** Verbs for keys and what they sign: stamps, schemas and the API keys of a service. */

import { Argument, type Command } from 'commander'
import {
  collectOption,
  type Finish,
  hexBytes,
  integerBetween,
  numberBetween,
  withExamples,
  withJson,
  withServer,
} from '../options.ts'
import type { Terminal } from '../terminal.ts'

export function addStamp(program: Command, terminal: Terminal): void {
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
    const { createStamp } = await import('../commands/stamp.ts')
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
    const { signStampFile } = await import('../commands/stamp.ts')
    await signStampFile(file, options, terminal)
  })
}

/** Adds the options for a key. It should be a file, because every user of the machine can see the command line. */
function withKey(command: Command): Command {
  return command
    .option('--key <key>', 'key file (keygen, keystore, dev-signer.json); 0x… only for tests: process lists show it')
    .option('--password-file <file>', 'file with the password of a keystore')
}

export function addKeygen(program: Command, terminal: Terminal): void {
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
    'trigpoint keygen --keystore signer.json --password-file password.txt',
    'SIGNER_KEYSTORE=signer.json SIGNER_PASSWORD_FILE=password.txt trigpoint keygen   # also makes the password',
    'trigpoint keygen --mnemonic --reveal',
  )
  command.action(async (options) => {
    const { runKeygen } = await import('../commands/keygen.ts')
    await runKeygen(options, terminal)
  })
}

export function addSchema(program: Command, terminal: Terminal): void {
  const schema = program.command('schema').description('attestation schemas: list, compute a UID, register')
  const list = schema.command('list').description('list the schemas of signed results')
  withJson(list).action(async (options) => {
    const { listSchemas } = await import('../commands/schema.ts')
    await listSchemas(options, terminal)
  })
  const uid = schema.command('uid').description('compute the UID of a schema, which is the same in every EAS registry')
  withText(uid)
  withJson(uid)
  withExamples(uid, "trigpoint schema uid 'uint256 result,string units'", 'trigpoint schema uid boolean --resolver 0x…')
  uid.action(async (text, options) => {
    const { printSchemaUid } = await import('../commands/schema.ts')
    await printSchemaUid(text, options, terminal)
  })
  const register = schema.command('register').description('register a schema on a chain, in a transaction')
  withText(register)
    .requiredOption('--rpc <address>', 'RPC URL of the chain')
    .option('--registry <address>', 'SchemaRegistry address, for a chain that is not built in', hexBytes(20))
  withJson(withKey(register))
  withExamples(register, 'trigpoint schema register numeric --rpc http://127.0.0.1:8545 --key payer.key')
  register.action(async (text, options) => {
    const { registerSchema } = await import('../commands/schema.ts')
    await registerSchema(text, options, terminal)
  })
}

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

function withText(command: Command): Command {
  return command
    .argument('<schema>', 'schema string, or numeric, boolean, verify, merkle-root, location')
    .option('--resolver <address>', 'resolver contract of the schema', hexBytes(20), ZERO_ADDRESS)
    .option('--no-revocable', 'attestations under this schema cannot be revoked')
}

export function addKeys(program: Command, terminal: Terminal, finish: Finish): void {
  const keys = program.command('keys').description('API keys of the service: add, list, import, rotate, revoke, usage')
  const add = keys
    .command('add')
    .description('create a key and show it once; only its SHA-256 is stored')
    .addArgument(new Argument('<tier>', 'tier, which sets the hourly limits').choices(['developer', 'internal']))
    .option('--label <text>', 'label, such as the owner of the key', 'unnamed')
    .option(
      '--scopes <list>',
      'what the key is for: compute,verify,records,jobs,admin (default: all but admin, which manages keys)',
    )
    .option(
      '--expires <time>',
      'ISO 8601, or a number of days such as 30d; without it, the key is valid until it is revoked',
    )
    .option('--requests-per-hour <number>', 'hourly limit in place of that of the tier', integerBetween(1, 1e9))
    .option('--origin <origin>', 'only for pages of this origin; can be repeated', collectOption)
    .option('--address <range>', 'only from this address or CIDR range; can be repeated', collectOption)
  withExamples(
    add,
    "trigpoint keys add developer --label 'map of the city'",
    'trigpoint keys add internal --scopes jobs --expires 2030-01-01 --address 192.0.2.0/24',
  )
  withPlace(add).action(async (tier, options) => {
    const { addKey } = await import('../commands/keys.ts')
    await addKey(tier, options, terminal)
  })
  withPlace(keys.command('list').description('list all keys, without their secrets')).action(async (options) => {
    const { listKeys } = await import('../commands/keys.ts')
    await listKeys(options, terminal)
  })
  const importFile = keys
    .command('import')
    .description('copy the keys of a file into the database of DATABASE_URL, when a service gets one')
    .argument('[file]', 'file with the keys (default: API_KEYS_FILE, or api-keys.json in the data folder)')
    .option('--data <folder>', 'data folder of the service (default: DATA_DIR, or ./.data)')
  withJson(importFile).action(async (file, options) => {
    const { importKeys } = await import('../commands/keys.ts')
    await importKeys(file, options, terminal)
  })
  const rotate = keys
    .command('rotate')
    .description('replace a key by a new one with the same properties, and show that once')
    .argument('<id>', 'ID as shown by list, or the key itself')
    .option('--overlap <seconds>', 'how long the old key stays valid', integerBetween(0, 7_776_000), 86_400)
  withPlace(rotate).action(async (id, options) => {
    const { rotateKey } = await import('../commands/keys.ts')
    finish(await rotateKey(id, options, terminal))
  })
  const revoke = keys
    .command('revoke')
    .description('revoke a key; takes effect within a second')
    .argument('<id>', 'ID as shown by list, or the key itself')
  withPlace(revoke).action(async (id, options) => {
    const { revokeKey } = await import('../commands/keys.ts')
    finish(await revokeKey(id, options, terminal))
  })
  const showUsage = keys
    .command('usage')
    .description('what a key used, by day and kind of request, as the running service has stored it')
    .argument('[id]', 'ID as shown by list, public or others, for which an admin key is needed (default: your own key)')
    .option('--from <day>', 'first day of UTC, as 2030-12-01 (default: 29 days before the last)')
    .option('--to <day>', 'last day, which is included (default: today)')
    .option('--csv', 'print CSV')
  withExamples(showUsage, 'trigpoint keys usage', 'trigpoint keys usage 3083d71b8f7f --from 2030-12-01 --csv')
  withServer(withJson(showUsage)).action(async (id, options) => {
    const { printUsage } = await import('../commands/key-usage.ts')
    await printUsage(id, options, terminal)
  })
}

function withPlace(command: Command): Command {
  return withJson(command)
    .option('--data <folder>', 'data folder of the service (default: DATA_DIR, or ./.data)')
    .option(
      '--file <file>',
      'file with the keys (default: the database of DATABASE_URL; without one API_KEYS_FILE, or api-keys.json in the data folder)',
    )
}
