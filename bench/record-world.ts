/** Generates realistic location records from a seed: crowded cities, a few busy provers, and some polygons. */
import { createHash } from 'node:crypto'
import type { Bounds, LocationRecord } from '../src/wire/store-messages.ts'
import type { Hex } from '../src/wire/values.ts'

/** Chains of the API with their share of the records. */
const CHAINS = [
  [42161, 'arbitrum', 0.4],
  [42220, 'celo', 0.25],
  [84532, 'base-sepolia', 0.2],
  [11155111, 'sepolia', 0.1],
  [8453, 'base', 0.05],
] as const

const CITIES = 50
const CITY_SHARE = 0.6
const POLYGON_SHARE = 0.05
const CROSSING_SHARE = 0.001
const PROVERS = 2000
const DAY = 86_400

/** Uniform numbers below 1 from a 32-bit seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The positions of cities, near which most records are. */
export function cities(seed: number): readonly (readonly [longitude: number, latitude: number])[] {
  const random = randomFrom(seed ^ 0x5f5f)
  return Array.from({ length: CITIES }, () => [random() * 340 - 170, random() * 120 - 50] as const)
}

export interface WorldOptions {
  readonly seed: number
  readonly count: number
  /** Block time of the newest record. */
  readonly newestSeconds: number
  /** Time from the oldest to the newest record. */
  readonly spanDays: number
}

/** Yields records in the order of their blocks, oldest first. Ten consecutive records share one second. */
export function* recordWorld({ seed, count, newestSeconds, spanDays }: WorldOptions): Generator<LocationRecord> {
  const random = randomFrom(seed)
  const cityPositions = cities(seed)
  for (let index = 0; index < count; index++) {
    const [chainId, chain] = pickChain(random())
    // Groups of ten share a second, like the records of one multiAttest.
    const age = ((count - 1 - (index - (index % 10))) / count) * spanDays * DAY
    const timeSeconds = Math.floor(newestSeconds - age)
    const shape = randomShape(random, cityPositions)
    const isLate = random() < 0.1
    const prover = deriveAddress(seed, Math.floor(PROVERS * random() ** 3))
    yield {
      uid: digest(`uid ${seed} ${index}`) as Hex,
      chainId,
      chain,
      prover,
      subject: random() < 0.8 ? prover : deriveAddress(seed, PROVERS + Math.floor(random() * 500)),
      timeSeconds,
      eventTimeSeconds: timeSeconds - (isLate ? Math.floor(random() * 30 * DAY) : Math.floor(random() * 600)),
      srs: 'EPSG:4326',
      ...shape,
      recipeTypes: random() < 0.3 ? ['simple-signature'] : [],
      recipePayloads: [],
      mediaTypes: random() < 0.2 ? ['image/jpeg'] : [],
      mediaData: random() < 0.2 ? [`ipfs://${digest(`media ${index}`).slice(2)}`] : [],
      memo: random() < 0.7 ? `visit ${index}, was here and noted what there was to see` : null,
      blockNumber: Math.floor(timeSeconds / 2),
    }
  }
}

function pickChain(share: number): readonly [number, string] {
  let remaining = share
  for (const [id, name, part] of CHAINS) {
    remaining -= part
    if (remaining < 0) return [id, name]
  }
  return [42161, 'arbitrum']
}

type Shape = Pick<LocationRecord, 'locationType' | 'location' | 'longitude' | 'latitude' | 'bounds'>

function randomShape(random: () => number, cityPositions: readonly (readonly [number, number])[]): Shape {
  const [longitude, latitude] = randomPosition(random, cityPositions)
  if (random() >= POLYGON_SHARE) {
    return {
      locationType: 'geojson-point',
      location: JSON.stringify({ type: 'Point', coordinates: [longitude, latitude] }),
      longitude,
      latitude,
      bounds: [longitude, latitude, longitude, latitude],
    }
  }
  const width = random() * 0.2
  const isCrossing = random() < CROSSING_SHARE / POLYGON_SHARE
  const west = isCrossing ? 179.9 : Math.min(longitude, 179.7)
  const east = west + width + (isCrossing ? 0.1 : 0)
  const north = Math.min(latitude + random() * 0.2, 90)
  const box: Bounds = [west, latitude, east, north]
  const ring = [
    [west, latitude],
    [east, latitude],
    [east, north],
    [west, north],
    [west, latitude],
  ]
  const wrappedRing = ring.map(([x, y]) => [x! > 180 ? x! - 360 : x!, y!])
  return {
    locationType: 'geojson-polygon',
    location: JSON.stringify({ type: 'Polygon', coordinates: [wrappedRing] }),
    longitude: null,
    latitude: null,
    bounds: box,
  }
}

function randomPosition(random: () => number, cityPositions: readonly (readonly [number, number])[]): [number, number] {
  if (random() >= CITY_SHARE)
    return [roundToMicrodegrees(random() * 359.9 - 180), roundToMicrodegrees(random() * 170 - 85)]
  const [longitude, latitude] = cityPositions[Math.floor(cityPositions.length * random() ** 2)]!
  const spread = () => (random() + random() + random() - 1.5) * 0.4
  return [roundToMicrodegrees(longitude + spread()), roundToMicrodegrees(latitude + spread())]
}

const roundToMicrodegrees = (degrees: number) => Math.round(degrees * 1e6) / 1e6

function deriveAddress(seed: number, index: number): Hex {
  return `0x${createHash('sha1').update(`address ${seed} ${index}`).digest('hex')}`
}

function digest(text: string): string {
  return `0x${createHash('sha256').update(text).digest('hex')}`
}
