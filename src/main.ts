/**
 * Reads the settings, starts the service and stops it on a signal. Within the service, only this file and the signer thread read
 * the environment.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'
import { createLog, type Log, surviveClosedOutput } from './base/log.ts'
import { makeFolder } from './base/make-folder.ts'
import { readCommit, version } from './base/version.ts'
import { helpText, readCommandLine, UsageError } from './cli/arguments.ts'
import { bannerText } from './cli/banner.ts'
import { misspeltSettings } from './cli/misspelt-settings.ts'
import { type Config, readConfig } from './config/config.ts'
import { ConfigError, type Environment } from './config/setting.ts'
import { forgetSigningKey, publicEnvironment, readSigningKey, SECRETS } from './config/signing-key.ts'
import { ListenError } from './http/transport/port.ts'
import type { LocalChain } from './local-chain/local-chain.ts'
import { readServiceConfig, startService } from './start.ts'
import { StartTimeout } from './threads/thread-host.ts'
import { OWN_EVALUATION } from './wire/compute-messages.ts'

const STANDARD_INPUT = 0
const EXIT_USAGE = 2
const EXIT_CONFIG = 78
const EXIT_INTERNAL = 70

/** Runs the service until a signal stops it (`npm start`). Exits the process with an error code if the start fails. */
export async function main(argv: readonly string[]): Promise<void> {
  const startedMs = performance.now()
  surviveClosedOutput()
  const hangUp = new HangUp()
  let log: Log = createLog('pretty')
  let task = 'start'
  let localChain: LocalChain | undefined
  try {
    const commandLine = readCommandLine(argv, publicEnvironment(process.env))
    if (commandLine.help) return void process.stdout.write(helpText())
    if (commandLine.version) return void process.stdout.write(`${version}\n`)
    let { env } = commandLine
    const hasSecretKey = SECRETS.some((name) => Object.hasOwn(process.env, name))
    let config =
      commandLine.records === undefined
        ? readServiceConfig(env, availableParallelism(), hasSecretKey)
        : readConfig(env, availableParallelism())
    log = createLog(config.logFormat)
    if (config.processes > 1 && process.platform !== 'linux') {
      log.warn('one process runs', { reason: 'processes share a port only on Linux' })
      env = { ...env, PROCESSES: '1' }
      config = readConfig(env, availableParallelism())
    }
    for (const { name, meant } of misspeltSettings(env)) {
      log.warn('unknown setting', { name, hint: `did you mean ${meant}?` })
    }
    warnAboutClaims(config, log)
    if (commandLine.records !== undefined) {
      task = commandLine.records.kind === 'backup' ? 'make a backup' : 'restore'
      hangUp.release()
      const { runRecordsCommand } = await import('./cli/commands/backup.ts') // loaded on demand, because it loads the database
      return void process.stdout.write(`${await runRecordsCommand(commandLine.records, config)}\n`)
    }
    requireDataFolder(config)
    const commit = readCommit(fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '..' : '../..', import.meta.url)))
    if (config.localChain !== undefined) {
      const { startLocalChain } = await import('./local-chain/local-chain.ts') // loaded on demand: it takes a quarter of a second
      localChain = await startLocalChain({ config, settings: config.localChain, env, log, now: Date.now })
      env = { ...env, ...localChain.environment }
      config = readConfig(env, availableParallelism())
    }
    if (config.processes > 1) {
      return await superviseProcesses({ config, env, log, build: { version, commit }, localChain, startedMs, hangUp })
    }
    hangUp.handle(() => {
      // A terminal that closes sends it too.
      if (isatty(STANDARD_INPUT)) process.kill(process.pid, 'SIGTERM')
      else log.warn('SIGHUP is ignored', { reason: 'it is for several processes (PROCESSES)' })
    })
    const service = await startService(config, log, { version, commit }, localChain)
    // Before the "ready" line, because its reader may send a signal at once.
    stopOnSignals(() => service.stop(), localChain, log)
    announce({ ...service.facts, readySeconds: (performance.now() - startedMs) / 1000 }, config, log)
    // The signer thread took the key from the environment, and the key is lost with it. Only a new process can read it again.
    void service.lost.then((error) => {
      log.error('the signer is lost', { reason: error.message })
      process.exit(EXIT_INTERNAL)
    })
  } catch (error) {
    await localChain?.close()
    if (error instanceof ConfigError || error instanceof ListenError) {
      log.error(`cannot ${task}`, { reason: error.message })
      process.exit(error instanceof UsageError ? EXIT_USAGE : EXIT_CONFIG)
    }
    const isExplained = error instanceof StartTimeout
    const text = error instanceof Error ? (isExplained ? error.message : (error.stack ?? error.message)) : String(error)
    log.error(`cannot ${task}`, { reason: text })
    process.exit(EXIT_INTERNAL)
  }
}

