/** Escapes text for HTML. */
export function escapeHtml(text) {
  return String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/**
 * Returns the anchor of a heading, as GitHub and similar sites form it, so that links in Markdown files work here and there.
 *
 * @param taken anchors of this page, by name with their count; this one is added
 */
export function anchorOf(text, taken = new Map()) {
  const name = text
    .trim()
    .toLowerCase()
    .replace(/<[^>]*>/g, '')
    .replace(/[^\p{L}\p{N}\p{M}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
  const count = taken.get(name)
  taken.set(name, (count ?? -1) + 1)
  return count === undefined ? name : `${name}-${count + 1}`
}
