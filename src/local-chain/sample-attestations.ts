import { type Abi, encodeAbiParameters, encodeFunctionData, parseAbiParameters } from 'viem'
import { SCHEMA_STRINGS } from '../attest/schemas.ts'
import type { Hex } from '../messages.ts'
import { sampleRanges } from '../service/sample-records.ts'
import type { LocationRecord } from '../store-messages.ts'
import { type EasParts, easAbi } from './eas-contracts.ts'
import { sendTransaction } from './local-rpc.ts'

export interface SampleAttestationParts extends EasParts {
  /** Each attests a share of the samples; the first one revokes one of them last. */
  readonly attesters: readonly Hex[]
  readonly locationSchema: Hex
  /** Of the newest event. */
  readonly nowSeconds: number
  /** Names of the built-in chains and their ids. */
  readonly chainIds: ReadonlyMap<string, number>
}

/** Attestations of one attester: a transaction of some 8 million gas, of the 30 million of a block. */
const SAMPLES_EACH = 12
const NO_REFERENCE: Hex = `0x${'0'.repeat(64)}`

/**
 * Attests places, plots and ways that people could have recorded, and revokes one of them.
 *
 * @throws {Error} when the chain refuses
 */
export async function attestSamples(parts: SampleAttestationParts): Promise<void> {
  const { rpc, chain, attesters, locationSchema, timeoutMs } = parts
  const abi = await easAbi()
  const count = SAMPLES_EACH * attesters.length
  // Made for several chains; what they say is attested on this one.
  const ranges = sampleRanges({ count, newestSeconds: parts.nowSeconds, chains: parts.chainIds })
  const records = [...ranges].flatMap(({ records: some }) => some)
  let revocable: Hex | undefined
  for (const [index, from] of attesters.entries()) {
    const some = records.slice(index * SAMPLES_EACH, (index + 1) * SAMPLES_EACH)
    const data = multiAttest(abi, locationSchema, some)
    const logs = await sendTransaction(rpc, { from, to: chain.easAddress, data }, timeoutMs)
    // Attested(address indexed recipient, address indexed attester, bytes32 uid, bytes32 indexed schema)
    if (index === 0) revocable = logs[0]!.data
  }
  const data = encodeFunctionData({
    abi,
    functionName: 'revoke',
    args: [{ schema: locationSchema, data: { uid: revocable, value: 0n } }],
  })
  await sendTransaction(rpc, { from: attesters[0]!, to: chain.easAddress, data }, timeoutMs)
}

function multiAttest(abi: Abi, schema: Hex, records: readonly LocationRecord[]): Hex {
  const data = records.map((record) => ({
    recipient: record.subject,
    expirationTime: 0n,
    revocable: true,
    refUID: NO_REFERENCE,
    data: locationData(record),
    value: 0n,
  }))
  return encodeFunctionData({ abi, functionName: 'multiAttest', args: [[{ schema, data }]] })
}

function locationData(record: LocationRecord): Hex {
  const payloads = record.recipePayloads.map((base64): Hex => `0x${Buffer.from(base64, 'base64').toString('hex')}`)
  return encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), [
    BigInt(record.eventTimeSeconds),
    record.srs,
    record.locationType,
    record.location,
    [...record.recipeTypes],
    payloads,
    [...record.mediaTypes],
    [...record.mediaData],
    record.memo,
  ])
}
