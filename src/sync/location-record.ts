import { decodeLocation } from '../attest/decode.ts'
import { boundsOf } from '../geometry/bounds.ts'
import type { Hex } from '../messages.ts'
import type { LocationRecord } from '../store-messages.ts'
import type { QuarantineStage } from '../sync-messages.ts'
import { readLocation } from './attested-location.ts'

/** Grows whenever more attestations can be read: then those in quarantine are tried again. */
export const DECODER_VERSION = 2

/** What of an attestation becomes a record. Hex is lower case. */
export interface AttestedFields {
  readonly uid: Hex
  readonly attester: Hex
  readonly recipient: Hex
  readonly timeSeconds: number
  readonly data: Hex
}

export interface RecordPlace {
  readonly chainId: number
  /** Name of the chain on the wire. */
  readonly chain: string
  readonly blockNumber: number
  /** Largest data of an attestation that is kept. */
  readonly maxDataBytes: number
}

export type Converted =
  | { readonly ok: true; readonly record: LocationRecord }
  | { readonly ok: false; readonly stage: QuarantineStage; readonly reason: string }

const LAST_SECOND = 253_402_300_799n // 9999-12-31T23:59:59Z

/** A location attestation as a record. Never throws on what somebody attested. */
export function recordOf(
  { uid, attester, recipient, timeSeconds, data }: AttestedFields,
  place: RecordPlace,
): Converted {
  const bytes = (data.length - 2) / 2
  if (bytes > place.maxDataBytes) {
    return { ok: false, stage: 'size', reason: `has ${bytes} bytes of data, more than ${place.maxDataBytes}` }
  }
  const decoded = decodeLocation(data)
  if (!decoded.ok) return { ok: false, stage: 'data', reason: `its data ${decoded.reason}` }
  const { value } = decoded
  if (value.eventTimestampSeconds > LAST_SECOND) {
    return {
      ok: false,
      stage: 'time',
      reason: `eventTimestamp ${value.eventTimestampSeconds} is past the year 9999 in seconds`,
    }
  }
  const location = readLocation(value.locationType, value.location)
  if (!location.ok) return { ok: false, stage: 'location', reason: location.reason }
  const { geometry } = location
  const point = geometry.type === 'Point' ? geometry.coordinates : undefined
  return {
    ok: true,
    record: {
      uid,
      chainId: place.chainId,
      chain: place.chain,
      prover: attester,
      subject: recipient,
      timeSeconds,
      eventTimeSeconds: Number(value.eventTimestampSeconds),
      srs: value.srs,
      locationType: value.locationType,
      location: location.text,
      longitude: point?.[0] ?? null,
      latitude: point?.[1] ?? null,
      bounds: boundsOf(geometry),
      recipeTypes: value.recipeType,
      recipePayloads: value.recipePayload.map((payload) => Buffer.from(payload.slice(2), 'hex').toString('base64')),
      mediaTypes: value.mediaType,
      mediaData: value.mediaData,
      memo: value.memo === '' ? null : value.memo,
      blockNumber: place.blockNumber,
    },
  }
}
