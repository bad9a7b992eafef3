import type { RecordQuery } from '../../wire/store-messages.ts'
import type { Row, Session } from '../database.ts'
import {
  afterKeySql,
  type ConditionName,
  conditionNames,
  DISTANT_SQL,
  filterSql,
  Parameters,
  windowSql,
} from './conditions.ts'

/** Records that an estimate is made from: about ten milliseconds of work, whatever the size of the table. */
export const SAMPLE_RECORDS = 20_000
/**
 * Records that a walk examines while *collect* reads one that it found by this condition. Records of a box are spread over the
 * whole table, and those of an address or a time are in its order.
 */
const COLLECT_COSTS = { prover: 1.5, subject: 1.5, event: 1.5, bbox: 4, filter: 4 } as const
/** The same for counting, if there is no other condition: the index is enough. */
const COUNT_COST = 0.5

/** The number of records that each plan of a list has to examine, estimated from a sample of the table. */
export interface Work {
  readonly collect: number
  readonly walk: number
  /** Infinite without a condition on the event time. */
  readonly window: number
  /** Counting all matches. */
  readonly count: number
  /** The condition whose index finds the fewest records. Undefined if no condition has an index that finds few. */
  readonly first: ConditionName | undefined
  /** All matches. */
  readonly matches: number
}

/** Returns the condition in whose order an index has the list. Without one, the index of all records is in the order of the list. */
export function orderedCondition(names: readonly ConditionName[]): ConditionName | undefined {
  return (['prover', 'subject', 'chain'] as const).find((name) => names.includes(name))
}

/** Returns the number of matches up to the end of the page. */
export function neededMatches({ limit, offset, after }: RecordQuery): number {
  return after === undefined ? offset + limit : limit
}

/** Estimates the work of each plan (decision 174). The sample is the same each time until the table changes. */
export async function estimateWork(session: Session, query: RecordQuery, sampleRecords: number): Promise<Work> {
  const [counter] = await session.query('select coalesce(sum(records), 0)::text as records from record_counter')
  const total = Number(counter!['records'])
  const percent = Math.min(100, (100 * sampleRecords) / Math.max(1, total))
  const needed = neededMatches(query)
  // The match of the sample up to which the needed ones are counted; at least the first.
  const reached = Math.max(1, Math.floor((needed * percent) / 100))
  const names = conditionNames(query)
  const parameters = new Parameters()
  const tests = names.map((name) => `${filterSql(name, query, parameters)} as "${name}"`)
  const after = query.after === undefined ? 'true' : afterKeySql(query.after, parameters)
  const matches = names.map((name) => `"${name}"`).join(' and ')
  const ordered = orderedCondition(names)
  const walk = { domain: ordered === undefined ? 'after' : `after and "${ordered}"`, match: `${matches} and after` }
  const isWindow = names.includes('event')
  const window = { domain: `${walk.domain} and near`, match: `${walk.match} and near` }
  const near = isWindow
    ? `, ${DISTANT_SQL} as distant, not ${DISTANT_SQL} and ${windowSql(query, parameters)} as near`
    : ''
  const [row] = await session.query(
    `with sample as materialized (
       select block_time, ${tests.join(', ')}, ${after} as after ${near} from location_record tablesample system (${percent}) repeatable (1)
     ), ends as (
       select ${endsSql('walk', walk, reached)} ${isWindow ? `, ${endsSql('window', window, reached)}` : ''} from sample
     ) select count(*)::int as records, count(*) filter (where ${matches})::int as matches,
         ${names.map((name) => `count(*) filter (where "${name}")::int as "${name}"`).join(', ')}, ${stretchSql('walk', walk)}
         ${isWindow ? `, count(*) filter (where event and distant)::int as distant, ${stretchSql('window', window)}` : ''}
       from sample, ends`,
    parameters.values,
  )
  const sample = row as Readonly<Record<string, number>>
  const scale = total / Math.max(1, sample['records']!)
  const collectOf = (name: keyof typeof COLLECT_COSTS) => sample[name]! * scale * COLLECT_COSTS[name]
  const candidates = names.filter((name) => name !== 'chain' && name !== 'family')
  const [first] = candidates.sort((a, b) => collectOf(a) - collectOf(b))
  const collect = first === undefined ? total : collectOf(first)
  return {
    collect,
    walk: estimateWalk(sample, 'walk', needed, reached, scale),
    window: isWindow
      ? estimateWalk(sample, 'window', needed, reached, scale) + sample['distant']! * scale * COLLECT_COSTS.event
      : Number.POSITIVE_INFINITY,
    count: names.length === 1 && first !== undefined ? sample[first]! * scale * COUNT_COST : collect,
    first,
    matches: Math.round(sample['matches']! * scale),
  }
}

/** The records that a walk may examine, and those of them that it looks for, as SQL conditions on the sample. */
interface Stretch {
  readonly domain: string
  readonly match: string
}

/** Returns the block times of the match that is reached and of the oldest one. */
function endsSql(plan: string, { match }: Stretch, reached: number): string {
  return `(select block_time from sample where ${match} order by block_time desc offset ${reached - 1} limit 1) as ${plan}_reached,
    min(block_time) filter (where ${match}) as ${plan}_oldest`
}

/** Counts the records that a walk may examine, those before the match that is reached, those up to the last match, and the matches. */
function stretchSql(plan: string, { domain, match }: Stretch): string {
  return [
    `count(*) filter (where ${domain})::int as ${plan}_all`,
    `count(*) filter (where ${domain} and block_time > ${plan}_reached)::int as ${plan}_before`,
    `count(*) filter (where ${domain} and block_time >= ${plan}_oldest)::int as ${plan}_through`,
    `count(*) filter (where ${match})::int as ${plan}_found`,
  ].join(', ')
}

/**
 * Estimates how many records a walk examines until it has found the matches that a page needs. They are as far apart as those of the
 * sample that follow the match that is reached. If that match is further from the start than such distances, so are the needed ones:
 * a walk first examines records among which few or none match.
 */
function estimateWalk(sample: Row, plan: string, needed: number, reached: number, scale: number): number {
  const [all, before, through, found] = ['all', 'before', 'through', 'found'].map(
    (name) => sample[`${plan}_${name}`] as number,
  ) as [number, number, number, number]
  if (found < reached || needed > found * scale) return all * scale
  const distance = found <= reached ? through / found : (through - before) / (found - reached)
  return Math.min(all * scale, Math.max(0, before - reached * distance) * scale + needed * distance)
}
