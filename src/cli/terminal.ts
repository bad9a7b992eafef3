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
  return `${groupDigits(count)} ${count === 1 ? one : many}`
}

/** Formats a whole number with commas. The first call of `toLocaleString` in a process takes 12 ms. */
export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

/** Writes one line of JSON. */
export async function outJson(terminal: Terminal, value: unknown): Promise<void> {
  await terminal.out(`${JSON.stringify(value)}\n`)
}

interface ProgressState {
  /** Number of units done in this run. */
  readonly done: number
  /** Share of the whole, 0 to 1; undefined if the total is not known. */
  readonly share?: number | undefined
  /** A note after it, for example `3 failed`. */
  readonly note?: string | undefined
}

export interface Progress {
  /** Updates the progress. May be called often, because it limits how often it prints. */
  update(state: ProgressState): void
  /** Prints the final state. */
  stop(): void
}

/** Shorter runs show no progress. */
const START_DELAY_MS = 2000
const TERMINAL_INTERVAL_MS = 200
/** Interval where lines are not overwritten, as in a build log. */
const LINE_INTERVAL_MS = 10_000
const BAR_WIDTH = 24

/**
 * Creates a progress display on standard error, which starts after two seconds. On a terminal it is a bar with the rate and the
 * remaining time; elsewhere it is a line every ten seconds.
 *
 * @param unit what is counted, in the singular: `item`, `block`
 */
export function createProgress(terminal: Terminal, unit: string): Progress {
  const startedMs = terminal.now()
  const { isInteractive } = terminal
  let shownMs = startedMs + START_DELAY_MS - (isInteractive ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS)
  let firstShare: number | undefined
  let isShown = false
  let last: ProgressState | undefined
  const show = (state: ProgressState, nowMs: number) => {
    const text = progressText(state, unit, (nowMs - startedMs) / 1000, firstShare ?? 0)
    terminal.err(isInteractive ? `\r${text}\u001b[K` : `${text}\n`)
    isShown = true
    shownMs = nowMs
  }
  return {
    update(state) {
      firstShare ??= state.share
      last = state
      const nowMs = terminal.now()
      const isDue =
        nowMs - startedMs >= START_DELAY_MS &&
        nowMs - shownMs >= (isInteractive ? TERMINAL_INTERVAL_MS : LINE_INTERVAL_MS)
      if (isDue) show(state, nowMs)
    },
    stop() {
      if (!isShown || last === undefined) return
      show(last, terminal.now())
      if (isInteractive) terminal.err('\n')
    },
  }
}

/**
 * Formats one line of progress.
 *
 * @param seconds time since the start
 * @param firstShare share that was done before the start; a resumed run must not count it towards its speed
 */
export function progressText(
  { done, share, note }: ProgressState,
  unit: string,
  seconds: number,
  firstShare = 0,
): string {
  const rate = seconds > 0 ? done / seconds : 0
  const parts = [formatCount(done, unit), `${rateText(rate)} ${unit}s/s`]
  if (share !== undefined) {
    const filled = Math.round(Math.min(1, share) * BAR_WIDTH)
    const shareSinceStart = share - firstShare
    const remainingSeconds = shareSinceStart > 0 && share < 1 ? (seconds * (1 - share)) / shareSinceStart : undefined
    parts.unshift(`${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${Math.floor(Math.min(1, share) * 100)} %`)
    if (remainingSeconds !== undefined) parts.push(`${durationText(remainingSeconds)} left`)
  }
  if (note !== undefined) parts.push(note)
  return parts.join('  ')
}

function rateText(rate: number): string {
  return rate >= 100 ? groupDigits(Math.round(rate)) : rate.toFixed(1)
}

/** Formats a duration: `42 s`, `3 min 20 s`, `2 h 5 min`. */
function durationText(seconds: number): string {
  const wholeSeconds = Math.max(1, Math.round(seconds))
  if (wholeSeconds < 60) return `${wholeSeconds} s`
  const minutes = Math.floor(wholeSeconds / 60)
  return minutes < 60 ? `${minutes} min ${wholeSeconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
