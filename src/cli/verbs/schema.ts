import type { Command } from 'commander'
import { hexBytes, withExamples, withJson } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import { withKey } from './stamp.ts'

const zeroAddress = `0x${'0'.repeat(40)}`

export function addSchema(program: Command, terminal: Terminal): void {
  const schema = program.command('schema').description('schemas of attestations: list, compute a UID, register')
  const list = schema.command('list').description('the schemas that results are signed under')
  withJson(list).action(async (options) => {
    const { listSchemas } = await import('../run/schema.ts')
    await listSchemas(options, terminal)
  })
  const uid = schema.command('uid').description('UID of a schema in every EAS registry')
  withText(uid)
  withJson(uid)
  withExamples(uid, "trigpoint schema uid 'uint256 result,string units'", 'trigpoint schema uid boolean --resolver 0x…')
  uid.action(async (text, options) => {
    const { printSchemaUid } = await import('../run/schema.ts')
    await printSchemaUid(text, options, terminal)
  })
  const register = schema.command('register').description('put a schema into the registry of a chain, by a transaction')
  withText(register)
    .requiredOption('--rpc <address>', 'of the chain')
    .option('--registry <address>', 'SchemaRegistry, of a chain that is not built in', hexBytes(20))
  withJson(withKey(register))
  withExamples(register, 'trigpoint schema register numeric --rpc http://127.0.0.1:8545 --key payer.key')
  register.action(async (text, options) => {
    const { registerSchema } = await import('../run/schema.ts')
    await registerSchema(text, options, terminal)
  })
}

function withText(command: Command): Command {
  return command
    .argument('<schema>', 'its text, or numeric, boolean, verify, merkle-root, location')
    .option('--resolver <address>', 'contract that has a say in its attestations', hexBytes(20), zeroAddress)
    .option('--no-revocable', 'its attestations cannot be revoked')
}
