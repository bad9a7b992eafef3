import type { Config } from './config.ts'

/** Values a log line may carry. Never bodies, keys or signatures. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

/** One line an event, on standard error: standard output stays free for results. */
export interface Log {
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
}

/**
 * A logger that writes one JSON object a line, or one short line for people.
 *
 * @param write receives each finished line with its line feed
 * @param now milliseconds since the epoch; a parameter so that tests can fix it
 */
export function createLog(
  format: Config['logFormat'],
  write: (line: string) => void = (line) => void process.stderr.write(line),
  now: () => number = Date.now,
): Log {
  const emit = (level: string, event: string, fields: LogFields): void => {
    const time = new Date(now()).toISOString()
    // JSON.stringify escapes line feeds, ANSI escapes and quotes: a field can never forge a second line.
    write(
      format === 'json'
        ? `${oneLine(JSON.stringify({ time, level, event, ...fields }))}\n`
        : `${time.slice(11, 23)} ${level.padEnd(5)} ${event}${pretty(fields)}\n`,
    )
  }
  return {
    info: (event, fields = {}) => emit('info', event, fields),
    warn: (event, fields = {}) => emit('warn', event, fields),
    error: (event, fields = {}) => emit('error', event, fields),
  }
}

function pretty(fields: LogFields): string {
  let text = ''
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    text += ` ${name}=${typeof value === 'string' ? oneLine(JSON.stringify(value)) : value}`
  }
  return text
}

/** U+2028 and U+2029 end a line for some readers though JSON allows them; DEL and C1 controls move a terminal. */
function oneLine(json: string): string {
  return json.replace(/[\u2028\u2029\u007f-\u009f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
