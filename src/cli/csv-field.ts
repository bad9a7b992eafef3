/** Formats a field of a table (RFC 4180). A list is JSON. A text is unchanged, also if a spreadsheet reads it as a formula. */
export function csvField(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
