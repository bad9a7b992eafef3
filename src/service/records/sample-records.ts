import { createHash } from 'node:crypto'
import type { Config } from '../../config/config.ts'
import { computeBounds } from '../../geometry/bounds.ts'
import { createPoleResolver } from '../../geometry/pole-resolver.ts'
import type { StoreClient } from '../../threads/store-client.ts'
import type { Geometry } from '../../types/generated.ts'
import { type BlockRange, type LocationRecord, StoreFault } from '../../wire/store-messages.ts'
import type { Hex } from '../../wire/values.ts'

/** A place around which sample records are made: the middle of a city or of a landscape, in degrees with two decimals. */
interface SamplePlace {
  readonly name: string
  readonly longitude: number
  readonly latitude: number
  /** Relative number of records at this place. */
  readonly weight: number
}

const ROWS: readonly (readonly [name: string, longitude: number, latitude: number, weight: number])[] = [
  ['Nairobi', 36.82, -1.29, 9],
  ['Lagos', 3.38, 6.52, 8],
  ['Accra', -0.19, 5.6, 4],
  ['Cape Town', 18.42, -33.92, 4],
  ['Cairo', 31.24, 30.04, 3],
  ['Kisumu', 34.77, -0.1, 5],
  ['Berlin', 13.4, 52.52, 7],
  ['Paris', 2.35, 48.86, 6],
  ['London', -0.13, 51.51, 6],
  ['Lisbon', -9.14, 38.72, 6],
  ['Zurich', 8.54, 47.38, 4],
  ['Prague', 14.42, 50.09, 3],
  ['Istanbul', 28.98, 41.01, 4],
  ['Reykjavik', -21.94, 64.15, 1],
  ['Tromsø', 18.96, 69.65, 1],
  ['New York', -74.01, 40.71, 7],
  ['San Francisco', -122.42, 37.77, 7],
  ['Denver', -104.99, 39.74, 4],
  ['Toronto', -79.38, 43.65, 4],
  ['Mexico City', -99.13, 19.43, 5],
  ['Bogotá', -74.07, 4.71, 5],
  ['Medellín', -75.57, 6.24, 3],
  ['São Paulo', -46.63, -23.55, 6],
  ['Manaus', -60.02, -3.12, 3],
  ['Buenos Aires', -58.38, -34.6, 6],
  ['Santiago', -70.67, -33.45, 3],
  ['Ushuaia', -68.3, -54.8, 1],
  ['Mumbai', 72.88, 19.08, 6],
  ['Bengaluru', 77.59, 12.97, 6],
  ['Kathmandu', 85.32, 27.72, 2],
  ['Bangkok', 100.5, 13.76, 4],
  ['Chiang Mai', 98.99, 18.79, 3],
  ['Singapore', 103.82, 1.35, 6],
  ['Manila', 120.98, 14.6, 4],
  ['Taipei', 121.56, 25.03, 4],
  ['Seoul', 126.98, 37.57, 4],
  ['Tokyo', 139.69, 35.68, 6],
  ['Sydney', 151.21, -33.87, 4],
  ['Auckland', 174.76, -36.85, 2],
  ['Suva', 178.44, -18.14, 2],
  ['Taveuni', 179.97, -16.85, 2],
  ['Honolulu', -157.86, 21.31, 2],
]

const SAMPLE_PLACES: readonly SamplePlace[] = ROWS.map(([name, longitude, latitude, weight]) => ({
  name,
  longitude,
  latitude,
  weight,
}))

interface SampleOptions {
  /** Number of records to make. */
  readonly count: number
  /** Time of the newest record, seconds since the epoch. */
  readonly newestSeconds: number
  /** Chain ids by name. */
  readonly chains: ReadonlyMap<string, number>
}

/** A kind of sample record: its share of all records, its texts and its geometry. */
interface SampleKind {
  readonly share: number
  readonly memo: (place: SamplePlace) => string
  readonly mediaType?: string
  readonly recipeType?: string
  readonly shape: (draw: Draw, place: SamplePlace) => Geometry
}

