/** Off-chain attestations of locations, signed by viem: with none of the code that reads them. */
import {
  encodeAbiParameters,
  encodePacked,
  keccak256,
  parseAbiParameters,
  stringToHex,
  zeroAddress,
  zeroHash,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { type Chain, chainTable } from '../src/attest/chains.ts'
import { DEFAULT_UIDS, SCHEMA_STRINGS } from '../src/attest/schemas.ts'
import { readConfig } from '../src/config/config.ts'
import type { Hex } from '../src/wire/values.ts'

export const ATTESTER = privateKeyToAccount(`0x${'a7'.repeat(32)}`)
export const OTHER_ATTESTER = privateKeyToAccount(`0x${'b8'.repeat(32)}`)
export const CHAINS = chainTable(readConfig({}, 1))

const FIELDS = [
  { name: 'version', type: 'uint16' },
  { name: 'schema', type: 'bytes32' },
  { name: 'recipient', type: 'address' },
  { name: 'time', type: 'uint64' },
  { name: 'expirationTime', type: 'uint64' },
  { name: 'revocable', type: 'bool' },
  { name: 'refUID', type: 'bytes32' },
  { name: 'data', type: 'bytes' },
] as const
const TYPES = { 1: { Attest: FIELDS }, 2: { Attest: [...FIELDS, { name: 'salt', type: 'bytes32' }] } } as const

export interface MakerOptions {
  readonly version?: 1 | 2
  readonly chain?: Pick<Chain, 'id' | 'easAddress' | 'easVersion'>
  readonly account?: PrivateKeyAccount
  readonly schema?: Hex
  readonly data?: Hex
  readonly time?: bigint
  readonly expirationTime?: bigint
  readonly revocable?: boolean
  readonly salt?: Hex
  readonly domainName?: string
}

/** Encodes a location in the layout of nine fields. */
export function locationData(location: object | string, locationType = 'geojson', srs = 'EPSG:4326'): Hex {
  const text = typeof location === 'string' ? location : JSON.stringify(location)
  return encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), [
    1_700_000_000n,
    srs,
    locationType,
    text,
    [],
    [],
    [],
    [],
    '',
  ])
}

/** Signs a location for the EAS contract of a chain, Base Sepolia by default. Numbers are JSON numbers where these are exact. */
export async function attestOffchain(location: object | string, options: MakerOptions = {}) {
  const { version = 2, chain = CHAINS.get(84532)!, account = ATTESTER, domainName = 'EAS Attestation' } = options
  const { time = BigInt(Math.floor(Date.now() / 1000)), expirationTime = 0n, revocable = true } = options
  const fields = {
    version,
    schema: options.schema ?? DEFAULT_UIDS.location,
    recipient: zeroAddress,
    time,
    expirationTime,
    revocable,
    refUID: zeroHash,
    data: options.data ?? locationData(location),
  } as const
  const salt = options.salt ?? keccak256(fields.data)
  const domain = {
    name: domainName,
    version: chain.easVersion,
    chainId: chain.id,
    verifyingContract: chain.easAddress,
  } as const
  const message = version === 1 ? fields : { ...fields, salt }
  const text = await account.signTypedData({ domain, types: TYPES[version], primaryType: 'Attest', message } as never)
  const json = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? jsonNumber(item) : item)))
  const signature = {
    r: text.slice(0, 66),
    s: `0x${text.slice(66, 130)}`,
    v: Number.parseInt(text.slice(130), 16),
  }
  const uid = offchainUid({ ...fields, ...(version === 1 ? {} : { salt }) })
  const sig = { version, uid, domain, primaryType: 'Attest', types: TYPES[version], message, signature }
  return { sig: json(sig) as unknown as JsonAttestation, signer: account.address as string }
}

/** An attestation as JSON, which tests change. */
export type JsonAttestation = Record<string, unknown> & {
  uid: string
  version?: unknown
  domain: Record<string, unknown>
  message: Record<string, unknown>
  signature: { r: string; s: string; v: number }
}

/** Computes the UID as the EAS SDK does: the schema as text, no attester, a counter of 0. */
export function offchainUid(message: {
  version: number
  schema: Hex
  recipient: Hex
  time: bigint
  expirationTime: bigint
  revocable: boolean
  refUID: Hex
  data: Hex
  salt?: Hex
}): Hex {
  const { version, schema, recipient, time, expirationTime, revocable, refUID, data, salt = '0x' } = message
  return keccak256(
    encodePacked(
      ['uint16', 'bytes', 'address', 'address', 'uint64', 'uint64', 'bool', 'bytes32', 'bytes', 'bytes', 'uint32'],
      [version, stringToHex(schema), recipient, zeroAddress, time, expirationTime, revocable, refUID, data, salt, 0],
    ),
  )
}

function jsonNumber(value: bigint): number | string {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value)
}
