/** Maximum UTF-16 units of a problem's detail: it quotes the client's input, but does not echo all of it. */
export const MAX_DETAIL = 400

/** Cuts a text to at most `length` UTF-16 units, between two code points; an ellipsis marks the cut. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text
  let end = Math.max(0, length - 1)
  // A high surrogate at the cut would lose its other half, so it goes too.
  if (end > 0 && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--
  return `${text.slice(0, end)}…`
}