/** Longitude and latitude. The longitude continues beyond ±180 where a shape crosses the antimeridian. */
type Unrolled = readonly [longitude: number, latitude: number]

/** Returns a uniform random number, 0 ≤ value < 1. */
type Draw = () => number

const KINDS: readonly SampleKind[] = [
  { share: 0.42, memo: ({ name }) => `Sample: parcel handed over in ${name}`, shape: point },
  {
    share: 0.22,
    memo: ({ name }) => `Sample: air quality measured in ${name}`,
    mediaType: 'application/json',
    shape: point,
  },
  { share: 0.14, memo: ({ name }) => `Sample: photo of a street in ${name}`, mediaType: 'image/jpeg', shape: point },
  {
    share: 0.12,
    memo: ({ name }) => `Sample: trees planted near ${name}`,
    recipeType: 'simple-signature',
    shape: plot,
  },
  { share: 0.1, memo: ({ name }) => `Sample: bicycle track through ${name}`, shape: track },
]

const CHAIN_SHARES = [
  ['celo', 0.35],
  ['arbitrum', 0.3],
  ['base-sepolia', 0.2],
  ['sepolia', 0.15],
] as const

/**
 * Every sample UID begins with these 16 bytes, `trigpoint sample`, so pages and `--restore` can recognise sample records. A real record cannot be
 * mistaken for a sample, whatever its memo says, because UIDs on a chain are hashes.
 */
export const SAMPLE_UID_PREFIX = Buffer.from('trigpoint sample').toString('hex')
const PROVER_COUNT = 60
const SPAN_SECONDS = 365 * 86_400
const REVOKED_SHARE = 0.02
const RECORDS_PER_RANGE = 500
const resolvePole = createPoleResolver()

/**
 * Generates a year of plausible location records: parcels, measurements, photos, plantations and tracks around cities, more of
 * them recent than old. A few cross the antimeridian, and a few are revoked. The same options give the same records. They are on
 * no chain, and each memo says that it is a sample.
 */
export function* sampleRanges({ count, newestSeconds, chains }: SampleOptions): Generator<BlockRange> {
  const draw = mulberry32(2026)
  const byChain = new Map<string, LocationRecord[]>(CHAIN_SHARES.map(([chain]) => [chain, []]))
  for (let index = 0; index < count; index++) {
    const chain = pick(draw, CHAIN_SHARES, ([, share]) => share)[0]
    // Recent records are more frequent: half of them lie in the last quarter of the year.
    const age = Math.floor(SPAN_SECONDS * (1 - index / count) ** 2)
    byChain.get(chain)!.push(sampleRecord(draw, index, chain, chains.get(chain)!, newestSeconds - age))
  }
  for (const [chain, records] of byChain) {
    for (let start = 0; start < records.length; start += RECORDS_PER_RANGE) {
      const rangeRecords = records.slice(start, start + RECORDS_PER_RANGE)
      const revocations = rangeRecords
        .filter(() => draw() < REVOKED_SHARE)
        .map(({ uid, blockNumber }) => ({ uid, blockNumber: blockNumber + 1 }))
      yield { chainId: chains.get(chain)!, records: rangeRecords, revocations }
    }
  }
}

