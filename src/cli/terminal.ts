import type { Environment } from '../config.ts'

/** What a verb may touch of the process it runs in: a test gives it another one. */
export interface Terminal {
  /** Without the signing key. */
  readonly env: Environment
  /** Names of the environment that hold a signing key; the keys themselves are nobody's here. */
  readonly secretNames: readonly string[]
  /** Standard input, as it comes. */
  readonly input: AsyncIterable<Uint8Array>
  /** Results. Resolves when there is room for more, so that who writes a million lines holds few of them. */
  out(text: string): Promise<void>
  /** Progress, hints and refusals. */
  err(text: string): void
  /** Standard error is a screen. */
  readonly isInteractive: boolean
  /** Of a line, where standard output is a screen. */
  readonly columns: number | undefined
  /** Ends with Ctrl-C: what is under way is brought to a good end. */
  readonly signal: AbortSignal
  /** Milliseconds since the epoch. */
  now(): number
}

/**
 * Text of others for a screen: what would steer it (ESC, C1, BEL …) stands as `\u001b`, which JSON reads as what it was.
 * Lines and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(STEERING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/**
 * A number and what it counts: `1 item`, `2,000 items`.
 *
 * @param many where it is not the word with an s
 */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}

/** One line of JSON. */
export async function outJson(terminal: Terminal, value: unknown): Promise<void> {
  await terminal.out(`${JSON.stringify(value)}\n`)
}
