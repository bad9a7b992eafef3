/** Fields of a log line. They never contain bodies, keys or signatures. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

/** Lines for people, or JSON objects for programs. */
export type LogFormat = 'pretty' | 'json'

/** Writes one line for each event. Lines go to standard error, because standard output is for results. */
export interface Log {
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
}

/**
 * Creates a logger that writes each event as one line: a JSON object, or a short text for people.
 *
 * @param write receives each finished line, including its line feed
 * @param now returns milliseconds since the epoch; a parameter so that tests can fix the time
 */
export function createLog(
  format: LogFormat,
  write: (line: string) => void = (line) => void process.stderr.write(line),
  now: () => number = Date.now,
): Log {
  const emit = (level: string, event: string, fields: LogFields): void => {
    const time = new Date(now()).toISOString()
    // JSON.stringify escapes line feeds, ANSI escapes and quotes, so a field cannot forge a second line.
    write(
      format === 'json'
        ? `${oneLine(JSON.stringify({ time, level, event, ...fields }))}\n`
        : `${time.slice(11, 23)} ${level.padEnd(5)} ${event}${prettyFields(fields)}\n`,
    )
  }
  return {
    info: (event, fields = {}) => emit('info', event, fields),
    warn: (event, fields = {}) => emit('warn', event, fields),
    error: (event, fields = {}) => emit('error', event, fields),
  }
}

/**
 * Lets this process go on when the reader of its output has ended: what it writes is then lost. Without a listener, the first line after
 * that would end the process, with every request in progress.
 */
export function surviveClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/** Returns a log that adds fields to each line. */
export function withFields(log: Log, common: LogFields): Log {
  return {
    info: (event, fields) => log.info(event, { ...common, ...fields }),
    warn: (event, fields) => log.warn(event, { ...common, ...fields }),
    error: (event, fields) => log.error(event, { ...common, ...fields }),
  }
}

/**
 * Logs when a repeated action begins to fail and when it succeeds again, instead of each failure. The line of the end has the number of
 * failures, and the time since the first one.
 */
export class FailureLog {
  readonly #log: Pick<Log, 'warn' | 'info'>
  readonly #events: { readonly begin: string; readonly end: string }
  #failures = 0
  #beginMs = 0

  /** @param events the lines of the first failure and of the success after it */
  constructor(log: Pick<Log, 'warn' | 'info'>, events: { readonly begin: string; readonly end: string }) {
    this.#log = log
    this.#events = events
  }

  /** Call it after each failure. @param fields of the line, which only the first failure writes */
  failed(fields: LogFields): void {
    if (this.#failures++ > 0) return
    this.#beginMs = performance.now()
    this.#log.warn(this.#events.begin, fields)
  }

  /** Call it after each success. @param fields of the line, which only a success after a failure writes */
  succeeded(fields: LogFields = {}): void {
    if (this.#failures === 0) return
    const seconds = Math.round((performance.now() - this.#beginMs) / 1000)
    this.#log.info(this.#events.end, { ...fields, failures: this.#failures, seconds })
    this.#failures = 0
  }
}

function prettyFields(fields: LogFields): string {
  let text = ''
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    text += ` ${name}=${typeof value === 'string' ? oneLine(JSON.stringify(value)) : value}`
  }
  return text
}

/**
 * Escapes U+2028 and U+2029, which JSON allows but some readers take as line ends, and DEL and C1 controls, which control a
 * terminal.
 */
function oneLine(json: string): string {
  return json.replace(/[\u2028\u2029\u007f-\u009f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
