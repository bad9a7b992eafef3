/** Settings of the chains, and of the local development chain. */
import {
  ConfigError,
  constant,
  type Environment,
  failure,
  flag,
  integer,
  readSettings,
  type Setting,
  splitList,
  type Values,
  wholeNumber,
} from './setting.ts'

export type ChainProfile = 'legacy' | 'v1' | 'v2'

/** The operator's settings for one chain. Defaults come from the built-in table in `attest/chains.ts`. */
export interface ChainOverride {
  readonly rpcUrls: readonly string[]
  readonly easAddress?: string
  readonly schemaRegistryAddress?: string
  readonly profile?: ChainProfile
  readonly easVersion?: string
  readonly startBlock?: number
  readonly finalityDepth?: number
}

const MAX_BLOCKS = 999_999_999_999
type Fail = ReturnType<typeof failure>

/** Settings whose names end with a chain ID, by the prefix of their names. Each returns members of a chain. */
const CHAIN_ROWS: Readonly<Record<string, (value: string, fail: Fail, name: string) => Partial<ChainOverride>>> = {
  RPC_URL: (value, _fail, name) => ({ rpcUrls: readRpcUrls(value, name) }),
  EAS_ADDRESS: (value, fail) => ({ easAddress: readAddress(value, fail) }),
  EAS_PROFILE: (value, fail) => ({
    profile: (['legacy', 'v1', 'v2'] as const).find((profile) => profile === value) ?? fail('legacy, v1 or v2'),
  }),
  EAS_VERSION: (value) => ({ easVersion: value }),
  SCHEMA_REGISTRY: (value, fail) => ({ schemaRegistryAddress: readAddress(value, fail) }),
  START_BLOCK: (value, fail) => ({ startBlock: wholeNumber(value, 0, MAX_BLOCKS, fail) }),
  FINALITY_DEPTH: (value, fail) => ({ finalityDepth: wholeNumber(value, 0, MAX_BLOCKS, fail) }),
}

/** Prefixes of the settings whose names end with a chain ID. */
export const CHAIN_SETTING_PREFIXES: readonly string[] = Object.keys(CHAIN_ROWS)
const CHAIN_VARIABLE = new RegExp(`^(${CHAIN_SETTING_PREFIXES.join('|')})_(\\d+)$`)

const LOCAL_CHAIN = {
  /** undefined: 8545, or any free port when 8545 is busy. */
  port: localChainPort(),
  /** Longest time from the start of the process until it listens. */
  startMs: constant(20_000),
  /** Longest time from the request to stop until the process is killed. */
  stopMs: constant(5000),
  rpcTimeoutMs: constant(5000),
  /** Interval at which the chain is saved to disk. Later blocks are lost if the process is killed. */
  stateSeconds: constant(5),
  /** Block interval while no transactions arrive. */
  blockSeconds: constant(30),
  /** Restarts of a crashed chain before the service gives up. The count resets once the chain has run for `stableMs`. */
  maxRestarts: constant(5),
  restartPauseMs: constant(500),
  stableMs: constant(60_000),
}

/** The local development chain that `--chain` starts. */
export type LocalChainConfig = Values<typeof LOCAL_CHAIN>

export const CHAIN_SETTINGS = {
  chains: { names: [], read: ({ env }) => readChains(env) } satisfies Setting<ReadonlyMap<number, ChainOverride>>,
  /** Timeout of one RPC call while a request waits. */
  rpcTimeoutMs: integer('RPC_TIMEOUT_MS', 500, 10, 60_000),
  /** undefined: no local chain is started. Always undefined in production. */
  localChain: localChain(),
}

export const CHAIN_LIMITS = {
  /** Largest RPC response that is read. */
  maxRpcResponseBytes: constant(4 * 1_048_576),
  maxCachedSchemas: constant(10_000),
  /** How long the service remembers that a schema is not registered. */
  unregisteredSchemaMs: constant(5000),
  /** Interval between checks of a chain: its contracts must match the table in `attest/chains.ts`, and its clock ours. */
  chainCheckIntervalMs: constant(60_000),
  /** Interval between checks of a chain that could not be reached or did not match. */
  chainRetryIntervalMs: constant(5000),
  /** A chain whose head is further ahead of our clock is refused: when we sign, the deadline would already have passed there. */
  maxHeadAheadSeconds: constant(300),
}

function readChains(env: Environment): ReadonlyMap<number, ChainOverride> {
  const chains = new Map<number, ChainOverride>()
  for (const [name, value] of Object.entries(env)) {
    const [, prefix, chainId] = CHAIN_VARIABLE.exec(name) ?? []
    if (prefix === undefined || !value) continue
    const members = CHAIN_ROWS[prefix]!(value, failure(name, value), name)
    chains.set(Number(chainId), { ...(chains.get(Number(chainId)) ?? { rpcUrls: [] }), ...members })
  }
  return chains
}

function readRpcUrls(value: string, name: string): readonly string[] {
  const urls = splitList(value)
  for (const [index, url] of urls.entries()) {
    if (/^https?:\/\//.test(url) && URL.canParse(url)) continue
    // A URL often contains an API key, so the message must not repeat it.
    throw new ConfigError(
      `${name}: URL ${index + 1} must begin with http:// or https://; separate several URLs with commas`,
    )
  }
  return urls
}

function readAddress(value: string, fail: Fail): string {
  return /^0x[0-9a-fA-F]{40}$/.test(value) ? value : fail('an address: 0x and 40 hex digits')
}

function localChainPort(): Setting<number | undefined> {
  const { names, read } = integer('LOCAL_CHAIN_PORT', -1, 0, 65_535)
  return {
    names,
    read(source) {
      const port = read(source)
      return port === -1 ? undefined : port
    },
  }
}

function localChain(): Setting<LocalChainConfig | undefined> {
  const { names, read: isRequested } = flag('LOCAL_CHAIN', false)
  return {
    names,
    parts: LOCAL_CHAIN,
    read(source) {
      const settings = readSettings(LOCAL_CHAIN, source)
      if (!isRequested(source)) return undefined
      if (!source.production) return settings
      throw new ConfigError(
        'LOCAL_CHAIN (--chain): production has no chain of its own, because its keys are public: set RPC_URL_<chainId>',
      )
    },
  }
}
