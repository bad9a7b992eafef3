import { BUILT_IN_CHAINS } from '../../attest/chains.ts'
import { DEFAULT_UIDS, SCHEMA_KINDS, SCHEMA_STRINGS, type SchemaKind, schemaUid } from '../../attest/schemas.ts'
import { javascriptKeccak } from '../../crypto/noble.ts'
import type { Hex } from '../../wire/values.ts'
import { CommandError, EXIT, usage } from '../exit-codes.ts'
import { readAccount } from '../key-file.ts'
import { outJson, type Terminal } from '../terminal.ts'

/** Timeout of one RPC call. */
const RPC_TIMEOUT_MS = 10_000
/** Longest wait until a transaction is in a block. */
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

/** Runs `trigpoint schema list`. */
export async function listSchemas({ json }: JsonOption, terminal: Terminal): Promise<void> {
  const rows = SCHEMA_KINDS.map((kind) => ({ kind, uid: DEFAULT_UIDS[kind], schema: SCHEMA_STRINGS[kind] }))
  if (json === true) return outJson(terminal, rows)
  await terminal.out(rows.map(({ kind, uid, schema }) => `${kind.padEnd(12)}${uid}\n            ${schema}\n`).join(''))
}

/** Runs `trigpoint schema uid`. */
export async function printSchemaUid(text: string, options: TextOptions, terminal: Terminal): Promise<void> {
  const definition = newSchema(text, options)
  if (options.json === true) return outJson(terminal, definition)
  await terminal.out(`${definition.uid}\n`)
}

/** Runs `trigpoint schema register`. It rejects a registered schema, because registering it again would revert. */
export async function registerSchema(text: string, options: RegisterOptions, terminal: Terminal): Promise<void> {
  if (options.key === undefined)
    throw usage('--key is missing: the account that pays, a key file of `trigpoint keygen`')
  if (!/^https?:\/\//.test(options.rpc) || !URL.canParse(options.rpc)) throw usage('--rpc is not an http(s) URL')
  const definition = newSchema(text, options)
  const account = await readAccount(options.key, options.passwordFile)
  const {
    readChainId,
    readRegisteredSchema,
    registerSchema: sendSchema,
  } = await import('../../attest/register-schema.ts')
  const rpc = { rpcUrl: options.rpc, rpcTimeoutMs: RPC_TIMEOUT_MS }
  const chainId = await withRpcErrors(
    readChainId({ ...rpc, registry: definition.resolver }),
    'the chain does not respond',
  )
  const registry = (options.registry ?? builtInRegistry(chainId)) as Hex
  const parts = { ...rpc, registry }
  const registered = await withRpcErrors(
    readRegisteredSchema(parts, definition.uid),
    `${registry} on chain ${chainId} does not respond as a SchemaRegistry`,
  )
  if (registered !== undefined) {
    throw new CommandError(EXIT.failed, `${definition.uid} is already registered on chain ${chainId}`)
  }
  terminal.err(`registering ${definition.uid} on chain ${chainId}, paid by ${account.address} …\n`)
  const sent = await withRpcErrors(
    sendSchema(parts, definition, account.privateKey, BLOCK_WAIT_MS),
    'the schema was not registered',
  )
  if (options.json === true) return outJson(terminal, { ...definition, chainId, registry, ...sent })
  await terminal.out(`${definition.uid}\n`)
  terminal.err(`in block ${sent.block}, transaction ${sent.transaction}\n`)
}

function newSchema(text: string, { resolver, revocable }: TextOptions) {
  const schema = Object.hasOwn(SCHEMA_STRINGS, text) ? SCHEMA_STRINGS[text as SchemaKind] : text.trim()
  // The registry does not validate schemas, so this does.
  for (const field of schema.split(',')) requireField(field, schema)
  const uid = schemaUid(schema, resolver as Hex, revocable, javascriptKeccak())
  return { uid, schema, resolver: resolver as Hex, revocable }
}

/** Checks that a field is a Solidity type and a name. Data under an unknown type could never be decoded. */
function requireField(field: string, schema: string): void {
  const [, type, length] = /^\s*([a-z][a-z0-9]*)((?:\[\d*\])*)\s+[A-Za-z_][A-Za-z0-9_]*\s*$/.exec(field) ?? []
  if (type === undefined)
    throw usage(
      `${JSON.stringify(schema.slice(0, 80))} is not a schema: give types and names, for example 'uint256 result,string units'`,
    )
  if (!isSolidityType(type) || /\[0+\]/.test(length ?? ''))
    throw usage(
      `${`${type}${length}`.slice(0, 80)} is not a supported Solidity type: use address, bool, string, bytes, bytes1 to bytes32, uint8 to uint256 or int8 to int256 in steps of 8, or arrays of these`,
    )
}

/**
 * Tells whether a type can be attested. Fixed-point numbers and functions are excluded, because they are not attested in
 * practice.
 */
function isSolidityType(type: string): boolean {
  const [, name, digits] = /^(bytes|u?int)([1-9]\d{0,2})?$/.exec(type) ?? []
  if (name === undefined) return ['address', 'bool', 'string'].includes(type)
  const size = Number(digits ?? 8)
  return name === 'bytes' ? size <= 32 : size <= 256 && size % 8 === 0
}

function builtInRegistry(chainId: number): string {
  const row = BUILT_IN_CHAINS.find(({ id }) => id === chainId)
  if (row !== undefined) return row.schemaRegistryAddress
  throw usage(`chain ${chainId} is not built in: give its SchemaRegistry with --registry`)
}

/**
 * Rethrows an RPC error with its `shortMessage`, which has the reason. Its `message` would repeat the URL, which may contain a
 * key.
 */
async function withRpcErrors<T>(call: Promise<T>, what: string): Promise<T> {
  try {
    return await call
  } catch (error) {
    const { shortMessage, details } = error as { shortMessage?: string; details?: string }
    const reason = [shortMessage, details].filter((text) => text !== undefined && !/https?:/.test(text)).join(' ')
    throw new CommandError(EXIT.network, `${what}${reason === '' ? '' : `: ${reason}`}`, { cause: error })
  }
}
