import type { Command } from 'commander'
import { hexBytes, withExamples, withJson } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import { withKey } from './stamp.ts'

const ZERO_ADDRESS = `0x${'0'.repeat(40)}`

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

function withText(command: Command): Command {
  return command
    .argument('<schema>', 'schema string, or numeric, boolean, verify, merkle-root, location')
    .option('--resolver <address>', 'resolver contract of the schema', hexBytes(20), ZERO_ADDRESS)
    .option('--no-revocable', 'attestations under this schema cannot be revoked')
}
