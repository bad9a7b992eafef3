/** The chain of this machine: `npm start -- --chain`. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { checksumAddress } from '../attest/address.ts'
import { type Config, ConfigError, type Environment, type LocalChainConfig } from '../config.ts'
import type { Log } from '../log.ts'
import { makeFolder } from '../make-folder.ts'
import type { Hex } from '../messages.ts'
import { lockFolder } from '../store/folder-lock.ts'
import { createRpc, type Rpc } from '../sync/rpc.ts'
import { anvilPackage, findAnvil } from './anvil-binary.ts'
import { type AnvilProcess, startAnvil } from './anvil-process.ts'
import { LOCAL_CHAIN_ID, localChainEnvironment, localChainTable, setUpChain, setupState } from './chain-setup.ts'
import { isPortFree } from './free-port.ts'
import { endLeftover, noteProcess } from './leftover.ts'
import { prepareState, removeState, stateFiles } from './state-file.ts'

/** What an operator wants to know of it. */
export interface LocalChainFacts {
  readonly rpcUrl: string
  readonly chainId: number
  readonly easAddress: string
  readonly schemaRegistryAddress: string
  /** Accounts with test money, whose keys everybody knows. */
  readonly accounts: readonly string[]
}

export interface LocalChain {
  readonly facts: LocalChainFacts
  /** Names of the environment that make a service use it; what the operator set stays. */
  readonly environment: Environment
  /** Gives an account test money for its transactions, on this chain and on what it is started again as. */
  fund(account: string): Promise<void>
  /** Ends it; its state is kept. */
  close(): Promise<void>
}

export interface LocalChainParts {
  readonly config: Config
  readonly settings: LocalChainConfig
  /** What the operator set, `PATH` included. */
  readonly env: Environment
  readonly log: Log
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const ANVIL_VERSION = '1.7.1'
const USUAL_PORT = 8545
const MAX_RESPONSE_BYTES = 4 * 1_048_576
/** 1000 ether, in wei. */
const TEST_FUNDS = 1000n * 10n ** 18n

/**
 * Starts anvil on the state below the data folder, or makes a new chain with EAS, our schemas and sample attestations. One
 * that ends is started again on the same port.
 *
 * @throws {ConfigError} when there is no anvil, another setting contradicts or it cannot start; with the remedy
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
      await give(account)
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
      if (ended !== undefined) log.warn('a chain that a killed service left was ended', { pid: ended })
      const port = await choosePort()
      try {
        return await open(port)
      } catch (error) {
        if (port === 0 || settings.port !== undefined) throw error
        return await open(0) // another program was quicker
      }
    } catch (error) {
      unlock()
      if (error instanceof ConfigError) throw error
      throw new ConfigError(
        `the local chain cannot start: ${(error as Error).message}. Remove ${folder} for a new one, or start without --chain`,
      )
    }
  }

  /** Starts anvil, and makes the chain where it is not there or not whole. */
  async function open(port: number): Promise<AnvilProcess> {
    const found = prepareState(files)
    if (found === 'older' || found === 'damaged') {
      const instead = found === 'older' ? files.before : 'a new chain'
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
    // Less work to make another one than to find out what is missing.
    await started.stop()
    removeState(files)
    return await open(Number(new URL(started.url).port))
  }

  async function give(account: string): Promise<void> {
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
      const hint = `start the service again; without ${folder} it makes a new chain`
      log.error('the local chain is not started again', { attempts: settings.maxRestarts, hint })
      return
    }
    await new Promise((resolve) => setTimeout(resolve, settings.restartPauseMs * attempt))
    if (isClosing) return
    try {
      anvil = await open(Number(new URL(url).port))
      if (isClosing) return await anvil.stop()
      for (const account of funded) await give(account)
      log.info('the local chain was started again', { rpcUrl: url })
      watch(anvil, attempt)
    } catch (error) {
      log.error('the local chain cannot start', { reason: (error as Error).message })
      await restart(attempt + 1)
    }
  }

  async function choosePort(): Promise<number> {
    const { port } = settings
    if (port === 0 || (await isPortFree(port ?? USUAL_PORT))) return port ?? USUAL_PORT
    if (port === undefined) return 0
    throw new ConfigError(
      `LOCAL_CHAIN_PORT=${port}: the port is in use: choose another one, or leave it out to take a free one`,
    )
  }

  function connect(at: string): Rpc {
    return createRpc({ url: at, timeoutMs: settings.rpcTimeoutMs, maxResponseBytes: MAX_RESPONSE_BYTES })
  }
}

function requireAnvil(env: Environment): string {
  const binary = findAnvil(env['PATH'] ?? '')
  if (binary !== undefined) return binary
  const name = anvilPackage(process.platform, process.arch)
  throw new ConfigError(
    `--chain needs anvil, which is not here: npm install --no-save --ignore-scripts ${name}@${ANVIL_VERSION}, or have anvil from https://getfoundry.sh in PATH; or start without --chain`,
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
