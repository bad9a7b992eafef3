/**
 * Returns true if a `Prefer` header names a preference (RFC 7240). The header is a list of tokens, each with an optional value
 * and parameters. Only a token without a value counts; with a value it would be another preference, which is not defined.
 *
 * @param header lines joined with commas; undefined if there is none
 * @param name lower case
 */
export function prefers(header: string | undefined, name: string): boolean {
  return header !== undefined && splitElements(header).some((element) => bareName(element) === name)
}

/** Splits a list at the commas that are not within quotes. */
function splitElements(header: string): string[] {
  const parts: string[] = []
  let start = 0
  let isQuoted = false
  for (let index = 0; index < header.length; index++) {
    const character = header[index]
    if (isQuoted && character === '\\') index++
    else if (character === '"') isQuoted = !isQuoted
    else if (character === ',' && !isQuoted) {
      parts.push(header.slice(start, index))
      start = index + 1
    }
  }
  parts.push(header.slice(start))
  return parts
}

/** Returns the name of a preference; undefined if it has a value. An empty value counts as none (RFC 7240, section 2). */
function bareName(element: string): string | undefined {
  const [preference = ''] = element.split(';', 1)
  const equals = preference.indexOf('=')
  if (equals < 0) return preference.trim().toLowerCase()
  const value = preference.slice(equals + 1).trim()
  return value === '' || value === '""' ? preference.slice(0, equals).trim().toLowerCase() : undefined
}
