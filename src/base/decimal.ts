const DECIMAL = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/

/**
 * Parses a decimal number such as `-1.5` or `1e3`. Use it for text from outside: `Number` also accepts hexadecimal digits and
 * `Infinity`, and makes 0 of an empty text.
 *
 * @returns undefined for any other text, and for a number that is too large to be finite
 */
export function parseDecimal(text: string): number | undefined {
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}
