/** Wires, starts and stops everything. The one file besides the signer's that touches the process itself. */
import { rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { helpText, readCommandLine, UsageError } from './cli/arguments.ts'
import { bannerText } from './cli/banner.ts'
import { misspeltSettings } from './cli/misspelt-settings.ts'
import { testPlugin } from './cli/plugin-test.ts'
import { type Config, ConfigError, type Environment, readConfig } from './config.ts'
import { SECRETS } from './config-key.ts'
import { OWN_EVALUATION } from './evidence-messages.ts'
import { ListenError } from './http/port.ts'
import type { LocalChain } from './local-chain/local-chain.ts'
import { createLog, type Log } from './log.ts'
import { makeFolder } from './make-folder.ts'
import { type RunningService, startService } from './start.ts'
import { readCommit, version } from './version.ts'

const EXIT_USAGE = 2
const EXIT_CONFIG = 78
const EXIT_INTERNAL = 70

/** `npm start`: runs the service until a signal ends it. Never resolves before that unless the start fails. */
export async function main(argv: readonly string[]): Promise<void> {
  const startedMs = performance.now()
  let log: Log = createLog('pretty')
  let task = 'start'
  let localChain: LocalChain | undefined
  try {
    if (argv[0] === 'plugin-test') {
      const config = readConfig(publicEnvironment(), availableParallelism())
      process.exitCode = await testPlugin(argv.slice(1), config, (line) => process.stdout.write(`${line}\n`))
      return
    }
    const commandLine = readCommandLine(argv, publicEnvironment())
    if (commandLine.help) return void process.stdout.write(helpText())
    if (commandLine.version) return void process.stdout.write(`${version}\n`)
    let config = readConfig(commandLine.env, availableParallelism())
    log = createLog(config.logFormat)
    for (const { name, meant } of misspeltSettings(commandLine.env)) {
      log.warn('unknown setting', { name, hint: `did you mean ${meant}?` })
    }
    warnOfClaims(config, log)
    if (commandLine.records !== undefined) {
      task = commandLine.records.kind === 'backup' ? 'make a backup' : 'restore'
      const { runRecordsCommand } = await import('./cli/records-command.ts') // the database's program only when it is asked for
      return void process.stdout.write(`${await runRecordsCommand(commandLine.records, config)}\n`)
    }
    requireDataFolder(config)
    const commit = readCommit(fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '..' : '../..', import.meta.url)))
    if (config.localChain !== undefined) {
      const { startLocalChain } = await import('./local-chain/local-chain.ts') // a quarter of a second for who asks for it
      const { env } = commandLine
      localChain = await startLocalChain({ config, settings: config.localChain, env, log, now: Date.now })
      config = readConfig({ ...env, ...localChain.environment }, availableParallelism())
    }
    const service = await startService(config, log, { version, commit }, localChain)
    // Before it is said to be ready: who hears that may end it at once.
    stopOnSignals(service, localChain, log)
    const facts = { ...service.facts, readySeconds: (performance.now() - startedMs) / 1000 }
    if (config.logFormat === 'json') log.info('ready', readyFields(facts))
    else process.stderr.write(bannerText(facts))
    // The key came from the environment and went with its thread: only a new process can have it again.
    void service.lost.then((error) => {
      log.error('the signer is lost', { reason: error.message })
      process.exit(EXIT_INTERNAL)
    })
  } catch (error) {
    await localChain?.close()
    if (error instanceof ListenError && error.failure === 'in-use') {
      log.error('cannot start', { reason: `${error.message}: choose another PORT, or leave it out to take a free one` })
      process.exit(EXIT_CONFIG)
    }
    if (error instanceof ConfigError) {
      log.error(`cannot ${task}`, { reason: error.message })
      process.exit(error instanceof UsageError ? EXIT_USAGE : EXIT_CONFIG)
    }
    log.error(`cannot ${task}`, { reason: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    process.exit(EXIT_INTERNAL)
  }
}

/** What an operator says of the evaluation, where it differs from what this program performs (decision 130). */
function warnOfClaims({ evaluation: { mode, method } }: Config, log: Log): void {
  if (mode === OWN_EVALUATION.mode && method === OWN_EVALUATION.method) return
  const hint = 'answers repeat EVALUATION_MODE and EVALUATION_METHOD; nothing here proves them'
  log.warn("the evaluation of proofs is the operator's claim", { mode, method, hint })
}

/** A service that keeps nothing below the data folder needs none; of the keys the signer says so itself. */
function requireDataFolder({ dataDir, production, records, databaseUrl }: Config): void {
  if (production && (!records || databaseUrl !== undefined)) return
  try {
    makeFolder(dataDir, 0o700)
    const probe = join(dataDir, `.write-test-${process.pid}`)
    writeFileSync(probe, '')
    rmSync(probe)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError(
      `DATA_DIR=${dataDir}: nothing can be written there (${code}); set it to a folder that can be written`,
      {
        cause: error,
      },
    )
  }
}

/** The environment without the key: it is never read on this thread, so it never stands in this heap (decision 96). */
function publicEnvironment(): Environment {
  const names = Object.keys(process.env).filter((name) => !SECRETS.includes(name))
  return Object.fromEntries(names.map((name) => [name, process.env[name]]))
}

function readyFields({ apiKeys, localChain, ...facts }: Parameters<typeof bannerText>[0]) {
  return {
    ...facts,
    ...localChainFields(localChain),
    ...(apiKeys === undefined ? {} : { developerKey: apiKeys.developer, internalKey: apiKeys.internal }),
  }
}

function localChainFields(facts: LocalChain['facts'] | undefined) {
  if (facts === undefined) return {}
  const { rpcUrl, chainId, easAddress, schemaRegistryAddress, accounts } = facts
  return { rpcUrl, chainId, easAddress, schemaRegistryAddress, fundedAccounts: accounts.join(',') }
}

/** First signal: stop accepting, answer what is under way, then exit. Second signal: exit at once. */
function stopOnSignals(service: RunningService, localChain: LocalChain | undefined, log: Log): void {
  let stopping = false
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    log.info('stopping', { signal })
    // The chain last: what is open may still need it.
    const stopped = service.stop().finally(() => localChain?.close())
    stopped.then(
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
