import { Argument, type Command } from 'commander'
import { withExamples, withJson } from '../options.ts'
import type { Finish } from '../program.ts'
import type { Terminal } from '../terminal.ts'

export function addKeys(program: Command, terminal: Terminal, finish: Finish): void {
  const keys = program.command('keys').description('API keys of the service on this machine: add, list, revoke')
  const add = keys
    .command('add')
    .description('make a key and show it, once: kept is its SHA-256')
    .addArgument(new Argument('<tier>', 'its hourly limit').choices(['developer', 'internal']))
    .option('--label <text>', 'whose it is', 'unnamed')
  withExamples(add, "trigpoint keys add developer --label 'map of the city'")
  withFile(add).action(async (tier, options) => {
    const { addKey } = await import('../run/keys.ts')
    await addKey(tier, options, terminal)
  })
  withFile(keys.command('list').description('what keys there are, without the keys')).action(async (options) => {
    const { listKeys } = await import('../run/keys.ts')
    await listKeys(options, terminal)
  })
  const revoke = keys
    .command('revoke')
    .description('a key counts no longer, from the next second on')
    .argument('<id>', 'as list shows it, or the key itself')
  withFile(revoke).action(async (id, options) => {
    const { revokeKey } = await import('../run/keys.ts')
    finish(await revokeKey(id, options, terminal))
  })
}

function withFile(command: Command): Command {
  return withJson(command)
    .option('--data <folder>', 'data folder of the service (DATA_DIR, else ./.data)')
    .option('--file <file>', 'where the keys are kept (API_KEYS_FILE, else api-keys.json in it)')
}
