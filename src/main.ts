/**
 * Reads the settings, starts the service and stops it on a signal. Within the service, only this file and the signer thread read
 * the environment.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLog, type Log } from './base/log.ts'
import { makeFolder } from './base/make-folder.ts'
import { readCommit, version } from './base/version.ts'
import { helpText, readCommandLine, UsageError } from './cli/arguments.ts'
import { bannerText } from './cli/banner.ts'
import { misspeltSettings } from './cli/misspelt-settings.ts'
import { type Config, readConfig } from './config/config.ts'
import { ConfigError } from './config/setting.ts'
import { publicEnvironment } from './config/signing-key.ts'
import { ListenError } from './http/transport/port.ts'
import type { LocalChain } from './local-chain/local-chain.ts'
import { type RunningService, startService } from './start.ts'
import { OWN_EVALUATION } from './wire/compute-messages.ts'

const EXIT_USAGE = 2
const EXIT_CONFIG = 78
const EXIT_INTERNAL = 70

/** Runs the service until a signal stops it (`npm start`). Exits the process with an error code if the start fails. */
export async function main(argv: readonly string[]): Promise<void> {
  const startedMs = performance.now()
  let log: Log = createLog('pretty')
  let task = 'start'
  let localChain: LocalChain | undefined
  try {
    const commandLine = readCommandLine(argv, publicEnvironment(process.env))
    if (commandLine.help) return void process.stdout.write(helpText())
    if (commandLine.version) return void process.stdout.write(`${version}\n`)
    let config = readConfig(commandLine.env, availableParallelism())
    log = createLog(config.logFormat)
    for (const { name, meant } of misspeltSettings(commandLine.env)) {
      log.warn('unknown setting', { name, hint: `did you mean ${meant}?` })
    }
    warnAboutClaims(config, log)
    if (commandLine.records !== undefined) {
      task = commandLine.records.kind === 'backup' ? 'make a backup' : 'restore'
      const { runRecordsCommand } = await import('./cli/commands/backup.ts') // loaded on demand, because it loads the database
      return void process.stdout.write(`${await runRecordsCommand(commandLine.records, config)}\n`)
    }
    requireDataFolder(config)
    const commit = readCommit(fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '..' : '../..', import.meta.url)))
    if (config.localChain !== undefined) {
      const { startLocalChain } = await import('./local-chain/local-chain.ts') // loaded on demand: it takes a quarter of a second
      const { env } = commandLine
      localChain = await startLocalChain({ config, settings: config.localChain, env, log, now: Date.now })
      config = readConfig({ ...env, ...localChain.environment }, availableParallelism())
    }
    const service = await startService(config, log, { version, commit }, localChain)
    // Before the "ready" line, because its reader may send a signal at once.
    stopOnSignals(service, localChain, log)
    const facts = { ...service.facts, readySeconds: (performance.now() - startedMs) / 1000 }
    if (config.logFormat === 'json') log.info('ready', readyFields(facts))
    else process.stderr.write(bannerText(facts))
    // The signer thread took the key from the environment, and the key is lost with it. Only a new process can read it again.
    void service.lost.then((error) => {
      log.error('the signer is lost', { reason: error.message })
      process.exit(EXIT_INTERNAL)
    })
  } catch (error) {
    await localChain?.close()
    if (error instanceof ListenError && error.failure === 'in-use') {
      log.error('cannot start', {
        reason: `${error.message}: choose another PORT, or leave PORT unset to use a free one`,
      })
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

/** Logs a warning if the operator claims an evaluation that this program does not perform (decision 130). */
function warnAboutClaims({ evaluation: { mode, method } }: Config, log: Log): void {
  if (mode === OWN_EVALUATION.mode && method === OWN_EVALUATION.method) return
  const hint = 'responses repeat EVALUATION_MODE and EVALUATION_METHOD; this program does not prove them'
  log.warn("the evaluation of proofs is the operator's claim", { mode, method, hint })
}

/**
 * Checks that the data folder is writable. A production service without the embedded database does not need it. A development
 * signing key that cannot be stored there is reported by the signer.
 */
function requireDataFolder({ dataDir, production, records, databaseUrl }: Config): void {
  if (production && (!records || databaseUrl !== undefined)) return
  try {
    makeFolder(dataDir, 0o700)
    const probe = join(dataDir, `.write-test-${process.pid}`)
    writeFileSync(probe, '')
    rmSync(probe)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConfigError(`DATA_DIR=${dataDir}: the folder is not writable (${code}); set it to a writable folder`, {
      cause: error,
    })
  }
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

/** On the first signal, stops accepting requests, answers those in progress, then exits. On the second signal, exits at once. */
function stopOnSignals(service: RunningService, localChain: LocalChain | undefined, log: Log): void {
  let isStopping = false
  const stop = (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(1)
    isStopping = true
    log.info('stopping', { signal })
    // The chain closes last, because open requests may still need it.
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
