import { BUILT_IN_CHAINS } from '../../attest/chain-table.ts'
import { DEFAULT_UIDS, SCHEMA_KINDS, SCHEMA_STRINGS, type SchemaKind, schemaUid } from '../../attest/schemas.ts'
import { javascriptKeccak } from '../../crypto/keccak-javascript.ts'
import type { Hex } from '../../messages.ts'
import { CommandError, EXIT, usage } from '../exit-codes.ts'
import { readAccount } from '../key-file.ts'
import { outJson, type Terminal } from '../terminal.ts'

/** Of one answer of the chain, and until a transaction has its block. */
const RPC_TIMEOUT_MS = 10_000
const BLOCK_WAIT_MS = 120_000

interface JsonOption {
  readonly json?: boolean
}

interface TextOptions extends JsonOption {
  readonly resolver: string
  readonly revocable: boolean
}

export interface RegisterOptions extends TextOptions {
  readonly rpc: string
  readonly registry?: string
  readonly key?: string
  readonly passwordFile?: string
}

/** `trigpoint schema list`. */
export async function listSchemas({ json }: JsonOption, terminal: Terminal): Promise<void> {
  const rows = SCHEMA_KINDS.map((kind) => ({ kind, uid: DEFAULT_UIDS[kind], schema: SCHEMA_STRINGS[kind] }))
  if (json === true) return outJson(terminal, rows)
  await terminal.out(rows.map(({ kind, uid, schema }) => `${kind.padEnd(12)}${uid}\n            ${schema}\n`).join(''))
}

/** `trigpoint schema uid`. */
export async function printSchemaUid(text: string, options: TextOptions, terminal: Terminal): Promise<void> {
  const found = newSchema(text, options)
  if (options.json === true) return outJson(terminal, found)
  await terminal.out(`${found.uid}\n`)
}

/** `trigpoint schema register`: refuses what is registered already, for a second time would revert. */
export async function registerSchema(text: string, options: RegisterOptions, terminal: Terminal): Promise<void> {
  if (options.key === undefined) throw usage('--key says whose account pays: a key file of `trigpoint keygen`')
  if (!/^https?:\/\//.test(options.rpc) || !URL.canParse(options.rpc)) throw usage('--rpc is no http(s) address')
  const found = newSchema(text, options)
  const account = await readAccount(options.key, options.passwordFile)
  const { chainIdOf, registeredSchema, sendSchema } = await import('../../attest/register-schema.ts')
  const rpc = { rpcUrl: options.rpc, rpcTimeoutMs: RPC_TIMEOUT_MS }
  const chainId = await asked(chainIdOf({ ...rpc, registry: found.resolver }), 'the chain does not answer')
  const registry = (options.registry ?? registryOf(chainId)) as Hex
  const parts = { ...rpc, registry }
  const known = await asked(
    registeredSchema(parts, found.uid),
    `${registry} on chain ${chainId} does not answer as a SchemaRegistry`,
  )
  if (known !== undefined) {
    throw new CommandError(EXIT.failed, `${found.uid} is registered on chain ${chainId} already`)
  }
  terminal.err(`registering ${found.uid} on chain ${chainId}, paid by ${account.address} …\n`)
  const sent = await asked(sendSchema(parts, found, account.privateKey, BLOCK_WAIT_MS), 'the schema was not registered')
  if (options.json === true) return outJson(terminal, { ...found, chainId, registry, ...sent })
  await terminal.out(`${found.uid}\n`)
  terminal.err(`in block ${sent.block}, transaction ${sent.transaction}\n`)
}

function newSchema(text: string, { resolver, revocable }: TextOptions) {
  const schema = Object.hasOwn(SCHEMA_STRINGS, text) ? SCHEMA_STRINGS[text as SchemaKind] : text.trim()
  // That the registry does not look is why it is looked at here.
  for (const field of schema.split(',')) requireField(field, schema)
  const uid = schemaUid(schema, resolver as Hex, revocable, javascriptKeccak())
  return { uid, schema, resolver: resolver as Hex, revocable }
}

/** A field is a type and a name; under a type that Solidity has not, nothing could ever be decoded. */
function requireField(field: string, schema: string): void {
  const [, type, length] = /^\s*([a-z][a-z0-9]*)((?:\[\d*\])*)\s+[A-Za-z_][A-Za-z0-9_]*\s*$/.exec(field) ?? []
  if (type === undefined)
    throw usage(
      `${JSON.stringify(schema.slice(0, 80))} is no schema: types and names, as in 'uint256 result,string units'`,
    )
  if (!isSolidityType(type) || /\[0+\]/.test(length ?? ''))
    throw usage(
      `${`${type}${length}`.slice(0, 80)} is no type of Solidity: address, bool, string, bytes, bytes1 to bytes32, uint8 to uint256 and int8 to int256 by eights, and arrays of them`,
    )
}

/** Of those that are in use: fixed-point numbers and functions are no data that anybody attests. */
function isSolidityType(type: string): boolean {
  const [, name, digits] = /^(bytes|u?int)([1-9]\d{0,2})?$/.exec(type) ?? []
  if (name === undefined) return ['address', 'bool', 'string'].includes(type)
  const size = Number(digits ?? 8)
  return name === 'bytes' ? size <= 32 : size <= 256 && size % 8 === 0
}

function registryOf(chainId: number): string {
  const row = BUILT_IN_CHAINS.find(({ id }) => id === chainId)
  if (row !== undefined) return row.schemaRegistryAddress
  throw usage(`chain ${chainId} is not built in: name its SchemaRegistry with --registry`)
}

/** What a chain says in the end stands in an error's `shortMessage`; its message repeats the address, which may hold a key. */
async function asked<T>(answer: Promise<T>, what: string): Promise<T> {
  try {
    return await answer
  } catch (error) {
    const { shortMessage, details } = error as { shortMessage?: string; details?: string }
    const why = [shortMessage, details].filter((text) => text !== undefined && !/https?:/.test(text)).join(' ')
    throw new CommandError(EXIT.network, `${what}${why === '' ? '' : `: ${why}`}`, { cause: error })
  }
}