function sampleRecord(draw: Draw, index: number, chain: string, chainId: number, timeSeconds: number): LocationRecord {
  const place = pick(draw, SAMPLE_PLACES, ({ weight }) => weight)
  const kind = pick(draw, KINDS, ({ share }) => share)
  const prover = address(`prover ${Math.floor(PROVER_COUNT * draw() ** 2)}`)
  const shape = kind.shape(draw, place)
  const point = shape.type === 'Point' ? shape.coordinates : undefined
  return {
    uid: `0x${SAMPLE_UID_PREFIX}${createHash('sha256').update(`sample ${index}`).digest('hex').slice(0, 32)}`,
    chainId,
    chain,
    prover,
    subject: draw() < 0.8 ? prover : address(`subject ${Math.floor(20 * draw())}`),
    timeSeconds,
    eventTimeSeconds: timeSeconds - Math.floor(draw() * 900),
    srs: 'EPSG:4326',
    locationType: `geojson-${shape.type.toLowerCase()}`,
    location: JSON.stringify(shape),
    longitude: point?.[0] ?? null,
    latitude: point?.[1] ?? null,
    bounds: computeBounds(shape, resolvePole),
    recipeTypes: kind.recipeType === undefined ? [] : [kind.recipeType],
    recipePayloads: kind.recipeType === undefined ? [] : [Buffer.from(`sample ${index}`).toString('base64')],
    mediaTypes: kind.mediaType === undefined ? [] : [kind.mediaType],
    mediaData: kind.mediaType === undefined ? [] : [`sample:${index}`],
    memo: kind.memo(place),
    blockNumber: Math.floor(timeSeconds / 2),
  }
}

function point(draw: Draw, place: SamplePlace): Geometry {
  return { type: 'Point', coordinates: cutAtAntimeridian([near(draw, place, 0.08)])[0]![0]! }
}

/** Makes a plot with four corners, some hundred metres wide. It is convex. */
function plot(draw: Draw, place: SamplePlace): Geometry {
  const [west, south] = near(draw, place, 0.25)
  const [width, height] = [0.002 + draw() * 0.006, 0.002 + draw() * 0.004]
  const corner = (x: number, y: number): Unrolled => [west + x * width, south + y * height]
  const slant = draw() * 0.3
  const first = corner(0, 0)
  const pieces = cutAtAntimeridian([first, corner(1, slant), corner(1 - slant, 1), corner(slant / 2, 1), first])
  const [start, other, end] = pieces
  if (other === undefined || end === undefined) return { type: 'Polygon', coordinates: [start!] }
  // A convex ring crosses a meridian twice, so it ends on the side where it starts.
  const rings = [[...end, ...start!.slice(1)], other].map((ring) => [...ring, ring[0]!])
  return { type: 'MultiPolygon', coordinates: rings.map((ring) => [ring]) }
}

/** Makes a track of some kilometres that changes direction a little at each step. */
function track(draw: Draw, place: SamplePlace): Geometry {
  let [longitude, latitude] = near(draw, place, 0.05)
  let direction = draw() * 2 * Math.PI
  const path = Array.from({ length: 12 + Math.floor(draw() * 30) }, (): Unrolled => {
    direction += draw() - 0.5
    longitude += Math.sin(direction) * 0.002
    latitude += Math.cos(direction) * 0.0015
    return [longitude, latitude]
  })
  const [line, ...others] = cutAtAntimeridian(path)
  return others.length === 0
    ? { type: 'LineString', coordinates: line! }
    : { type: 'MultiLineString', coordinates: [line!, ...others] }
}

function near(draw: Draw, { longitude, latitude }: SamplePlace, spreadDegrees: number): Unrolled {
  const offset = () => (draw() + draw() + draw() - 1.5) * spreadDegrees
  return [roundDegrees(longitude + offset()), roundDegrees(latitude + offset())]
}

/**
 * Cuts a path where it crosses the antimeridian (RFC 7946, section 3.1.9).
 *
 * @returns its pieces with longitudes in −180..180, rounded; each ends on the meridian where the next one begins
 */
function cutAtAntimeridian(path: readonly Unrolled[]): [number, number][][] {
  const turnOf = ([longitude]: Unrolled) => Math.floor((longitude + 180) / 360)
  const position = ([longitude, latitude]: Unrolled, turn: number): [number, number] => [
    roundDegrees(longitude - 360 * turn),
    roundDegrees(latitude),
  ]
  const pieces: [number, number][][] = [[]]
  for (const [index, to] of path.entries()) {
    const from = path[index - 1] ?? to
    const [before, after] = [turnOf(from), turnOf(to)]
    if (before !== after) {
      const meridian = 360 * Math.max(before, after) - 180
      const share = (meridian - from[0]) / (to[0] - from[0])
      const crossing: Unrolled = [meridian, from[1] + share * (to[1] - from[1])]
      pieces.at(-1)!.push(position(crossing, before))
      pieces.push([position(crossing, after)])
    }
    pieces.at(-1)!.push(position(to, after))
  }
  return pieces
}

