/** The formats of the matches of points: lines of JSON, a table, and Features of GeoJSON. */
import { isObject } from '../../client/forms.ts'
import type { Match, MatchLine } from '../../types/generated.ts'
import { addNames, csvLine, inputFields, inputProperties, type OutputFormat, withoutClashes } from './output-format.ts'

export interface MatchColumns {
  /** True if matches have a distance. */
  readonly hasDistance: boolean
  /** Names of the properties of the features that match. */
  readonly properties: readonly string[]
}

/** Returns a format of matches. Every point has at least one row or Feature, as in a left join: one without a match has no values. */
export function matchFormat(name: OutputFormat['name'], columns: MatchColumns): OutputFormat {
  return name === 'ndjson' ? LINES : name === 'csv' ? tableOf(columns) : featuresOf(columns)
}

/** The lines of the service. A point that is not sent has a line as one that the service rejects. */
const LINES: OutputFormat = {
  name: 'ndjson',
  head: () => '',
  result: (_item, json) => `${json}\n`,
  rejection: ({ id }, error) => `${JSON.stringify({ id, error })}\n`,
  hasProblems: true,
}

function tableOf(columns: MatchColumns): OutputFormat {
  const names = [...matchNames(columns), 'error']
  return {
    name: 'csv',
    head({ row }) {
      const inputColumns = row?.columns ?? ['id']
      return csvLine([...inputColumns, ...addNames(inputColumns, names)])
    },
    result: (item, json) =>
      matchesOf(json)
        .map((match) => csvLine([...inputFields(item), ...matchValues(match, columns), '']))
        .join(''),
    rejection: (item, { detail }) => csvLine([...inputFields(item), ...matchValues(undefined, columns), detail]),
  }
}

function featuresOf(columns: MatchColumns): OutputFormat {
  const names = matchNames(columns)
  return {
    name: 'geojson',
    head: () => '',
    result(item, json) {
      const geometry = geometryOf(item.value)
      const given = inputProperties(item)
      // The id is a property, because several Features may have the same, and GDAL changes numbers that are not unique.
      const hasId = item.row !== undefined || Object.hasOwn(given, 'id')
      const own = hasId ? given : withoutClashes(given, { id: item.id })
      return matchesOf(json)
        .map((match) => {
          const values = matchValues(match, columns).map((value) => value ?? null)
          const members = Object.fromEntries(names.map((name, index) => [name, values[index]]))
          const properties = withoutClashes(own, members)
          return `${JSON.stringify({ type: 'Feature', geometry, properties })}\n`
        })
        .join('')
    },
    rejection: () => '',
  }
}

function matchNames({ hasDistance, properties }: MatchColumns): string[] {
  return ['feature', ...(hasDistance ? ['distance'] : []), ...properties]
}

/** @param match undefined for a point without a match */
function matchValues(match: Match | undefined, { hasDistance, properties }: MatchColumns): unknown[] {
  const own = match?.properties ?? {}
  const values = properties.map((name) => (Object.hasOwn(own, name) ? own[name] : undefined))
  return [match?.feature, ...(hasDistance ? [match?.distance] : []), ...values]
}

/** Returns the matches of a line; one `undefined` if there are none. */
function matchesOf(json: string): readonly (Match | undefined)[] {
  const { matches = [] } = JSON.parse(json) as MatchLine
  return matches.length === 0 ? [undefined] : matches
}

function geometryOf(value: unknown): unknown {
  if (!isObject(value)) return null
  if (value['type'] === 'Feature') return value['geometry'] ?? null
  const { id: _, ...geometry } = value
  return geometry
}
