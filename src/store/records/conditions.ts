import type {
  Bounds,
  FilterProperty,
  GeometryFamily,
  RecordFilter,
  RecordKey,
  RecordQuery,
} from '../../wire/store-messages.ts'
import type { Parameter } from '../database.ts'

/** Formats a box as PostgreSQL writes it: upper right corner, then lower left corner. */
export function formatBox([west, south, east, north]: Bounds): string {
  return `(${east},${north}),(${west},${south})`
}

/**
 * Returns the boxes to compare with stored bounds for one box of a client. The west edge of stored bounds lies in
 * −180..180 and the east edge may exceed 180. So the box is also searched 360° further east and, where it reaches the
 * antimeridian or beyond, 360° further west.
 *
 * @param bbox crosses the antimeridian when east is below west
 */
export function searchBoxes([west, south, east, north]: Bounds): readonly Bounds[] {
  const end = east < west ? east + 360 : east
  if (end - west >= 360) return [[-180, south, 540, north]]
  return [0, 360, -360]
    .map((shift): Bounds => [west + shift, south, end + shift, north])
    .filter(([low, , high]) => high >= -180 && low <= 540)
}

/** The number that the column `family` has for each family. It is 0 for records that belong to none. */
export const FAMILY_NUMBERS: Readonly<Record<GeometryFamily, number>> = { points: 1, lines: 2, polygons: 3 }

/** The conditions that filter a list. `chain` and `family` are not selective, so no plan starts with them. */
export type ConditionName = 'chain' | 'family' | 'prover' | 'subject' | 'event' | 'bbox' | 'filter'

/** Writes the placeholders `$1`, `$2` and so on, and collects their values. */
export class Parameters {
  readonly values: Parameter[] = []

  add(value: Parameter, type: string): string {
    return `$${this.values.push(value)}::${type}`
  }
}

export function bytesFromHex(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex')
}

/** Returns the names of the conditions that a query has. */
export function conditionNames({
  chainId,
  prover,
  subject,
  fromSeconds,
  toSeconds,
  bbox,
  family,
  filter,
}: RecordQuery): ConditionName[] {
  const names: ConditionName[] = []
  if (chainId !== undefined) names.push('chain')
  if (family !== undefined) names.push('family')
  if (prover !== undefined) names.push('prover')
  if (subject !== undefined) names.push('subject')
  if (fromSeconds !== undefined || toSeconds !== undefined) names.push('event')
  if (bbox !== undefined) names.push('bbox')
  if (filter !== undefined) names.push('filter')
  return names
}

/** Returns a condition as SQL that an index can serve. For `bbox` any of the search boxes may match. */
export function conditionSql(name: ConditionName, query: RecordQuery, parameters: Parameters): string {
  switch (name) {
    case 'chain':
      return `chain_id = ${parameters.add(query.chainId!, 'bigint')}`
    case 'family':
      return `family = ${parameters.add(FAMILY_NUMBERS[query.family!], 'smallint')}`
    case 'prover':
      return `prover = ${parameters.add(bytesFromHex(query.prover!), 'bytea')}`
    case 'subject':
      return `subject = ${parameters.add(bytesFromHex(query.subject!), 'bytea')}`
    case 'event':
      return eventSql(query, parameters)
    case 'bbox':
      return boxesSql(query.bbox!, parameters)
    case 'filter':
      return recordFilterSql(query.filter!, parameters)
  }
}

function boxesSql(bbox: Bounds, parameters: Parameters): string {
  return `(${searchBoxes(bbox)
    .map((box) => boxCondition(box, parameters))
    .join(' or ')})`
}

const COLUMNS: Readonly<Record<FilterProperty, readonly [column: string, type: 'bytea' | 'bigint' | 'boolean']>> = {
  uid: ['uid', 'bytea'],
  chain: ['chain_id', 'bigint'],
  prover: ['prover', 'bytea'],
  subject: ['subject', 'bytea'],
  timestamp: ['block_time', 'bigint'],
  event_timestamp: ['event_time', 'bigint'],
  revoked: ['revoked', 'boolean'],
}

