/** The chain of this machine: `npm start -- --chain`. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../base/log.ts'
import { makeFolder } from '../base/make-folder.ts'
import { type Config, ConfigError, type Environment, type LocalChainConfig } from '../config/config.ts'
import { checksumAddress } from '../crypto/address.ts'
import { lockFolder } from '../store/folder-lock.ts'
import { createRpc, type Rpc } from '../sync/rpc.ts'
import type { Hex } from '../wire/values.ts'
import { type AnvilProcess, anvilPackage, findAnvil, isPortFree, startAnvil } from './anvil-process.ts'
import { LOCAL_CHAIN_ID, localChainEnvironment, localChainTable, setUpChain, setupState } from './chain-setup.ts'
import { endLeftover, noteProcess } from './leftover.ts'
import { prepareState, removeState, stateFiles } from './state-file.ts'

/** Facts about the chain for the operator. */
export interface LocalChainFacts {
  readonly rpcUrl: string
  readonly chainId: number
  readonly easAddress: string
  readonly schemaRegistryAddress: string
  /** Accounts with test money; their private keys are public. */
  readonly accounts: readonly string[]
}

export interface LocalChain {
  readonly facts: LocalChainFacts
  /** Environment variables that make the service use the chain; they do not replace the operator's settings. */
  readonly environment: Environment
  /** Gives an account test money for its transactions, now and after each restart of the chain. */
  fund(account: string): Promise<void>
  /** Stops the chain; its state is kept. */
  close(): Promise<void>
}

