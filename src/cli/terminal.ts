import type { Environment } from '../config/setting.ts'

/** The verb's access to its process. Tests pass a different one. */
export interface Terminal {
  /** The environment without the signing key. */
  readonly env: Environment
  /** Names of the environment variables that hold a signing key. Verbs cannot see their values. */
  readonly secretNames: readonly string[]
  /** Standard input. */
  readonly input: AsyncIterable<Uint8Array>
  /** Writes results. Resolves when there is room for more, so that a writer of a million lines buffers only a few. */
  out(text: string): Promise<void>
  /** Writes progress, hints and errors. */
  err(text: string): void
  /** True if standard error is a terminal. */
  readonly isInteractive: boolean
  /** Width of the terminal; undefined if standard output is not a terminal. */
  readonly columns: number | undefined
  /** Aborts on Ctrl-C. Verbs then stop cleanly. */
  readonly signal: AbortSignal
  /** Milliseconds since the epoch. */
  now(): number
}

/**
 * Makes untrusted text safe for a terminal: escapes control characters (ESC, C1, BEL …) as in `\u001b`, which a JSON parser
 * reads as the original. Keeps line feeds and tabs.
 */
export function printable(text: string): string {
  return text.replace(CONTROL_CHARACTERS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/**
 * Formats a number with its noun: `1 item`, `2,000 items`.
 *
 * @param many plural, if it is not the singular with an s
 */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}

/** Writes one line of JSON. */
export async function outJson(terminal: Terminal, value: unknown): Promise<void> {
  await terminal.out(`${JSON.stringify(value)}\n`)
}
