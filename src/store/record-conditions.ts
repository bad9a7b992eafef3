import type { Bounds, RecordKey, RecordQuery } from '../store-messages.ts'
import { boxText, searchBoxes } from './bounds.ts'
import type { Parameter } from './database.ts'

/** What a list can be narrowed by. `chain` says little about a record, so no plan begins with it. */
export type ConditionName = 'chain' | 'prover' | 'subject' | 'event' | 'bbox'

/** Writes `$1`, `$2` … and keeps what they stand for. */
export class Parameters {
  readonly values: Parameter[] = []

  add(value: Parameter, type: string): string {
    return `$${this.values.push(value)}::${type}`
  }
}

export function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex')
}

/** The conditions that a query has, without their values. */
export function conditionNames({
  chainId,
  prover,
  subject,
  fromSeconds,
  toSeconds,
  bbox,
}: RecordQuery): ConditionName[] {
  const names: ConditionName[] = []
  if (chainId !== undefined) names.push('chain')
  if (prover !== undefined) names.push('prover')
  if (subject !== undefined) names.push('subject')
  if (fromSeconds !== undefined || toSeconds !== undefined) names.push('event')
  if (bbox !== undefined) names.push('bbox')
  return names
}

/** A condition with its values, to know it again. */
export function conditionKey(name: ConditionName, query: RecordQuery): string {
  const { chainId, prover, subject, fromSeconds, toSeconds, bbox } = query
  return JSON.stringify([name, { chain: chainId, prover, subject, event: [fromSeconds, toSeconds], bbox }[name]])
}

/** One condition as SQL that an index can serve; for `bbox` in one of the boxes it is looked for in. */
export function conditionText(name: ConditionName, query: RecordQuery, parameters: Parameters): string {
  switch (name) {
    case 'chain':
      return `chain_id = ${parameters.add(query.chainId!, 'bigint')}`
    case 'prover':
      return `prover = ${parameters.add(bytesOf(query.prover!), 'bytea')}`
    case 'subject':
      return `subject = ${parameters.add(bytesOf(query.subject!), 'bytea')}`
    case 'event':
      return eventText(query, parameters)
    case 'bbox':
      return `(${searchBoxes(query.bbox!)
        .map((box) => boxCondition(box, parameters))
        .join(' or ')})`
  }
}

function eventText({ fromSeconds, toSeconds }: RecordQuery, parameters: Parameters): string {
  const parts: string[] = []
  if (fromSeconds !== undefined) parts.push(`event_time >= ${parameters.add(fromSeconds, 'bigint')}`)
  if (toSeconds !== undefined) parts.push(`event_time <= ${parameters.add(toSeconds, 'bigint')}`)
  return parts.join(' and ')
}

/** `&&` finds by the index and takes a millionth of a degree more than it should; the comparisons decide. */
function boxCondition(box: Bounds, parameters: Parameters): string {
  const [west, south, east, north] = box.map((degrees) => parameters.add(degrees, 'float8'))
  return (
    `(bounds && ${parameters.add(boxText(box), 'box')} and (bounds[1])[0] <= ${east} and (bounds[0])[0] >= ${west} ` +
    `and (bounds[1])[1] <= ${north} and (bounds[0])[1] >= ${south})`
  )
}

/**
 * The same condition as a test of rows that are read anyway. The planner believes that any box holds half a percent of the
 * records, so it may not choose by boxes; within `case` it cannot.
 */
export function testText(name: ConditionName, query: RecordQuery, parameters: Parameters): string {
  return `case when ${conditionText(name, query, parameters)} then true else false end`
}

/**
 * Rows that meet one condition, found by its index, as a subquery: each box in turn, and no row twice.
 *
 * @param columns of `location_record`
 * @param tests further conditions, as SQL
 */
export function sourceText(
  name: ConditionName,
  query: RecordQuery,
  parameters: Parameters,
  columns: string,
  tests: readonly string[] = [],
): string {
  const boxes = name === 'bbox' ? searchBoxes(query.bbox!) : []
  const select = (conditions: readonly string[]) =>
    `select ${columns} from location_record where ${[...conditions, ...tests].join(' and ')}`
  if (name !== 'bbox') return select([conditionText(name, query, parameters)])
  const before: string[] = []
  return boxes
    .map((box) => {
      const condition = boxCondition(box, parameters)
      const text = select([condition, ...before])
      before.push(`not ${condition}`)
      return text
    })
    .join(' union all ')
}

/** Behind a place in the order of the list, which is newest first. */
export function afterText(after: RecordKey, parameters: Parameters): string {
  const time = parameters.add(after.timeSeconds, 'bigint')
  const uid = parameters.add(bytesOf(after.uid), 'bytea')
  return `(block_time, uid, chain_id) < (${time}, ${uid}, ${parameters.add(after.chainId, 'bigint')})`
}