export interface LocalChainParts {
  readonly config: Config
  readonly settings: LocalChainConfig
  /** The operator's environment, with `PATH`. */
  readonly env: Environment
  readonly log: Log
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const ANVIL_VERSION = '1.7.1'
const DEFAULT_PORT = 8545
const MAX_RESPONSE_BYTES = 4 * 1_048_576
/** 1000 ether, in wei. */
const TEST_FUNDS = 1000n * 10n ** 18n

/**
 * Starts anvil with the state in the data folder, or sets up a new chain with EAS, our schemas and sample attestations. If anvil
 * ends unexpectedly, it is started again on the same port.
 *
 * @throws {ConfigError} that says what to do, when anvil is missing or cannot start, or another setting contradicts
 */
export async function startLocalChain({ config, settings, env, log, now }: LocalChainParts): Promise<LocalChain> {
  const chains = localChainTable(config)
  const { easAddress, schemaRegistryAddress } = chains.get(LOCAL_CHAIN_ID)!
  const binary = requireAnvil(env)
  const folder = join(config.dataDir, 'local-chain')
  const noteFile = join(folder, 'anvil.json')
  const files = stateFiles(folder)
  const unlock = lock(folder)
  const funded = new Set<string>()
  let isClosing = false
  let rpc: Rpc
  let accounts: readonly Hex[] = []
  let anvil = await openFirst()
  const { url } = anvil
  watch(anvil, 0)

  return {
    facts: {
      rpcUrl: url,
      chainId: LOCAL_CHAIN_ID,
      easAddress,
      schemaRegistryAddress,
      accounts: accounts.map(checksumAddress),
    },
    environment: localChainEnvironment(config, env, url),
    async fund(account) {
      await topUp(account)
      funded.add(account)
    },
    async close() {
      isClosing = true
      await anvil.stop()
      rmSync(noteFile, { force: true })
      unlock()
    },
  }

  async function openFirst(): Promise<AnvilProcess> {
    try {
      const ended = await endLeftover(noteFile, connect, settings.stopMs)
      if (ended !== undefined) log.warn('a local chain that a killed service left running was ended', { pid: ended })
      const port = await choosePort()
      try {
        return await open(port)
      } catch (error) {
        if (port === 0 || settings.port !== undefined) throw error
        return await open(0) // another program took the port in between
      }
    } catch (error) {
      unlock()
      if (error instanceof ConfigError) throw error
      throw new ConfigError(
        `the local chain cannot start: ${(error as Error).message}. Remove ${folder} to get a new chain, or start without --chain`,
      )
    }
  }

  /** Starts anvil, and sets up the chain if it is new or its setup is incomplete. */
  async function open(port: number): Promise<AnvilProcess> {
    const previous = prepareState(files)
    if (previous === 'older' || previous === 'damaged') {
      const instead = previous === 'older' ? files.before : 'a new chain'
      log.warn('the state of the local chain is damaged', { kept: `${files.state}.damaged`, instead })
    }
    const { startMs, stopMs, stateSeconds, blockSeconds } = settings
    const started = await startAnvil({
      ...{ binary, port, chainId: LOCAL_CHAIN_ID, stateFile: files.state, home: folder },
      ...{ startMs, stopMs, stateSeconds, blockSeconds },
    })
    try {
      rpc = connect(started.url)
      await noteProcess(noteFile, started.pid, started.url, rpc)
      accounts = (await rpc.request('eth_accounts', [])) as Hex[]
      const state = await setupState(rpc, accounts)
      if (state === 'whole') return started
      if (state === 'empty') {
        const nowSeconds = Math.floor(now() / 1000)
        await setUpChain({ rpc, chains, accounts, timeoutMs: settings.rpcTimeoutMs, nowSeconds })
        return started
      }
    } catch (error) {
      await started.stop()
      throw error
    }
    // Creating a new chain is simpler than finding out what is missing.
    await started.stop()
    removeState(files)
    return await open(Number(new URL(started.url).port))
  }

  async function topUp(account: string): Promise<void> {
    const balance = BigInt((await rpc.request('eth_getBalance', [account, 'latest'])) as string)
    if (balance < TEST_FUNDS / 10n) await rpc.request('anvil_setBalance', [account, `0x${TEST_FUNDS.toString(16)}`])
  }

  function watch(running: AnvilProcess, restarts: number): void {
    const startedMs = performance.now()
    void running.ended.then(({ code, signal, lastWords }) => {
      if (isClosing) return
      log.error('the local chain ended', { code, signal, lastWords })
      const isStable = performance.now() - startedMs > settings.stableMs
      void restart(isStable ? 1 : restarts + 1)
    })
  }

  async function restart(attempt: number): Promise<void> {
    if (attempt > settings.maxRestarts) {
      const hint = `start the service again; if you remove ${folder} first, it sets up a new chain`
      log.error('the local chain is not started again', { attempts: settings.maxRestarts, hint })
      return
    }
    await new Promise((resolve) => setTimeout(resolve, settings.restartPauseMs * attempt))
    if (isClosing) return
    try {
      anvil = await open(Number(new URL(url).port))
      if (isClosing) return await anvil.stop()
      for (const account of funded) await topUp(account)
      log.info('the local chain was started again', { rpcUrl: url })
      watch(anvil, attempt)
    } catch (error) {
      log.error('the local chain cannot start', { reason: (error as Error).message })
      await restart(attempt + 1)
    }
  }

  async function choosePort(): Promise<number> {
    const { port } = settings
    if (port === 0 || (await isPortFree(port ?? DEFAULT_PORT))) return port ?? DEFAULT_PORT
    if (port === undefined) return 0
    throw new ConfigError(
      `LOCAL_CHAIN_PORT=${port}: the port is in use: set another one, or unset it to use any free port`,
    )
  }

  function connect(rpcUrl: string): Rpc {
    return createRpc({ url: rpcUrl, timeoutMs: settings.rpcTimeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES })
  }
}

function requireAnvil(env: Environment): string {
  const binary = findAnvil(env['PATH'] ?? '')
  if (binary !== undefined) return binary
  const name = anvilPackage(process.platform, process.arch)
  throw new ConfigError(
    `--chain needs anvil, which was not found: npm install --no-save --ignore-scripts ${name}@${ANVIL_VERSION}, or install anvil from https://getfoundry.sh in PATH, or start without --chain`,
  )
}

function lock(folder: string): () => void {
  try {
    makeFolder(folder, 0o700)
    return lockFolder(folder)
  } catch (error) {
    throw new ConfigError((error as Error).message, { cause: error })
  }
}
