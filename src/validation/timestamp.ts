const PATTERN =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:Z|([+ -])(\d\d):?(\d\d))?)?$/i

/**
 * A point in time as ISO 8601 writes it: a date, or a date with a time and an offset from UTC. Without an offset it is UTC.
 * A blank in place of the offset's plus is what forms make of it.
 *
 * @returns milliseconds since the epoch; undefined for anything else, days that no month has included
 */
export function readTimestamp(text: string): number | undefined {
  const match = PATTERN.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as number[]
  const fraction = Number(`0.${match[7] ?? '0'}`) * 1000
  const offsetMinutes = Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0)
  if (hour! > 24 || minute! > 59 || second! > 59 || Number(match[9] ?? 0) > 23 || Number(match[10] ?? 0) > 59)
    return undefined
  // 24:00:00 is the end of the day (ISO 8601-1, 5.3.2), and nothing is later in it.
  if (hour === 24 && (minute! > 0 || second! > 0 || fraction > 0)) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year!, month! - 1, day!)
  if (date.getUTCMonth() !== month! - 1 || date.getUTCDate() !== day) return undefined
  const local = date.getTime() + ((hour! * 60 + minute!) * 60 + second!) * 1000 + fraction
  return local - (match[8] === '-' ? -1 : 1) * offsetMinutes * 60_000
}
