import type { LocalChainFacts } from '../local-chain/local-chain.ts'
import { formatCount } from './terminal.ts'

/** Facts that the service shows when it is ready. With `--log-format json` they are one JSON line. */
export interface BannerFacts {
  readonly version: string
  readonly commit: string
  readonly node: string
  /** Threads of the small lane; undefined if this node computes nothing. */
  readonly threads: number | undefined
  /** HTTP processes on the port; undefined if there is one. */
  readonly processes?: number
  readonly readySeconds: number
  readonly url: string
  readonly adapter: string
  /** The default port, if it was busy. */
  readonly busyPort: number | undefined
  /** For example `RPC for 84532`. */
  readonly chains: string
  /** The local chain, if one was started. */
  readonly localChain: LocalChainFacts | undefined
  readonly attester: string
  readonly developmentKey: boolean
  /** The signer's secp256k1 backend, its library and version. */
  readonly secp256k1: string
  /** Shown in development only. */
  readonly apiKeys: { readonly developer: string; readonly internal: string } | undefined
  readonly publicPerHour: number
  /** Limit of requests without a key from this machine, if it has one of its own. */
  readonly localPerHour: number | undefined
  /** `PUBLIC_URL`, if it is set. */
  readonly publicUrl: string | undefined
  /** `TRUSTED_PROXIES`, separated by commas; empty without any. */
  readonly trustedProxies: string
  /** Tier of wallets that sign in; undefined if they cannot. */
  readonly walletTier: string | undefined
}

const MAX_SHOWN_ACCOUNTS = 2

function threadsText(threads: number | undefined): string {
  if (threads === undefined) return 'no compute threads'
  return threads === 0 ? 'inline' : formatCount(threads, 'thread')
}

export function bannerText(facts: BannerFacts): string {
  const { url } = facts
  const perProcess = threadsText(facts.threads)
  const threads = facts.processes === undefined ? perProcess : `${facts.processes} processes, ${perProcess} each`
  const key = facts.developmentKey ? '   ! DEVELOPMENT KEY, generated' : ''
  const limit = `without a key: ${limitText(facts)}`
  const keys =
    facts.apiKeys === undefined
      ? limit
      : `developer  ${facts.apiKeys.developer}   internal  ${facts.apiKeys.internal}\n             (${limit})`
  const portLine =
    facts.busyPort === undefined ? '' : `  Port       ${facts.busyPort} is busy, using the next free port\n`
  const localChain = facts.localChain === undefined ? '' : localChainLines(facts.localChain)
  return `
  trigpoint ${facts.version} (${facts.commit.slice(0, 7)})  node ${facts.node}  ${threads}  ${facts.adapter}        ready in ${facts.readySeconds.toFixed(1)} s
  API        ${url}            health   ${url}/health
  Explorer   ${url}/explore    routes   ${url}/docs
  Guide      ${url}/docs/guide
${portLine}${proxyLines(facts)}  Chain      ${facts.chains}
${localChain}  Attester   ${facts.attester}${key}
  Signs      ${facts.secp256k1}
  Keys       ${keys}
  Sign-in    ${signInText(facts)}
  Try        curl -s ${url.replace('http://', '')}/compute/v0/distance -H 'content-type: application/json' \\
             -d '{"chainId":${facts.localChain?.chainId ?? 84532},"from":{"type":"Point","coordinates":[2.2945,48.8584]},"to":{"type":"Point","coordinates":[2.3522,48.8566]}}'

`
}

function proxyLines({ publicUrl, trustedProxies }: BannerFacts): string {
  const urlLine = publicUrl === undefined ? '' : `  Public     ${publicUrl}\n`
  return trustedProxies === '' ? urlLine : `${urlLine}  Proxies    ${trustedProxies}\n`
}

function signInText({ walletTier }: BannerFacts): string {
  if (walletTier === undefined) return 'off: wallets cannot sign in'
  return `on: wallets get the ${walletTier} tier (SIGN_IN=0 turns it off)`
}

function limitText({ publicPerHour, localPerHour }: BannerFacts): string {
  const publicLimit = `${formatCount(publicPerHour, 'request')} an hour`
  if (localPerHour === undefined) return publicLimit
  return `${formatCount(localPerHour, 'request')} an hour from this machine, ${publicLimit} from others`
}

function localChainLines({ rpcUrl, chainId, easAddress, schemaRegistryAddress, accounts }: LocalChainFacts): string {
  return `  Local      ${rpcUrl}   chain id ${chainId}   ! TEST MONEY, public keys
             EAS      ${easAddress}   SchemaRegistry ${schemaRegistryAddress}
             funded   the attester, ${accounts.slice(0, MAX_SHOWN_ACCOUNTS).join(', ')} and ${accounts.length - MAX_SHOWN_ACCOUNTS} more
`
}
