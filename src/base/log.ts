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

/** Returns a log that adds fields to each line. */
export function withFields(log: Log, common: LogFields): Log {
  return {
    info: (event, fields) => log.info(event, { ...common, ...fields }),
    warn: (event, fields) => log.warn(event, { ...common, ...fields }),
    error: (event, fields) => log.error(event, { ...common, ...fields }),
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
