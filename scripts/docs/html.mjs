/** Text as HTML. */
export function escapeHtml(text) {
  return String(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/**
 * The part of an address that a heading gets, as forges make it: what a link in a Markdown file names works in both places.
 *
 * @param taken names given on this page, to which this one is added
 */
export function anchorOf(text, taken = new Map()) {
  const name = text
    .trim()
    .toLowerCase()
    .replace(/<[^>]*>/g, '')
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
  const before = taken.get(name)
  taken.set(name, (before ?? -1) + 1)
  return before === undefined ? name : `${name}-${before + 1}`
}