interface SuperviseParts {
  readonly config: Config
  readonly env: Environment
  readonly log: Log
  readonly build: { readonly version: string; readonly commit: string }
  readonly localChain: LocalChain | undefined
  readonly startedMs: number
  readonly hangUp: HangUp
}

/** Runs several processes on one port, until a signal stops them. */
async function superviseProcesses({
  config,
  env,
  log,
  build,
  localChain,
  startedMs,
  hangUp,
}: SuperviseParts): Promise<void> {
  // Loaded on demand, because most services run as one process.
  const { StartFailure, Supervisor } = await import('./processes/supervisor.ts')
  const { eraseStartEnvironment } = await import('./attest/start-environment.ts')
  const { loadSigningKey } = await import('./attest/signing-key.ts')
  const source = readSigningKey(process.env, config)
  forgetSigningKey(process.env) // before the first process, which inherits the environment
  if (!eraseStartEnvironment()) {
    log.warn('the environment of this process still shows the signing key', { hint: 'use SIGNER_KEYSTORE' })
  }
  const key = await loadSigningKey(source)
  await localChain?.fund(key.address) // before the relay checks its balance
  const supervisor = new Supervisor({ config, env, log, build, key })
  stopOnSignals(
    () => supervisor.stop(),
    localChain,
    log,
    () => supervisor.kill(),
  )
  try {
    const facts = await supervisor.start()
    const readySeconds = (performance.now() - startedMs) / 1000
    announce({ ...facts, localChain: localChain?.facts, readySeconds }, config, log)
    hangUp.handle(() => void supervisor.replaceAll())
  } catch (error) {
    await supervisor.stop()
    if (!(error instanceof StartFailure)) throw error
    await localChain?.close()
    process.exit(error.code) // the process has logged the reason
  }
}

/** Handles SIGHUP, whose default is to end the process, from the first moment. A signal during the start is carried out after it. */
class HangUp {
  #isPending = false
  #run: (() => void) | undefined
  readonly #receive = () => {
    if (this.#run === undefined) this.#isPending = true
    else this.#run()
  }

  constructor() {
    process.on('SIGHUP', this.#receive)
  }

  /** Restores the default, for commands that end by themselves. */
  release(): void {
    process.off('SIGHUP', this.#receive)
  }

  /** Sets what the signal does from now on, and does it at once if a signal has come. */
  handle(run: () => void): void {
    this.#run = run
    if (this.#isPending) run()
    this.#isPending = false
  }
}

function announce(facts: Parameters<typeof bannerText>[0], config: Config, log: Log): void {
  if (config.logFormat === 'json') log.info('ready', readyFields(facts))
  else process.stderr.write(bannerText(facts))
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
function requireDataFolder({ dataDir, production, records, databaseUrl, processes }: Config): void {
  if (production && (!records || databaseUrl !== undefined) && processes === 1) return
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
function stopOnSignals(
  stopService: () => Promise<void>,
  localChain: LocalChain | undefined,
  log: Log,
  kill: () => void = () => {},
): void {
  let isStopping = false
  const stop = (signal: NodeJS.Signals) => {
    if (isStopping) {
      kill()
      process.exit(1)
    }
    isStopping = true
    log.info('stopping', { signal })
    // The chain closes last, because open requests may still need it.
    const stopped = stopService().finally(() => localChain?.close())
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
