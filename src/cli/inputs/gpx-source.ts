import { SaxesParser } from 'saxes'
import type { Position } from '../../types/generated.ts'
import { parsePoint, SourceError, type SourceItem } from './source-item.ts'

const MAX_DEPTH = 64
const MAX_POSITIONS = 1_000_000

/** A waypoint, route or track while it is being read. */
interface OpenElement {
  readonly name: 'waypoint' | 'route' | 'track'
  readonly place: string
  readonly segments: Position[][]
  fault: string | undefined
}

/**
 * Reads GPX 1.0 and 1.1. A waypoint becomes a Point, a route a LineString, a track a LineString or, with several segments, a
 * MultiLineString. Times, heights and extensions are ignored. Nothing is fetched. A document type is rejected, because it could
 * define entities.
 *
 * @throws {SourceError} on text that is not XML or not GPX
 */
export async function* gpxItems(texts: AsyncIterable<string>): AsyncGenerator<SourceItem[], void, undefined> {
  const parser = new SaxesParser<{ xmlns: false; position: true }>({ xmlns: false, position: true })
  const items: SourceItem[] = []
  let open: OpenElement | undefined
  let depth = 0
  let positions = 0
  let isGpx = false
  const lineLabel = () => `line ${parser.line}`
  parser.on('error', ({ message }) => {
    throw new SourceError(lineLabel(), message.replace(/^\d+:\d+: /, ''))
  })
  parser.on('doctype', () => {
    throw new SourceError(lineLabel(), 'a document type is not allowed')
  })
  parser.on('opentag', ({ name, attributes }) => {
    depth++
    if (depth > MAX_DEPTH) throw new SourceError(lineLabel(), `elements are nested deeper than ${MAX_DEPTH}`)
    const elementName = localName(name)
    if (depth === 1) {
      if (elementName !== 'gpx') throw new SourceError(lineLabel(), `is <${elementName}>, not <gpx>`)
      isGpx = true
    } else if (depth === 2) {
      open = openElement(elementName, lineLabel())
      if (open?.name === 'waypoint') addPosition(open, attributes)
    } else if (elementName === 'trkseg') open?.segments.push([])
    else if (elementName === 'rtept' || elementName === 'trkpt') addPosition(open, attributes)
  })
  parser.on('closetag', () => {
    depth--
    if (depth !== 1 || open === undefined) return
    items.push(toSourceItem(open))
    open = undefined
    positions = 0
  })

  function addPosition(element: OpenElement | undefined, { lon, lat }: Record<string, string>): void {
    const segment = element?.segments.at(-1)
    if (element === undefined || segment === undefined) return
    if (++positions > MAX_POSITIONS) throw new SourceError(lineLabel(), `more than ${MAX_POSITIONS} positions`)
    const point = parsePoint(lon ?? '', lat ?? '')
    if ('fault' in point) element.fault ??= `line ${parser.line}, column ${parser.column}: ${point.fault}`
    else segment.push(point.value.coordinates)
  }

  for await (const text of texts) {
    parser.write(text)
    yield items.splice(0)
  }
  parser.close()
  yield items
  if (!isGpx) throw new SourceError('', 'has no <gpx>')
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function openElement(elementName: string, place: string): OpenElement | undefined {
  if (elementName === 'wpt') return { name: 'waypoint', place, segments: [[]], fault: undefined }
  if (elementName === 'rte') return { name: 'route', place, segments: [[]], fault: undefined }
  return elementName === 'trk' ? { name: 'track', place, segments: [], fault: undefined } : undefined
}

function toSourceItem({ name, place, segments, fault }: OpenElement): SourceItem {
  if (fault !== undefined) return { place, fault: `${name}: ${fault}` }
  if (name === 'waypoint') return { place, value: { type: 'Point', coordinates: segments[0]![0] } }
  // A receiver that lost its satellites leaves segments of one position.
  const lines = segments.filter((segment) => segment.length >= 2)
  if (lines.length === 0) return { place, fault: `${name} with fewer than two positions in a row` }
  if (lines.length === 1) return { place, value: { type: 'LineString', coordinates: lines[0] } }
  return { place, value: { type: 'MultiLineString', coordinates: lines } }
}
