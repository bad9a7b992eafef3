import { decodeLocation } from '../attest/decode.ts'
import { ProblemError } from '../base/problem.ts'
import type { LocationLayout } from '../config/signer.ts'
import { readAttestedLocation } from '../geometry/attested-location.ts'
import { computeBounds } from '../geometry/bounds.ts'
import { checkShape } from '../geometry/check-shape.ts'
import { type FormatLimits, trimAscii } from '../geometry/notation.ts'
import { createPoleResolver } from '../geometry/pole-resolver.ts'
import type { Geometry } from '../types/generated.ts'
import type { LocationRecord } from '../wire/store-messages.ts'
import type { QuarantineStage } from '../wire/sync-messages.ts'
import type { Hex } from '../wire/values.ts'

/** Incremented whenever more attestations can be decoded; quarantined ones are then retried. */
export const DECODER_VERSION = 2

/** The fields of an attestation that a record is made of. Hex is lower case. */
export interface AttestedFields {
  readonly uid: Hex
  readonly attester: Hex
  readonly recipient: Hex
  readonly timeSeconds: number
  /** Layout of the schema of the attestation. */
  readonly layout: LocationLayout
  readonly data: Hex
}

export interface RecordContext {
  readonly chainId: number
  /** Name of the chain in the API. */
  readonly chain: string
  readonly blockNumber: number
  /** Limit of an attestation's data; larger ones are quarantined. */
  readonly maxDataBytes: number
}

export type ConversionResult =
  | { readonly ok: true; readonly record: LocationRecord }
  | { readonly ok: false; readonly stage: QuarantineStage; readonly reason: string }

const resolvePole = createPoleResolver()

const LAST_SECOND = 253_402_300_799n // 9999-12-31T23:59:59Z

/** Converts a location attestation into a record. Never throws because of the attested content. */
export function toLocationRecord(
  { uid, attester, recipient, timeSeconds, layout, data }: AttestedFields,
  context: RecordContext,
): ConversionResult {
  const bytes = (data.length - 2) / 2
  if (bytes > context.maxDataBytes) {
    return { ok: false, stage: 'size', reason: `has ${bytes} bytes of data, more than ${context.maxDataBytes}` }
  }
  const decoded = decodeLocation(data, layout)
  if (!decoded.ok) return { ok: false, stage: 'data', reason: `its data ${decoded.reason}` }
  const { value } = decoded
  const { eventTimestampSeconds = BigInt(timeSeconds) } = value
  if (eventTimestampSeconds > LAST_SECOND) {
    return {
      ok: false,
      stage: 'time',
      reason: `eventTimestamp ${eventTimestampSeconds} is past the year 9999 in seconds`,
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
      chainId: context.chainId,
      chain: context.chain,
      prover: attester,
      subject: recipient,
      timeSeconds,
      eventTimeSeconds: Number(eventTimestampSeconds),
      srs: value.srs,
      locationType: value.locationType,
      location: location.text,
      longitude: point?.[0] ?? null,
      latitude: point?.[1] ?? null,
      bounds: computeBounds(geometry, resolvePole),
      recipeTypes: value.recipeType,
      recipePayloads: value.recipePayload.map((payload) => Buffer.from(payload.slice(2), 'hex').toString('base64')),
      mediaTypes: value.mediaType,
      mediaData: value.mediaData,
      memo: value.memo === '' ? null : value.memo,
      blockNumber: context.blockNumber,
    },
  }
}

/** Vertices and parts need no limit, because `maxDataBytes` limits the attestation. */
const LIMITS: FormatLimits = {
  maxVertices: Number.POSITIVE_INFINITY,
  maxParts: Number.POSITIVE_INFINITY,
  maxCollectionDepth: 8,
}

type RecordLocation =
  | {
      readonly ok: true
      readonly geometry: Geometry
      /** A GeoJSON geometry: the attested text itself if it is one, else its conversion. */
      readonly text: string
    }
  | { readonly ok: false; readonly reason: string }

function readLocation(locationType: string, location: string): RecordLocation {
  try {
    let attested: unknown
    const value = readAttestedLocation(locationType, location, ['location'], LIMITS, (text) => {
      attested = JSON.parse(text)
      return attested
    })
    const shaped = checkShape(value)
    if (!shaped.ok) return { ok: false, reason: `the location ${shaped.reason}` }
    const { geometry } = shaped
    return { ok: true, geometry, text: value === attested ? trimAscii(location) : JSON.stringify(geometry) }
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    return { ok: false, reason: `the ${error.data.detail}` }
  }
}
