import { SaxesParser } from 'saxes'
import type { Position } from '../../types/generated.ts'
import { pointOf, SourceError, type SourceItem } from './source-item.ts'

const MAX_DEPTH = 64
const MAX_POSITIONS = 1_000_000

/** What a waypoint, route or track is made of while it is read. */
interface Open {
  readonly name: 'waypoint' | 'route' | 'track'
  readonly place: string
  readonly segments: Position[][]
  fault: string | undefined
}

/**
 * GPX 1.0 and 1.1: waypoints are points, routes lines, tracks lines or, with several segments, multi-lines. Times, heights and
 * extensions are passed over. Nothing is fetched, and a document type, which could define entities, is refused.
 *
 * @throws {SourceError} on text that is no XML
 */
export async function* gpxItems(texts: AsyncIterable<string>): AsyncGenerator<SourceItem, void, undefined> {
  const parser = new SaxesParser<{ xmlns: false; position: true }>({ xmlns: false, position: true })
  const found: SourceItem[] = []
  let open: Open | undefined
  let depth = 0
  let positions = 0
  let isGpx = false
  const place = () => `line ${parser.line}`
  parser.on('error', ({ message }) => {
    throw new SourceError(place(), message.replace(/^\d+:\d+: /, ''))
  })
  parser.on('doctype', () => {
    throw new SourceError(place(), 'a document type is not taken')
  })
  parser.on('opentag', ({ name, attributes }) => {
    depth++
    if (depth > MAX_DEPTH) throw new SourceError(place(), `elements are nested deeper than ${MAX_DEPTH}`)
    const local = localName(name)
    if (depth === 1) {
      if (local !== 'gpx') throw new SourceError(place(), `is <${local}>, not <gpx>`)
      isGpx = true
    } else if (depth === 2) {
      open = opened(local, place())
      if (open?.name === 'waypoint') addPosition(open, attributes)
    } else if (local === 'trkseg') open?.segments.push([])
    else if (local === 'rtept' || local === 'trkpt') addPosition(open, attributes)
  })
  parser.on('closetag', () => {
    depth--
    if (depth !== 1 || open === undefined) return
    found.push(closed(open))
    open = undefined
    positions = 0
  })

  function addPosition(into: Open | undefined, { lon, lat }: Record<string, string>): void {
    const segment = into?.segments.at(-1)
    if (into === undefined || segment === undefined) return
    if (++positions > MAX_POSITIONS) throw new SourceError(place(), `more than ${MAX_POSITIONS} positions`)
    const point = pointOf(lon ?? '', lat ?? '')
    if ('fault' in point) into.fault ??= `line ${parser.line}, column ${parser.column}: ${point.fault}`
    else segment.push(point.value.coordinates)
  }

  for await (const text of texts) {
    parser.write(text)
    yield* found.splice(0)
  }
  parser.close()
  yield* found
  if (!isGpx) throw new SourceError('', 'has no <gpx>')
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function opened(local: string, place: string): Open | undefined {
  if (local === 'wpt') return { name: 'waypoint', place, segments: [[]], fault: undefined }
  if (local === 'rte') return { name: 'route', place, segments: [[]], fault: undefined }
  return local === 'trk' ? { name: 'track', place, segments: [], fault: undefined } : undefined
}

function closed({ name, place, segments, fault }: Open): SourceItem {
  if (fault !== undefined) return { place, fault: `${name}: ${fault}` }
  if (name === 'waypoint') return { place, value: { type: 'Point', coordinates: segments[0]![0] } }
  // A segment of one position is where a receiver lost its satellites.
  const lines = segments.filter((segment) => segment.length >= 2)
  if (lines.length === 0) return { place, fault: `${name} with fewer than two positions in a row` }
  if (lines.length === 1) return { place, value: { type: 'LineString', coordinates: lines[0] } }
  return { place, value: { type: 'MultiLineString', coordinates: lines } }
}
