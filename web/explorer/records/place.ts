import { clip } from '../../../src/base/text.ts'
import { checkShape } from '../../../src/geometry/check-shape.ts'
import type { Geometry, LocationRecord } from '../../../src/types/generated.ts'
import { degreesText } from '../format.ts'
import { boxOf, type LonLat, vertexCount, wrapped } from '../geo/shape.ts'

/** Returns the geometry of a record; undefined if its location is not a GeoJSON geometry. */
export function geometryOfRecord({ location, longitude, latitude }: LocationRecord): Geometry | undefined {
  if (longitude !== null && latitude !== null) return { type: 'Point', coordinates: [longitude, latitude] }
  try {
    const value = JSON.parse(location)
    const read = checkShape(value?.type === 'Feature' ? value.geometry : value)
    return read.ok ? read.geometry : undefined
  } catch {
    return undefined
  }
}

/** Returns the centre of the bounding box, where the map puts the marker. */
export function middleOf(geometry: Geometry): LonLat | undefined {
  const box = boxOf([geometry])
  return box === undefined ? undefined : [wrapped((box[0] + box[2]) / 2), (box[1] + box[3]) / 2]
}

export function placeText(record: LocationRecord): string {
  const geometry = geometryOfRecord(record)
  const middle = geometry === undefined ? undefined : middleOf(geometry)
  if (geometry === undefined || middle === undefined) return clip(record.location, 40)
  const where = degreesText(middle[0], middle[1], 3)
  return geometry.type === 'Point' ? where : `${geometry.type}, ${vertexCount(geometry)} vertices, ${where}`
}

const EXPLORERS: Readonly<Record<string, string>> = {
  arbitrum: 'arbitrum',
  celo: 'celo',
  sepolia: 'sepolia',
  base: 'base',
  'base-sepolia': 'base-sepolia',
}

/** The hex digits of `trigpoint sample`, with which the UIDs of --sample-records begin. */
const SAMPLE_UID = '0x74726967706f696e742073616d706c65'

/** Returns whether this is a sample record. The memo does not count, because any attester can write anything there. */
export function isMadeUp({ uid }: LocationRecord): boolean {
  return uid.startsWith(SAMPLE_UID)
}

/** Returns the URL of the attestation on easscan; undefined for chains without an easscan site, and for sample records. */
export function explorerAddress(record: LocationRecord): string | undefined {
  const name = EXPLORERS[record.chain]
  return name === undefined || isMadeUp(record)
    ? undefined
    : `https://${name}.easscan.org/attestation/view/${record.uid}`
}
