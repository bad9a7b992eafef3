/** Wires, starts and stops everything. The one file besides the signer's that touches the process itself. */
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { bannerText } from './cli/banner.ts'
import { helpText, readCommandLine } from './cli/arguments.ts'
import { ConfigError, readConfig } from './config.ts'
import { createLog, type Log } from './log.ts'
import { startService, type RunningService } from './start.ts'
import { readCommit, version } from './version.ts'

const EXIT_CONFIG = 78
const EXIT_INTERNAL = 70

/** `npm start`: runs the service until a signal ends it. Never resolves before that unless the start fails. */
export async function main(argv: readonly string[]): Promise<void> {
  const startedMs = performance.now()
  let log: Log = createLog('pretty')
  try {
    const commandLine = readCommandLine(argv, process.env)
    if (commandLine.help) return void process.stdout.write(helpText())
    if (commandLine.version) return void process.stdout.write(`${version}\n`)
    const config = readConfig(commandLine.env, availableParallelism())
    log = createLog(config.logFormat)
    const commit = readCommit(fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '..' : '../..', import.meta.url)))
    const service = await startService(config, log, { version, commit })
    const facts = { ...service.facts, readySeconds: (performance.now() - startedMs) / 1000 }
    if (config.logFormat === 'json') log.info('ready', readyFields(facts))
    else process.stderr.write(bannerText(facts))
    stopOnSignals(service, log)
  } catch (error) {
    if (error instanceof ConfigError) {
      log.error('cannot start', { reason: error.message })
      process.exit(EXIT_CONFIG)
    }
    log.error('cannot start', { reason: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    process.exit(EXIT_INTERNAL)
  }
}

function readyFields({ apiKeys, ...facts }: Parameters<typeof bannerText>[0]) {
  return { ...facts, ...(apiKeys === undefined ? {} : { developerKey: apiKeys.developer, internalKey: apiKeys.internal }) }
}

/** First signal: stop accepting, answer what is under way, then exit. Second signal: exit at once. */
function stopOnSignals(service: RunningService, log: Log): void {
  let stopping = false
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    log.info('stopping', { signal })
    service.stop().then(
      () => {
        log.info('stopped')
        process.exit(0)
      },
      (error: unknown) => {
        log.error('stopped with an error', { reason: String(error) })
        process.exit(EXIT_INTERNAL)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}
