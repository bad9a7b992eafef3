/** People, whom they trust, and what they attempt: the setup for tests of the gates. */
import { type Abi, encodeAbiParameters, encodeFunctionData, parseAbiParameters } from 'viem'
import { encodeBoolean } from '../../src/attest/data.ts'
import { SCHEMA_STRINGS, schemaUid, schemaUids } from '../../src/attest/schemas.ts'
import { readConfig } from '../../src/config/config.ts'
import { javascriptKeccak } from '../../src/crypto/noble.ts'
import type { Hex } from '../../src/wire/values.ts'
import { type LocalChain, revertName } from './anvil.ts'
import { type Contract, deploy } from './solidity.ts'

export const uids = schemaUids(readConfig({}, 1))
export const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`
const ZERO_UID: Hex = `0x${'0'.repeat(64)}`
export const TARGET: Hex = `0x${'7a'.repeat(32)}`
export const MAX_RADIUS_CM = 50_000n
export const MAX_AGE_SECONDS = 3600n
export const MAX_LOCATION_AGE_SECONDS = 7200n
/** The schema of gates in another spelling, which makes it another schema for EAS. */
const SPACED_SCHEMA = SCHEMA_STRINGS.boolean.replaceAll(',', ', ')

/** A result on its way to a gate or an entry. */
export interface Attempt {
  readonly data: Hex
  readonly recipient: Hex
  readonly from: Hex
  /** Schema of the result; the right one by default. */
  readonly schema?: 'other'
  /** The caller of `enter`; the recipient by default. */
  readonly caller?: Hex
  /** Whether the attester revokes the result before it is used. */
  readonly isRevoked?: boolean
  /** Whether the result was used, revoked and attested again. */
  readonly isRepeated?: boolean
  /** Whether EAS is bypassed: another caller of the resolver, or an entry with a UID that was never attested. */
  readonly isDirect?: boolean
}

export type Fixture = Awaited<ReturnType<typeof createFixture>>

/** Creates accounts with their roles, terms that trust `locator` and `attester`, and functions for attempts. */
export async function createFixture(local: LocalChain) {
  const { client, chain } = local
  const [, locator, person, stranger, attester] = (await client.getAddresses()) as Hex[]
  const people = { locator: locator!, person: person!, stranger: stranger!, attester: attester! }
  const terms = {
    target: TARGET,
    locationSchema: uids.location,
    locationAttester: people.locator,
    maxRadiusCm: MAX_RADIUS_CM,
    maxAgeSeconds: MAX_AGE_SECONDS,
    maxLocationAgeSeconds: MAX_LOCATION_AGE_SECONDS,
  }
  const now = async () => (await client.getBlock()).timestamp

  return {
    local,
    ...people,
    terms,
    now,
    pass,
    location,
    attempt,
    deployGate,
    deployEntry,
    tryGate,
    tryEntry,
    read,
    revert,
  }

  /** Advances time to the given second. */
  async function pass(timestamp: bigint): Promise<void> {
    await client.setNextBlockTimestamp({ timestamp })
    await client.mine({ blocks: 1 })
  }

  /** Attests a location at the present time for the person, by the trusted attester, with the given changes. */
  async function location(
    changes: { schema?: Hex; from?: Hex; recipient?: Hex; eventTimestamp?: bigint; expirationTime?: bigint } = {},
  ): Promise<Hex> {
    const { schema = uids.location, from = people.locator, recipient = people.person } = changes
    const eventTimestamp = changes.eventTimestamp ?? (await now())
    const geometryText = '{"coordinates":[2.2945,48.8584],"type":"Point"}'
    const fields = parseAbiParameters(SCHEMA_STRINGS.location)
    const data = encodeAbiParameters(fields, [
      eventTimestamp,
      'EPSG:4326',
      'geojson-point',
      geometryText,
      [],
      [],
      [],
      [],
      '',
    ])
    return local.attest(schema, data, changes.expirationTime, { from, recipient })
  }

  /** Attests a result that meets all terms, with the given changes: its first input is attested unless `refs` are given. */
  async function attempt(
    changes: Partial<Attempt> & {
      result?: boolean
      operation?: string
      ref?: Hex
      target?: Hex
      more?: readonly Hex[]
      timestamp?: bigint
    } = {},
  ): Promise<Attempt> {
    const { result = true, operation = `within:${MAX_RADIUS_CM}`, target = TARGET, more = [], ...rest } = changes
    const ref = changes.ref ?? (await location())
    const timestamp = Number(changes.timestamp ?? (await now()))
    const data = encodeBoolean(result, [ref, target, ...more], timestamp, operation)
    return { data, recipient: people.person, from: people.attester, ...rest }
  }

  /** Deploys a gate and registers its schema, and the same schema in another spelling. */
  async function deployGate(contract: Contract) {
    const { address } = await deploy(local, contract, [chain.easAddress, people.attester, terms])
    await local.registerSchema(SCHEMA_STRINGS.boolean, address)
    await local.registerSchema(SPACED_SCHEMA, address)
    const schema = await read<Hex>({ address, abi: contract.abi }, 'schema')
    return { address, abi: contract.abi, schema }
  }

  async function deployEntry(contract: Contract) {
    const args = [chain.easAddress, uids.boolean, people.attester, terms]
    return { address: (await deploy(local, contract, args)).address, abi: contract.abi }
  }

  function read<T>(at: { address: Hex; abi: Abi }, functionName: string, args: readonly unknown[] = []): Promise<T> {
    return client.readContract({ ...at, functionName, args }) as Promise<T>
  }

  /** Attests under the gate's schema; returns the name of the resolver's error, or undefined. */
  async function tryGate(gate: Awaited<ReturnType<typeof deployGate>>, tried: Attempt): Promise<string | undefined> {
    const { data, recipient, from } = tried
    if (tried.isDirect) {
      const times = { time: 0n, expirationTime: 0n, revocationTime: 0n, revocable: true, refUID: ZERO_UID }
      const result = { ...times, uid: TARGET, schema: gate.schema, recipient, attester: from, data }
      return revert(from, gate.address, gate.abi, 'attest', [result])
    }
    if (tried.isRepeated) {
      const uid = await local.attest(gate.schema, data, 0n, { from, recipient })
      await local.revoke(gate.schema, uid, from)
    }
    const spaced = schemaUid(SPACED_SCHEMA, gate.address, true, javascriptKeccak())
    const schema = tried.schema === 'other' ? spaced : gate.schema
    const request = { recipient, expirationTime: 0n, revocable: true, refUID: ZERO_UID, data, value: 0n }
    const abi = [...local.easAbi, ...gate.abi.filter(({ type }) => type === 'error')]
    return revert(from, chain.easAddress, abi, 'attest', [{ schema, data: request }])
  }

  /** Attests under the common schema and enters; returns the name of the error of `enter`, or undefined. */
  async function tryEntry(entry: { address: Hex; abi: Abi }, tried: Attempt): Promise<string | undefined> {
    const { data, recipient, from, caller = recipient } = tried
    const schema = tried.schema === 'other' ? uids.numeric : uids.boolean
    const enter = (uid: Hex) => revert(caller, entry.address, entry.abi, 'enter', [uid])
    if (tried.isDirect) return enter(TARGET)
    const attested = () => local.attest(schema, data, 0n, { from, recipient })
    let uid = await attested()
    if (tried.isRepeated) {
      const call = { ...entry, functionName: 'enter', args: [uid], account: caller, chain: null }
      await client.waitForTransactionReceipt({ hash: await client.writeContract(call) })
      await local.revoke(schema, uid, from)
      uid = await attested()
    }
    if (tried.isRevoked) await local.revoke(schema, uid, from)
    return enter(uid)
  }

  /** Simulates a call; returns the name of the error with which it reverts, or undefined. */
  async function revert(from: Hex, to: Hex, abi: Abi, functionName: string, args: readonly unknown[]) {
    const data = encodeFunctionData({ abi, functionName, args })
    try {
      await client.request({ method: 'eth_call', params: [{ from, to, data }, 'latest'] })
      return undefined
    } catch (error) {
      return revertName(error, abi)
    }
  }
}
