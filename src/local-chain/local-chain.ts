/** The local test chain of `npm start -- --chain`. */
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Chain } from '../attest/chains.ts'
import type { Log } from '../base/log.ts'
import { makeFolder } from '../base/make-folder.ts'
import type { LocalChainConfig } from '../config/chains.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, type Environment } from '../config/setting.ts'
import { checksumAddress } from '../crypto/address.ts'
import { lockFolder } from '../store/folder-lock.ts'
import { HttpRpc, type Rpc } from '../sync/rpc.ts'
import type { Hex } from '../wire/values.ts'
import {
  type AnvilProcess,
  anvilPackage,
  endLeftover,
  findAnvil,
  isPortFree,
  noteProcess,
  startAnvil,
} from './anvil-process.ts'
import { LOCAL_CHAIN_ID, localChainEnvironment, localChainTable, setUpChain, setupState } from './chain-setup.ts'

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
 * @throws {ConfigError} that says what to do, when anvil is missing or cannot start, or another setting conflicts
 * with it
 */
export async function startLocalChain(parts: LocalChainParts): Promise<LocalChain> {
  const chains = localChainTable(parts.config)
  const { easAddress, schemaRegistryAddress } = chains.get(LOCAL_CHAIN_ID)!
  const chain = new SupervisedChain(parts, chains)
  const { url: rpcUrl, accounts } = await chain.start()
  return {
    facts: {
      rpcUrl,
      chainId: LOCAL_CHAIN_ID,
      easAddress,
      schemaRegistryAddress,
      accounts: accounts.map(checksumAddress),
    },
    environment: localChainEnvironment(parts.config, parts.env, rpcUrl),
    fund: (account) => chain.fund(account),
    close: () => chain.close(),
  }
}

/** The anvil process with its folder. It is started again when it ends unexpectedly. */
class SupervisedChain {
  readonly #settings: LocalChainConfig
  readonly #log: Log
  readonly #now: () => number
  readonly #chains: ReadonlyMap<number, Chain>
  readonly #binary: string
  readonly #folder: string
  readonly #noteFile: string
  readonly #files: StateFiles
  readonly #unlock: () => void
  /** Accounts that get test money after each restart. */
  readonly #funded = new Set<string>()
  #isClosing = false
  #anvil!: AnvilProcess
  #url!: string
  #rpc!: Rpc
  #accounts: readonly Hex[] = []

  /** Locks the folder. Throws {ConfigError} when another process uses it, or anvil is missing. */
  constructor({ config, settings, env, log, now }: LocalChainParts, chains: ReadonlyMap<number, Chain>) {
    this.#settings = settings
    this.#log = log
    this.#now = now
    this.#chains = chains
    this.#binary = requireAnvil(env)
    this.#folder = join(config.dataDir, 'local-chain')
    this.#noteFile = join(this.#folder, 'anvil.json')
    this.#files = stateFiles(this.#folder)
    this.#unlock = lock(this.#folder)
  }

