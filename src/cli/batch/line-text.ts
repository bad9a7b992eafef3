/** Composes an item from a line of JSON as text. Parsing the line and writing it again took longer than computing its result. */
import { toInput } from '../../client/forms.ts'
import type { ItemRule, LineComposer } from './feeder.ts'

/** Names with a meaning that depends on other members or on their values. */
const PARSED_NAMES = ['type', 'uid', 'uri', 'verifiedProof', 'input']

/** Returns the composer of a rule. An item that it composes is the one that `composeItem` makes, if the engine accepts it. */
export function createLineComposer({ operation, fixed, radius }: ItemRule): LineComposer {
  const members: Record<string, unknown> = {
    ...(operation === 'mixed' ? {} : { op: operation }),
    ...(radius === undefined ? {} : { radius }),
  }
  try {
    for (const [name, input] of Object.entries(fixed)) members[name] = toInput(input)
  } catch {
    return () => undefined // every item gets the problem of this input
  }
  const excluded = [...PARSED_NAMES, ...Object.keys(members)]
  const shared = Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`)
  const beginning = `{${shared.join('')}`
  return (line, number) => {
    const names = readNames(line)
    if (names === undefined || names.some((name) => excluded.includes(name))) return undefined
    if (operation === 'mixed' && !names.includes('op')) return undefined
    const id = names.includes('id') ? '' : `"id":${number},`
    return `${beginning}${id}${line.slice(1)}`
  }
}

const QUOTE = 0x22
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const COLON = 0x3a
const SPACE = 0x20

/**
 * Reads the names of the members of an object, without those of nested objects.
 *
 * @returns undefined if the line is not an object with members, has escapes, or a Feature
 */
function readNames(line: string): readonly string[] | undefined {
  if (!line.startsWith('{') || line.includes('\\') || line.includes('"Feature')) return undefined
  const names: string[] = []
  let depth = 0
  for (let index = 0; index < line.length; index++) {
    const code = line.charCodeAt(index)
    if (code === QUOTE) {
      const end = line.indexOf('"', index + 1)
      if (end < 0) return undefined
      if (depth === 1 && isName(line, end + 1)) names.push(line.slice(index + 1, end))
      index = end
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
  }
  return depth === 0 && names.length > 0 ? names : undefined
}

function isName(line: string, afterQuote: number): boolean {
  let index = afterQuote
  while (line.charCodeAt(index) <= SPACE) index++
  return line.charCodeAt(index) === COLON
}
