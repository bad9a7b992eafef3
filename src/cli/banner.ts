import type { LocalChainFacts } from '../local-chain/local-chain.ts'
import { counted } from './terminal.ts'

/** What the operator sees once the service answers; the same facts as one JSON line with `--log-format json`. */
export interface BannerFacts {
  readonly version: string
  readonly commit: string
  readonly node: string
  readonly threads: number
  readonly readySeconds: number
  readonly url: string
  readonly adapter: string
  /** Set when the default port was busy. */
  readonly busyPort: number | undefined
  /** e.g. `base-sepolia 84532 (rpc)`. */
  readonly chains: string
  /** The chain that was started beside the service. */
  readonly localChain: LocalChainFacts | undefined
  readonly attester: string
  readonly developmentKey: boolean
  /** Backend of the signer, its library and version. */
  readonly secp256k1: string
  /** Shown in development only. */
  readonly apiKeys: { readonly developer: string; readonly internal: string } | undefined
  readonly publicPerHour: number
}

const SHOWN_ACCOUNTS = 2

export function bannerText(facts: BannerFacts): string {
  const { url } = facts
  const threads = facts.threads === 0 ? 'inline' : counted(facts.threads, 'thread')
  const key = facts.developmentKey ? '   ! DEVELOPMENT KEY, generated' : ''
  const keys =
    facts.apiKeys === undefined
      ? `public tier: ${counted(facts.publicPerHour, 'request')}/hour`
      : `developer  ${facts.apiKeys.developer}   internal  ${facts.apiKeys.internal}\n` +
        `             (public tier: ${counted(facts.publicPerHour, 'request')}/hour)`
  const moved =
    facts.busyPort === undefined ? '' : `  Port       ${facts.busyPort} is busy: moved to the next free one\n`
  const local = facts.localChain === undefined ? '' : localChainLines(facts.localChain)
  return `
  trigpoint ${facts.version} (${facts.commit.slice(0, 7)})  node ${facts.node}  ${threads}  ${facts.adapter}        ready in ${facts.readySeconds.toFixed(1)} s
  API        ${url}            health   ${url}/health
  Explorer   ${url}/explore    docs     ${url}/docs
${moved}  Chain      ${facts.chains}
${local}  Attester   ${facts.attester}${key}
  Signs      ${facts.secp256k1}
  Keys       ${keys}
  Try        curl -s ${url.replace('http://', '')}/compute/v0/distance -H 'content-type: application/json' \\
             -d '{"chainId":${facts.localChain?.chainId ?? 84532},"from":{"type":"Point","coordinates":[2.2945,48.8584]},"to":{"type":"Point","coordinates":[2.3522,48.8566]}}'

`
}

function localChainLines({ rpcUrl, chainId, easAddress, schemaRegistryAddress, accounts }: LocalChainFacts): string {
  return `  Local      ${rpcUrl}   chain id ${chainId}   ! TEST MONEY, keys known to all
             EAS      ${easAddress}   SchemaRegistry ${schemaRegistryAddress}
             funded   the attester, ${accounts.slice(0, SHOWN_ACCOUNTS).join(', ')} and ${accounts.length - SHOWN_ACCOUNTS} more
`
}
