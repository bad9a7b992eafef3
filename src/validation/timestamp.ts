const PATTERN =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:Z|([+ -])(\d\d):?(\d\d))?)?$/i

/**
 * Reads an ISO 8601 date, or date and time with an optional offset from UTC. Without an offset it is UTC. A space instead of the
 * offset's plus sign is accepted, because form decoding turns the plus sign into a space.
 *
 * @returns milliseconds since the epoch; undefined for any other text and for days that do not exist
 */
export function readTimestamp(text: string): number | undefined {
  const match = PATTERN.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as number[]
  const fraction = Number(`0.${match[7] ?? '0'}`) * 1000
  const offsetMinutes = Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0)
  if (hour! > 24 || minute! > 59 || second! > 59 || Number(match[9] ?? 0) > 23 || Number(match[10] ?? 0) > 59)
    return undefined
  // 24:00:00 is the end of the day (ISO 8601-1, 5.3.2). A later time on that day does not exist.
  if (hour === 24 && (minute! > 0 || second! > 0 || fraction > 0)) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year!, month! - 1, day!)
  if (date.getUTCMonth() !== month! - 1 || date.getUTCDate() !== day) return undefined
  const local = date.getTime() + ((hour! * 60 + minute!) * 60 + second!) * 1000 + fraction
  return local - (match[8] === '-' ? -1 : 1) * offsetMinutes * 60_000
}
