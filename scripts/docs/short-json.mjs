/** Formats JSON, and keeps each value on one line if it fits into `width`, so that positions stay together. */
export function shortJson(value, width, indent = '') {
  const flat = JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return flat
  const spaced = spacedJson(value)
  if (spaced.length + indent.length <= width) return spaced
  const inner = `${indent}  `
  if (Array.isArray(value)) {
    return value.length === 0
      ? '[]'
      : `[\n${value.map((member) => inner + shortJson(member, width, inner)).join(',\n')}\n${indent}]`
  }
  const members = Object.entries(value)
  if (members.length === 0) return '{}'
  return `{\n${members
    .map(([key, member]) => `${inner}${JSON.stringify(key)}: ${shortJson(member, width, inner)}`)
    .join(',\n')}\n${indent}}`
}

function spacedJson(value) {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${spacedJson(member)}`)
    .join(', ')}}`
}