  /** Starts anvil; called once. Throws {ConfigError} and unlocks the folder when that fails. */
  async start(): Promise<{ readonly url: string; readonly accounts: readonly Hex[] }> {
    this.#anvil = await this.#openFirst()
    this.#url = this.#anvil.url
    this.#watch(this.#anvil, 0)
    return { url: this.#url, accounts: this.#accounts }
  }

  async fund(account: string): Promise<void> {
    await this.#topUp(account)
    this.#funded.add(account)
  }

  async close(): Promise<void> {
    this.#isClosing = true
    await this.#anvil.stop()
    rmSync(this.#noteFile, { force: true })
    this.#unlock()
  }

  /** Ends an anvil that a killed service left running, then starts a new one. */
  async #openFirst(): Promise<AnvilProcess> {
    try {
      const ended = await endLeftover(this.#noteFile, (rpcUrl) => this.#connect(rpcUrl), this.#settings.stopMs)
      if (ended !== undefined)
        this.#log.warn('a local chain that a killed service left running was ended', { pid: ended })
      const port = await this.#choosePort()
      try {
        return await this.#open(port)
      } catch (error) {
        if (port === 0 || this.#settings.port !== undefined) throw error
        return await this.#open(0) // another program took the port in between
      }
    } catch (error) {
      this.#unlock()
      if (error instanceof ConfigError) throw error
      throw new ConfigError(
        `the local chain cannot start: ${(error as Error).message}. Remove ${this.#folder} to get a new chain, or start without --chain`,
      )
    }
  }

  /** Starts anvil, and sets up the chain if it is new or its setup is incomplete. */
  async #open(port: number): Promise<AnvilProcess> {
    const previous = prepareState(this.#files)
    if (previous === 'older' || previous === 'damaged') {
      const instead = previous === 'older' ? this.#files.before : 'a new chain'
      this.#log.warn('the state of the local chain is damaged', { kept: `${this.#files.state}.damaged`, instead })
    }
    const { startMs, stopMs, stateSeconds, blockSeconds } = this.#settings
    const started = await startAnvil({
      ...{ binary: this.#binary, port, chainId: LOCAL_CHAIN_ID, stateFile: this.#files.state, home: this.#folder },
      ...{ startMs, stopMs, stateSeconds, blockSeconds },
    })
    try {
      const rpc = this.#connect(started.url)
      this.#rpc = rpc
      await noteProcess(this.#noteFile, started.pid, started.url, rpc)
      const accounts = (await rpc.request('eth_accounts', [])) as Hex[]
      this.#accounts = accounts
      const state = await setupState(rpc, accounts)
      if (state === 'whole') return started
      if (state === 'empty') {
        const nowSeconds = Math.floor(this.#now() / 1000)
        const timeoutMs = this.#settings.rpcTimeoutMs
        await setUpChain({ rpc, chains: this.#chains, accounts, timeoutMs, nowSeconds })
        return started
      }
    } catch (error) {
      await started.stop()
      throw error
    }
    // Creating a new chain is simpler than finding out what is missing.
    await started.stop()
    removeState(this.#files)
    return await this.#open(Number(new URL(started.url).port))
  }

  /** Gives an account test money unless it has enough. */
  async #topUp(account: string): Promise<void> {
    const balance = BigInt((await this.#rpc.request('eth_getBalance', [account, 'latest'])) as string)
    if (balance < TEST_FUNDS / 10n)
      await this.#rpc.request('anvil_setBalance', [account, `0x${TEST_FUNDS.toString(16)}`])
  }

  /** Starts anvil again when it ends. @param restarts number of restarts since it last ran for `stableMs` */
  #watch(running: AnvilProcess, restarts: number): void {
    const startedMs = performance.now()
    void running.ended.then(({ code, signal, lastOutput }) => {
      if (this.#isClosing) return
      this.#log.error('the local chain ended', { code, signal, lastOutput })
      const isStable = performance.now() - startedMs > this.#settings.stableMs
      void this.#restart(isStable ? 1 : restarts + 1)
    })
  }

  /** Starts anvil again after a pause that grows with each attempt. Gives up after `maxRestarts` attempts. */
  async #restart(attempt: number): Promise<void> {
    if (attempt > this.#settings.maxRestarts) {
      const hint = `start the service again; if you remove ${this.#folder} first, it sets up a new chain`
      this.#log.error('the local chain is not started again', { attempts: this.#settings.maxRestarts, hint })
      return
    }
    await new Promise((resolve) => setTimeout(resolve, this.#settings.restartPauseMs * attempt))
    if (this.#isClosing) return
    try {
      this.#anvil = await this.#open(Number(new URL(this.#url).port))
      if (this.#isClosing) return await this.#anvil.stop()
      for (const account of this.#funded) await this.#topUp(account)
      this.#log.info('the local chain was started again', { rpcUrl: this.#url })
      this.#watch(this.#anvil, attempt)
    } catch (error) {
      this.#log.error('the local chain cannot start', { reason: (error as Error).message })
      await this.#restart(attempt + 1)
    }
  }

  /** Returns the port to listen on; 0 for any free one. Throws {ConfigError} when the configured one is in use. */
  async #choosePort(): Promise<number> {
    const { port } = this.#settings
    if (port === 0 || (await isPortFree(port ?? DEFAULT_PORT))) return port ?? DEFAULT_PORT
    if (port === undefined) return 0
    throw new ConfigError(
      `LOCAL_CHAIN_PORT=${port}: the port is in use: set another one, or unset it to use any free port`,
    )
  }

  #connect(rpcUrl: string): Rpc {
    return new HttpRpc({ url: rpcUrl, timeoutMs: this.#settings.rpcTimeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES })
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

/** The state that `prepareState` found; it explains the values. */
export type FoundState = 'none' | 'kept' | 'older' | 'damaged'

export interface StateFiles {
  /** The file that anvil reads when it starts and overwrites in place. */
  readonly state: string
  /** A copy of the state, made before the last start. */
  readonly before: string
}

/** Returns the paths of the state files. @param folder folder of the local chain */
export function stateFiles(folder: string): StateFiles {
  return { state: join(folder, 'state.json'), before: join(folder, 'state-before.json') }
}

/**
 * Makes sure that the state file is valid or absent. Anvil overwrites the file in place, so if it is killed while it writes, the
 * file is incomplete, and anvil would not start with it.
 *
 * @returns `none`: there is no state; `kept`: the state is valid; `older`: the state was damaged and was replaced by the copy from
 *   before the last start; `damaged`: the state was damaged and there is no copy, so anvil starts without one
 */
export function prepareState({ state, before }: StateFiles): FoundState {
  if (!existsSync(state)) return 'none'
  if (isWhole(state)) {
    copyFileSync(state, before)
    return 'kept'
  }
  renameSync(state, `${state}.damaged`)
  if (!existsSync(before) || !isWhole(before)) return 'damaged'
  copyFileSync(before, state)
  return 'older'
}

/** Deletes the state of the chain and its copy. */
export function removeState({ state, before }: StateFiles): void {
  rmSync(state, { force: true })
  rmSync(before, { force: true })
}

function isWhole(file: string): boolean {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return typeof value === 'object' && value !== null && 'accounts' in value
  } catch {
    return false
  }
}
