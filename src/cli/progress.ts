import { counted, type Terminal } from './terminal.ts'

export interface ProgressState {
  /** What was done in this run. */
  readonly done: number
  /** 0 to 1; undefined where the end is not known. */
  readonly share?: number | undefined
  /** More to say, e.g. `3 failed`. */
  readonly note?: string | undefined
}

export interface Progress {
  /** To be called as often as one likes: it looks at the clock. */
  update(state: ProgressState): void
  /** Leaves the last state standing. */
  stop(): void
}

/** What takes less is over before anybody wonders. */
const FIRST_MS = 2000
const SCREEN_MS = 200
/** Where lines stay, as in the log of a build. */
const LINES_MS = 10_000
const BAR_WIDTH = 24

/**
 * A bar with rate and remaining time on standard error, from the second second on; a line every ten seconds where that is no screen.
 *
 * @param unit one of what is counted: `item`, `block`
 */
export function createProgress(terminal: Terminal, unit: string): Progress {
  const startedMs = terminal.now()
  const { isInteractive } = terminal
  let shownMs = startedMs + FIRST_MS - (isInteractive ? SCREEN_MS : LINES_MS)
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
      const isDue = nowMs - startedMs >= FIRST_MS && nowMs - shownMs >= (isInteractive ? SCREEN_MS : LINES_MS)
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
 * @param seconds since the start
 * @param firstShare what was done before it: a run that goes on has a head start that says nothing of its speed
 */
export function progressText(
  { done, share, note }: ProgressState,
  unit: string,
  seconds: number,
  firstShare = 0,
): string {
  const rate = seconds > 0 ? done / seconds : 0
  const parts = [counted(done, unit), `${rateText(rate)} ${unit}s/s`]
  if (share !== undefined) {
    const filled = Math.round(Math.min(1, share) * BAR_WIDTH)
    const gained = share - firstShare
    const left = gained > 0 && share < 1 ? (seconds * (1 - share)) / gained : undefined
    parts.unshift(`${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${Math.floor(Math.min(1, share) * 100)} %`)
    if (left !== undefined) parts.push(`${durationText(left)} left`)
  }
  if (note !== undefined) parts.push(note)
  return parts.join('  ')
}

function rateText(rate: number): string {
  return rate >= 100 ? Math.round(rate).toLocaleString('en-US') : rate.toFixed(1)
}

/** `42 s`, `3 min 20 s`, `2 h 5 min`. */
function durationText(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  return minutes < 60 ? `${minutes} min ${whole % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
