import { type Abi, encodeAbiParameters, encodeFunctionData, parseAbiParameters } from 'viem'
import { SCHEMA_STRINGS } from '../attest/schemas.ts'
import { sampleRanges } from '../service/records/sample-records.ts'
import type { Hex } from '../wire/messages.ts'
import type { LocationRecord } from '../wire/store-messages.ts'
import { type EasParts, easAbi } from './eas-contracts.ts'
import { sendTransaction } from './local-rpc.ts'

export interface SampleAttestationParts extends EasParts {
  /** Each attests a share of the samples. At the end, the first one revokes one of its own. */
  readonly attesters: readonly Hex[]
  readonly locationSchema: Hex
  /** Time of the newest event. */
  readonly nowSeconds: number
  /** Chain ids by chain name. */
  readonly chainIds: ReadonlyMap<string, number>
}

/** Attestations per attester, in one transaction of about 8 million gas; a block has 30 million. */
const SAMPLES_PER_ATTESTER = 12
const ZERO_UID: Hex = `0x${'0'.repeat(64)}`

/**
 * Attests plausible sample locations (points, plots and paths), and revokes one of them.
 *
 * @throws {Error} when an RPC call fails or a transaction reverts
 */
export async function attestSamples(parts: SampleAttestationParts): Promise<void> {
  const { rpc, chain, attesters, locationSchema, timeoutMs } = parts
  const abi = await easAbi()
  const count = SAMPLES_PER_ATTESTER * attesters.length
  // The samples are made for several chains. Here their content is attested on the local chain.
  const ranges = sampleRanges({ count, newestSeconds: parts.nowSeconds, chains: parts.chainIds })
  const records = [...ranges].flatMap(({ records: rangeRecords }) => rangeRecords)
  let revocableUid: Hex | undefined
  for (const [index, from] of attesters.entries()) {
    const batch = records.slice(index * SAMPLES_PER_ATTESTER, (index + 1) * SAMPLES_PER_ATTESTER)
    const data = multiAttest(abi, locationSchema, batch)
    const logs = await sendTransaction(rpc, { from, to: chain.easAddress, data }, timeoutMs)
    // Attested(address indexed recipient, address indexed attester, bytes32 uid, bytes32 indexed schema)
    if (index === 0) revocableUid = logs[0]!.data
  }
  const data = encodeFunctionData({
    abi,
    functionName: 'revoke',
    args: [{ schema: locationSchema, data: { uid: revocableUid, value: 0n } }],
  })
  await sendTransaction(rpc, { from: attesters[0]!, to: chain.easAddress, data }, timeoutMs)
}

function multiAttest(abi: Abi, schema: Hex, records: readonly LocationRecord[]): Hex {
  const data = records.map((record) => ({
    recipient: record.subject,
    expirationTime: 0n,
    revocable: true,
    refUID: ZERO_UID,
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