function recordFilterSql(filter: RecordFilter, parameters: Parameters): string {
  switch (filter.op) {
    case 'and':
    case 'or': {
      const conditions = filter.args.map((arg) => recordFilterSql(arg, parameters))
      return conditions.length === 0 ? String(filter.op === 'and') : `(${conditions.join(` ${filter.op} `)})`
    }
    case 'not':
      return `not ${recordFilterSql(filter.args[0]!, parameters)}`
    case 's_intersects':
      return boxesSql(filter.bbox, parameters)
    default: {
      const [column, type] = COLUMNS[filter.property]
      const value = type === 'bytea' ? bytesFromHex(filter.value as string) : filter.value
      return `${column} ${filter.op} ${parameters.add(value, type)}`
    }
  }
}

function eventSql({ fromSeconds, toSeconds }: RecordQuery, parameters: Parameters): string {
  const parts: string[] = []
  if (fromSeconds !== undefined) parts.push(`event_time >= ${parameters.add(fromSeconds, 'bigint')}`)
  if (toSeconds !== undefined) parts.push(`event_time <= ${parameters.add(toSeconds, 'bigint')}`)
  return parts.join(' and ')
}

const DAY_SECONDS = 86_400

/** True for records whose event and block are more than a day apart. The index `location_record_distant` has these records. */
export const DISTANT_SQL = `(abs(block_time - event_time) > ${DAY_SECONDS})`

/** Returns a condition on the block time that holds for every match whose event and block are at most a day apart. */
export function windowSql({ fromSeconds, toSeconds }: RecordQuery, parameters: Parameters): string {
  const parts: string[] = []
  if (fromSeconds !== undefined) parts.push(`block_time >= ${parameters.add(fromSeconds - DAY_SECONDS, 'bigint')}`)
  if (toSeconds !== undefined) parts.push(`block_time <= ${parameters.add(toSeconds + DAY_SECONDS, 'bigint')}`)
  return parts.join(' and ')
}

/** `&&` uses the index but also matches boxes up to a millionth of a degree away; the comparisons exclude those. */
function boxCondition(box: Bounds, parameters: Parameters): string {
  const [west, south, east, north] = box.map((degrees) => parameters.add(degrees, 'float8'))
  return (
    `(bounds && ${parameters.add(formatBox(box), 'box')} and (bounds[1])[0] <= ${east} and (bounds[0])[0] >= ${west} ` +
    `and (bounds[1])[1] <= ${north} and (bounds[0])[1] >= ${south})`
  )
}

/**
 * Returns the same condition as a filter on rows that are read anyway. `case` hides the condition from the planner, which would
 * otherwise choose a plan by its wrong assumption that every box matches half a percent of the records.
 */
export function filterSql(name: ConditionName, query: RecordQuery, parameters: Parameters): string {
  return `case when ${conditionSql(name, query, parameters)} then true else false end`
}

/**
 * Returns a subquery for the rows that match one condition, found by its index. It searches one box after the other and returns
 * no row twice.
 *
 * @param columns columns of `location_record`
 * @param tests further conditions, as SQL
 */
export function matchingRowsSql(
  name: ConditionName,
  query: RecordQuery,
  parameters: Parameters,
  columns: string,
  tests: readonly string[] = [],
): string {
  const boxes = name === 'bbox' ? searchBoxes(query.bbox!) : []
  const select = (conditions: readonly string[]) =>
    `select ${columns} from location_record where ${[...conditions, ...tests].join(' and ')}`
  if (name !== 'bbox') return select([conditionSql(name, query, parameters)])
  const excluded: string[] = []
  return boxes
    .map((box) => {
      const condition = boxCondition(box, parameters)
      const sql = select([condition, ...excluded])
      excluded.push(`not ${condition}`)
      return sql
    })
    .join(' union all ')
}

/** Returns SQL for the records after a key in the order of the list, which is newest first. */
export function afterKeySql(after: RecordKey, parameters: Parameters): string {
  const time = parameters.add(after.timeSeconds, 'bigint')
  const uid = parameters.add(bytesFromHex(after.uid), 'bytea')
  return `(block_time, uid, chain_id) < (${time}, ${uid}, ${parameters.add(after.chainId, 'bigint')})`
}
