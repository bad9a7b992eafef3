/** Adds usage up by day and kind, for a chart. */
import type { KeyUsage, UsageOfDay } from '../../../src/types/generated.ts'

/** Kinds with a colour of their own; the rest share the last one. */
const MAX_KINDS = 4
const FURTHER = 'further kinds'
const DAY_MS = 86_400_000

export interface UsageByDay {
  readonly days: readonly string[]
  /** Most requests first. */
  readonly kinds: readonly string[]
  /** Requests of each kind on each day. */
  readonly requests: readonly (readonly number[])[]
}

/** Adds the rows up for a chart. Days without requests are part of it. */
export function usageByDay({ from, to, usage }: Pick<KeyUsage, 'from' | 'to' | 'usage'>): UsageByDay {
  const days: string[] = []
  for (let ms = Date.parse(from); ms <= Date.parse(to); ms += DAY_MS) days.push(new Date(ms).toISOString().slice(0, 10))
  const totals = new Map<string, number>()
  for (const { kind, requests } of usage) totals.set(kind, (totals.get(kind) ?? 0) + requests)
  const sorted = [...totals].sort(([, a], [, b]) => b - a).map(([kind]) => kind)
  const isAll = sorted.length <= MAX_KINDS
  const kinds = isAll ? sorted : [...sorted.slice(0, MAX_KINDS), FURTHER]
  const kindIndex = (row: UsageOfDay) => {
    const index = sorted.indexOf(row.kind)
    return isAll ? index : Math.min(index, MAX_KINDS)
  }
  const requests = days.map(() => kinds.map(() => 0))
  for (const row of usage) {
    const ofDay = requests[days.indexOf(row.day)]
    if (ofDay !== undefined) ofDay[kindIndex(row)]! += row.requests
  }
  return { days, kinds, requests }
}
