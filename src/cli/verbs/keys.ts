import { Argument, type Command } from 'commander'
import { withExamples, withJson } from '../options.ts'
import type { Finish } from '../program.ts'
import type { Terminal } from '../terminal.ts'

export function addKeys(program: Command, terminal: Terminal, finish: Finish): void {
  const keys = program.command('keys').description('API keys of the service on this machine: add, list, revoke')
  const add = keys
    .command('add')
    .description('create a key and show it once; only its SHA-256 is stored')
    .addArgument(new Argument('<tier>', 'tier, which sets the hourly limit').choices(['developer', 'internal']))
    .option('--label <text>', 'label, such as the owner of the key', 'unnamed')
  withExamples(add, "trigpoint keys add developer --label 'map of the city'")
  withFile(add).action(async (tier, options) => {
    const { addKey } = await import('../commands/keys.ts')
    await addKey(tier, options, terminal)
  })
  withFile(keys.command('list').description('list all keys, without their secrets')).action(async (options) => {
    const { listKeys } = await import('../commands/keys.ts')
    await listKeys(options, terminal)
  })
  const revoke = keys
    .command('revoke')
    .description('revoke a key; takes effect within a second')
    .argument('<id>', 'ID as shown by list, or the key itself')
  withFile(revoke).action(async (id, options) => {
    const { revokeKey } = await import('../commands/keys.ts')
    finish(await revokeKey(id, options, terminal))
  })
}

function withFile(command: Command): Command {
  return withJson(command)
    .option('--data <folder>', 'data folder of the service (default: DATA_DIR, or ./.data)')
    .option('--file <file>', 'file with the keys (default: API_KEYS_FILE, or api-keys.json in the data folder)')
}
