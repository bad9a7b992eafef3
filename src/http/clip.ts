/** UTF-16 units of each text in a problem: what a client sent is quoted, not mirrored. */
export const MAX_DETAIL = 400

/** At most `length` units, cut between two code points, an ellipsis in place of the rest. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text
  let end = Math.max(0, length - 1)
  // A high surrogate at the border belongs to the unit that is cut off.
  if (end > 0 && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--
  return `${text.slice(0, end)}…`
}
