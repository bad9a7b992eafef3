/** Prepares untrusted text for display. */

/** Cuts a text to at most `length` UTF-16 units, between two code points; an ellipsis marks the cut. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text
  let end = Math.max(0, length - 1)
  // A high surrogate at the cut would lose its other half, so it goes too.
  if (end > 0 && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--
  return `${text.slice(0, end)}…`
}

/**
 * Controls, the characters that change the direction of other text, characters without a width, tags, and lone surrogates.
 * The joiners U+200C and U+200D are not here, because words and emoji need them.
 */
const HIDDEN_CHARACTERS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u180e\u200b\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu

/**
 * Writes characters that cannot be seen, or that change how other text looks, as escapes such as `\u202e`. A JSON parser reads
 * JSON with these escapes as the original. Line ends become line feeds.
 */
export function visibleText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(HIDDEN_CHARACTERS, escapeUnits)
}

function escapeUnits(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('')
}

/** Escapes text for HTML, also inside quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
