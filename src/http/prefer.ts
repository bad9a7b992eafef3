/**
 * Whether a `Prefer` header names a preference (RFC 7240): a list of tokens, each with an optional value and parameters.
 * Only the bare token counts; the same word with a value is another preference, which nobody defined.
 *
 * @param header lines joined with commas; undefined when there is none
 * @param name lower case
 */
export function prefers(header: string | undefined, name: string): boolean {
  return header !== undefined && elements(header).some((element) => tokenOf(element) === name)
}

/** The parts between the commas that are not within quotes. */
function elements(header: string): string[] {
  const parts: string[] = []
  let start = 0
  let isQuoted = false
  for (let at = 0; at < header.length; at++) {
    const sign = header[at]
    if (isQuoted && sign === '\\') at++
    else if (sign === '"') isQuoted = !isQuoted
    else if (sign === ',' && !isQuoted) {
      parts.push(header.slice(start, at))
      start = at + 1
    }
  }
  parts.push(header.slice(start))
  return parts
}

/** Name of a preference; undefined when it has a value. An empty value counts as none (RFC 7240, section 2). */
function tokenOf(element: string): string | undefined {
  const [preference = ''] = element.split(';', 1)
  const equals = preference.indexOf('=')
  if (equals < 0) return preference.trim().toLowerCase()
  const value = preference.slice(equals + 1).trim()
  return value === '' || value === '""' ? preference.slice(0, equals).trim().toLowerCase() : undefined
}