const roundDegrees = (degrees: number) => Math.round(degrees * 1e6) / 1e6

function pick<T>(draw: Draw, rows: readonly T[], weight: (row: T) => number): T {
  let remainingWeight = draw() * rows.reduce((sum, row) => sum + weight(row), 0)
  for (const row of rows) {
    remainingWeight -= weight(row)
    if (remainingWeight < 0) return row
  }
  return rows.at(-1)!
}

function address(name: string): Hex {
  return `0x${createHash('sha1').update(`sample ${name}`).digest('hex')}`
}

/** Returns a generator of uniform random numbers from a 32-bit seed (Mulberry32). */
function mulberry32(seed: number): Draw {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Enough records for several pages and a well-filled map; stored in about a second. */
const SAMPLE_COUNT = 5000
const POLL_MS = 100
/** Pause before the next attempt, and the number of attempts: five minutes in all, and the time that the attempts take. */
const RETRY_MS = 5000
const MAX_ATTEMPTS = 60

interface SampleFill {
  /** Number of records stored by this call; 0 if there is a `reason`. */
  readonly stored: number
  /** Why no records were stored. */
  readonly reason?: string
}

/**
 * Waits until the store is open, then fills it with sample records if it has none. Completes a fill that was interrupted.
 *
 * @param nowMs milliseconds since the epoch; the newest sample is a minute older
 * @throws {StoreFault} if the records cannot be written
 */
export async function fillWithSamples(
  store: StoreClient,
  chains: ReadonlyMap<string, number>,
  limits: Config['limits'],
  nowMs: () => number,
): Promise<SampleFill> {
  const latestMs = nowMs() + limits.storeOpenMs
  while (!store.state.isOpen) {
    if (nowMs() > latestMs) throw new StoreFault('opening', `the store is not open: ${store.state.reason}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  const nowSeconds = Math.floor(nowMs() / 1000)
  const { byChain } = await store.ask('stats', { nowSeconds }, nowMs() + limits.storeReadMs)
  const ranges = [...sampleRanges({ count: SAMPLE_COUNT, newestSeconds: nowSeconds - 60, chains })]
  if (byChain.some(({ records }) => records > 0)) {
    const isStored = async (uid: Hex) => (await store.ask('record', uid, nowMs() + limits.storeReadMs)) !== undefined
    // Ranges are stored in order, each completely or not at all, and the first only into an empty store.
    if (!(await isStored(ranges[0]!.records[0]!.uid)))
      return { stored: 0, reason: 'the store already has other records: use a new data folder (--data)' }
    if (await isStored(ranges.at(-1)!.records[0]!.uid)) {
      return { stored: 0, reason: 'the sample records are already stored' }
    }
  }
  let stored = 0
  // Records that are already stored stay unchanged.
  for (const range of ranges) {
    stored += (await store.ask('apply', range, nowMs() + limits.storeWriteMs)).inserted
  }
  return { stored }
}

/**
 * As `fillWithSamples`, but tries again while the store fails, as it does on a busy machine. Its pauses do not delay the end of the
 * process.
 *
 * @param onRetry gets the reason of each attempt that failed and is repeated
 * @throws {StoreFault} the last one, after the last attempt
 */
export async function fillUntilStored(
  onRetry: (reason: string) => void,
  ...parts: Parameters<typeof fillWithSamples>
): Promise<SampleFill> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await fillWithSamples(...parts)
    } catch (error) {
      if (!(error instanceof StoreFault) || attempt === MAX_ATTEMPTS) throw error
      onRetry(error.message)
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref())
    }
  }
}
