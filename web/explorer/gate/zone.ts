/** The zone of a gate, and the address of the page that holds it. */
import { checkShape } from '../../../src/geometry/check-shape.ts'
import type { Geometry } from '../../../src/types/generated.ts'
import { boxOf, drawn, type LonLat } from '../geo/shape.ts'

export interface Zone {
  readonly target: Geometry
  /** Greatest distance from the target at which the gate opens; whole centimetres. */
  readonly radiusMeters: number
}

/** What the address of the page holds. */
export interface GateLink {
  readonly chainId: number | undefined
  readonly zone: Zone
  /** Address of the deployed contract. */
  readonly gate: string | undefined
}

/** The limits of the service for the radius of `within`. */
export const MIN_RADIUS_METERS = 0.01
export const MAX_RADIUS_METERS = 20_037_508
/** Browsers and messengers cut longer addresses. */
export const MAX_LINK_CHARACTERS = 8000

export const EXAMPLES: readonly { readonly title: string; readonly zone: Zone }[] = [
  {
    title: '500 m around the Eiffel Tower',
    zone: { target: { type: 'Point', coordinates: [2.2945, 48.8584] }, radiusMeters: 500 },
  },
  {
    title: 'Praça do Comércio in Lisbon, and 10 m around it',
    zone: {
      target: {
        type: 'Polygon',
        coordinates: [
          [
            [-9.1378, 38.7068],
            [-9.1352, 38.7069],
            [-9.1352, 38.7084],
            [-9.1378, 38.7084],
            [-9.1378, 38.7068],
          ],
        ],
      },
      radiusMeters: 10,
    },
  },
  {
    title: '2 km around Null Island',
    zone: { target: { type: 'Point', coordinates: [0, 0] }, radiusMeters: 2000 },
  },
]

/** Reads a radius as a person types it. @returns whole centimetres in metres; undefined if it is outside the limits */
export function readRadius(text: string): number | undefined {
  const meters = Math.round(Number(text.trim() || Number.NaN) * 100) / 100
  return meters >= MIN_RADIUS_METERS && meters <= MAX_RADIUS_METERS ? meters : undefined
}

/** Returns the radius as the contract stores it. */
export function radiusCm({ radiusMeters }: Zone): number {
  return Math.round(radiusMeters * 100)
}

/** Returns the middle of the bounding box of a zone. */
export function middleOf({ target }: Zone): LonLat {
  const [west, south, east, north] = boxOf([target])!
  return drawn((west + east) / 2, (south + north) / 2)
}

/** Returns a point within the zone, or near it: the first one to try. In a circle it is apart from the handle of the centre. */
export function firstPoint(zone: Zone): LonLat {
  const [longitude, latitude] = middleOf(zone)
  if (zone.target.type !== 'Point') return [longitude, latitude]
  const northDegrees = zone.radiusMeters / 2 / METERS_PER_DEGREE
  return drawn(
    longitude,
    latitude > 0 && latitude + northDegrees > 90 ? latitude - northDegrees : latitude + northDegrees,
  )
}

/** Of latitude, about. */
const METERS_PER_DEGREE = 111_200

/** Writes the query of the page's address. */
export function encodeLink({ chainId, zone, gate }: GateLink): URLSearchParams {
  const query = new URLSearchParams({ target: JSON.stringify(zone.target), radius: String(zone.radiusMeters) })
  if (chainId !== undefined) query.set('chain', String(chainId))
  if (gate !== undefined) query.set('gate', gate)
  return query
}

/** Reads the query of the page's address. @returns a sentence that says what is wrong, if a part is not what it should be */
export function decodeLink(query: URLSearchParams): GateLink | string {
  const [chain, gate] = [query.get('chain'), query.get('gate')]
  const radiusMeters = readRadius(query.get('radius') ?? '')
  const target = readTarget(query.get('target') ?? '')
  if (target === undefined) return 'This link does not contain a valid zone'
  if (radiusMeters === undefined) return 'The radius in this link is not a number of metres from 0.01 to 20,037,508'
  if (chain !== null && !/^[1-9]\d{0,14}$/.test(chain)) return 'The chain in this link is not a chain ID, such as 8453'
  if (gate !== null && !isAddress(gate)) return 'The gate in this link is not an address: 0x and 40 hex digits'
  return {
    chainId: chain === null ? undefined : Number(chain),
    zone: { target, radiusMeters },
    gate: gate ?? undefined,
  }
}

export function isAddress(text: string): boolean {
  return /^0x[0-9a-fA-F]{40}$/.test(text)
}

function readTarget(text: string): Geometry | undefined {
  try {
    const shape = checkShape(JSON.parse(text))
    return shape.ok && boxOf([shape.geometry]) !== undefined ? shape.geometry : undefined
  } catch {
    return undefined
  }
}
