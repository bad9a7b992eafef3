/** Signs wallets in: nonces, signed messages (EIP-4361), and the tokens of sessions. */
import { hash } from 'node:crypto'
import { ClientCounts } from '../../base/client-counts.ts'
import type { Metrics, Series } from '../../base/metrics.ts'
import { ProblemError } from '../../base/problem.ts'
import { recoverAddress } from '../../crypto/address.ts'
import { bytesToHex, utf8 } from '../../crypto/hex.ts'
import type { Keccak, Secp256k1 } from '../../crypto/primitives.ts'
import { parseSignature, personalMessage } from '../../crypto/signature.ts'
import type { ChainClient } from '../../threads/chain-client.ts'
import type { StoreCaller, StoreClient } from '../../threads/store-client.ts'
import type { SignInRequest } from '../../validation/sign-in-message.ts'
import type { Tier } from '../../wire/key-messages.ts'
import type { SignInMessage } from '../../wire/sign-in-text.ts'
import type { Hex } from '../../wire/values.ts'
import { hasValidChecksum, randomBase62, withChecksum } from '../keys/key-text.ts'
import type { SessionTable } from './session-table.ts'
import type { TierFinding, WalletTiers } from './wallet-tier.ts'

export interface SignInSettings {
  /** Allowed domains in lower case; undefined allows this machine, with any port. */
  readonly domains: readonly string[] | undefined
  readonly tokenSeconds: number
  readonly sessionSeconds: number
  /** For how long after its first use a refresh token can be used again, because its client may not have got the response. */
  readonly refreshReuseSeconds: number
  readonly nonceSeconds: number
  readonly maxNonces: number
  readonly maxNoncesPerClient: number
  readonly maxSessions: number
  readonly maxSessionsPerAccount: number
  /** Longest time that one operation of the database may take. */
  readonly answerMs: number
}

export interface SignInParts {
  readonly settings: SignInSettings
  readonly store: Pick<StoreClient, 'ask'>
  readonly sessions: SessionTable
  readonly tiers: WalletTiers
  /** IDs of the chains of this service. */
  readonly chainIds: ReadonlySet<number>
  /** Undefined if no chain has an RPC endpoint. */
  readonly chainClient: Pick<ChainClient, 'serves' | 'accountSignature'> | undefined
  readonly keccak: Keccak
  readonly secp256k1: Secp256k1
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly metrics: Metrics
}

/** What a client gets for a session. No other response has it. */
export interface NewTokens {
  readonly token: string
  /** ISO 8601. */
  readonly expiresAt: string
  readonly refreshToken: string
  readonly tier: Tier
  /** Why the token does not have the tier of holders, if there is one. */
  readonly tierNote: string | undefined
}

export const TOKEN_PREFIX = 'tps_'
const REFRESH_PREFIX = 'tpr_'
/** Characters of base 62 with 131 bits and with 256 bits. */
const SHORT = 22
const LONG = 43
/** How far the clock of a client may be ahead of ours. */
const SKEW_MS = 60_000
/** Domains of this machine, with any port. */
const LOOPBACK_DOMAIN = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/
const ZERO_ADDRESS = /^0x0{40}$/
/** Contracts of accounts that are asked at a time, by all clients and by one. */
const MAX_CONTRACT_CALLS = 8
const MAX_CONTRACT_CALLS_PER_CLIENT = 2

const NO_FINDING: TierFinding = { isHolder: false, note: undefined }

/** All methods throw a `ProblemError` for what a client did wrong, and a `StoreFault` if the database cannot be used. */
export class SignIn {
  readonly #parts: SignInParts
  #contractCalls = 0
  readonly #contractClients = new ClientCounts()
  readonly #reused: Series

  constructor(parts: SignInParts) {
    this.#parts = parts
    this.#reused = parts.metrics
      .counter('refresh_tokens_reused_total', 'Sessions that ended because an older refresh token was used')
      .series({})
  }

  /** Makes a nonce for one message. */
  async nonce(caller: StoreCaller): Promise<string> {
    const { store, settings, now } = this.#parts
    const nonce = randomBase62(SHORT)
    const nowMs = now()
    const wanted = {
      sha256: sha256(nonce),
      client: String(caller.client),
      nowMs,
      endMs: nowMs + settings.nonceSeconds * 1000,
      maxNonces: settings.maxNonces,
      maxPerClient: settings.maxNoncesPerClient,
    }
    const outcome = await store.ask('addNonce', wanted, this.#deadlineMs(), caller)
    if (outcome === 'done') return nonce
    const retryAfterSeconds = Math.min(60, settings.nonceSeconds)
    if (outcome === 'full')
      throw new ProblemError({
        type: 'overloaded',
        detail: 'too many sign-ins have begun; try again',
        retryAfterSeconds,
      })
    const detail = `${settings.maxNoncesPerClient} nonces of this client are unused: use one, or wait until they end, ${settings.nonceSeconds} s after each was made`
    throw new ProblemError({ type: 'rate-limited', detail, retryAfterSeconds })
  }

  /** Opens a session for a signed message. */
  async signIn({ message, parsed, signature, attestation }: SignInRequest, caller: StoreCaller): Promise<NewTokens> {
    const { store, settings, now, sessions, tiers } = this.#parts
    this.#checkMessage(parsed, now())
    const account = await this.#findAccount(message, parsed, signature, caller)
    // The chain is asked only for a nonce of ours.
    if (tiers.hasHolders) await this.#checkNonce(sha256(parsed.nonce), caller)
    const finding = await tiers.find(account, attestation)
    const family = randomBase62(SHORT)
    const made = this.#makeTokens(family)
    const nowMs = now()
    const endMs = nowMs + settings.sessionSeconds * 1000
    const tokenEndMs = Math.min(endMs, nowMs + settings.tokenSeconds * 1000)
    const wanted = {
      nonceSha256: sha256(parsed.nonce),
      session: {
        id: sha256(family),
        account,
        ...made.hashes,
        tokenEndMs,
        endMs,
        isHolder: finding.isHolder,
        attestation,
      },
      nowMs,
      maxPerAccount: settings.maxSessionsPerAccount,
      maxSessions: settings.maxSessions,
    }
    const outcome = await store.ask('openSession', wanted, this.#deadlineMs(), caller)
    if (outcome === 'nonce') throw wrongNonce()
    if (outcome === 'full')
      throw new ProblemError({ type: 'overloaded', detail: 'too many sessions are open', retryAfterSeconds: 60 })
    await sessions.refresh()
    return this.#newTokens(made.tokens, tokenEndMs, finding)
  }

  #newTokens(
    tokens: { readonly token: string; readonly refreshToken: string },
    tokenEndMs: number,
    finding: TierFinding,
  ): NewTokens {
    const tier = this.#parts.tiers.tierOf(finding)
    return { ...tokens, expiresAt: new Date(tokenEndMs).toISOString(), tier, tierNote: finding.note }
  }

  /** Replaces the tokens of a session. A refresh token that is used again after `refreshReuseSeconds` ends the session. */
  async refresh(refreshToken: string, caller: StoreCaller): Promise<NewTokens> {
    const { store, settings, now, sessions, tiers } = this.#parts
    if (!hasValidChecksum(refreshToken, REFRESH_PREFIX))
      throw unauthorized('the refresh token is misspelt: it begins with tpr_ and ends with its checksum')
    const family = refreshToken.slice(REFRESH_PREFIX.length, REFRESH_PREFIX.length + SHORT)
    const reuseMs = settings.refreshReuseSeconds * 1000
    const names = { id: sha256(family), usedSha256: sha256(refreshToken), reuseMs }
    const finding = tiers.hasHolders ? await this.#findTier(names, caller) : NO_FINDING
    const made = this.#makeTokens(family)
    const nowMs = now()
    const tokenEndMs = nowMs + settings.tokenSeconds * 1000
    const wanted = { ...names, ...made.hashes, tokenEndMs, isHolder: finding.isHolder, nowMs }
    const outcome = await store.ask('refreshSession', wanted, this.#deadlineMs(), caller)
    await sessions.refresh()
    if (outcome === 'unknown') throw unauthorized('the session of this refresh token has ended: sign in again')
    if (outcome === 'reused') {
      this.#reused.count++
      throw unauthorized('the refresh token was used or replaced before, so its session has ended: sign in again')
    }
    return this.#newTokens(made.tokens, outcome.tokenEndMs, finding)
  }

  /** Finds the tier of a session again. A refresh token that was used before is left to the refresh, which ends the session. */
  async #findTier(
    names: { readonly id: string; readonly usedSha256: string; readonly reuseMs: number },
    caller: StoreCaller,
  ): Promise<TierFinding> {
    const { store, now, tiers } = this.#parts
    const session = await store.ask('findRefresh', { ...names, nowMs: now() }, this.#deadlineMs(), caller)
    return session === undefined ? NO_FINDING : tiers.find(session.account, session.attestation)
  }

  /** Ends a session: its token and its refresh tokens. */
  async signOut(id: string, caller: StoreCaller): Promise<void> {
    const { store, sessions, now } = this.#parts
    await store.ask('endSession', { id, nowMs: now() }, this.#deadlineMs(), caller)
    await sessions.refresh()
  }

  #makeTokens(family: string) {
    const token = withChecksum(`${TOKEN_PREFIX}${randomBase62(LONG)}`)
    const refreshToken = withChecksum(`${REFRESH_PREFIX}${family}${randomBase62(LONG)}`)
    const hashes = { tokenSha256: sha256(token), refreshSha256: sha256(refreshToken) }
    return { tokens: { token, refreshToken }, hashes }
  }

  /** Checks everything in a message that neither its signature nor the database has to answer. */
  #checkMessage({ scheme, domain, uri, address, chainId, ...times }: SignInMessage, nowMs: number): void {
    const { settings, chainIds } = this.#parts
    const isAllowed = (host: string) =>
      settings.domains === undefined ? LOOPBACK_DOMAIN.test(host) : settings.domains.includes(host)
    const names = settings.domains?.join(', ') ?? 'localhost, 127.0.0.1 or [::1], with any port'
    if (!isAllowed(domain.toLowerCase()))
      throw unauthorized(`the domain ${quote(domain)} of the message is not one of this service: ${names}`)
    const url = URL.canParse(uri) ? new URL(uri) : undefined
    if (url === undefined || !/^https?:$/.test(url.protocol) || !isAllowed(url.host))
      throw unauthorized(`the URI ${quote(uri)} of the message is not one of this service: ${names}`)
    if (scheme !== undefined && `${scheme.toLowerCase()}:` !== url.protocol)
      throw unauthorized('the domain and the URI of the message have different schemes')
    if (!chainIds.has(chainId))
      throw unauthorized(`chain ${chainId} of the message is not one of this service: ${[...chainIds].join(', ')}`)
    if (ZERO_ADDRESS.test(address)) throw unauthorized('the zero address belongs to nobody')
    const { issuedAtMs, expirationMs, notBeforeMs } = times
    if (issuedAtMs > nowMs + SKEW_MS) throw unauthorized('the message was issued in the future')
    // The nonce is not older, so an older message was not made for it.
    if (issuedAtMs < nowMs - settings.nonceSeconds * 1000 - SKEW_MS)
      throw unauthorized(`the message was issued more than ${settings.nonceSeconds} s ago: sign a new one`)
    if (expirationMs !== undefined && expirationMs <= nowMs)
      throw unauthorized('the message has expired: sign a new one')
    if (notBeforeMs !== undefined && notBeforeMs > nowMs + SKEW_MS) throw unauthorized('the message is not valid yet')
  }

  /** Returns the account that signed a message: an address with a key of its own on all chains, or a contract on one. */
  async #findAccount(
    message: string,
    { address, chainId, nonce }: SignInMessage,
    signature: Hex,
    caller: StoreCaller,
  ): Promise<string> {
    const { keccak, secp256k1, chainClient } = this.#parts
    const digest = keccak.hash(personalMessage(utf8(message)))
    const own = parseSignature(signature)
    const lower = address.toLowerCase() as Hex
    if (own.ok && recoverAddress(digest, own.signature, secp256k1, keccak) === lower) return `eip155:0:${lower}`
    const wrong = own.ok
      ? `the signature is not one of this message by ${address}`
      : `the signature ${own.reason}, so it is not one of an address`
    if (chainClient?.serves(chainId) !== true)
      throw unauthorized(`${wrong}; accounts that are contracts cannot sign in on chain ${chainId}: it has no RPC here`)
    const isContractOf = await this.#askContract(sha256(nonce), caller, () =>
      chainClient.accountSignature(chainId, { address: lower, digest: `0x${bytesToHex(digest)}`, signature }),
    )
    if (isContractOf) return `eip155:${chainId}:${lower}`
    throw unauthorized(`${wrong}, and no contract there on chain ${chainId} takes it`)
  }

  /** Calls a contract that a client has chosen: only for a nonce of ours, and a few times at once. */
  async #askContract(
    nonceSha256: string,
    caller: StoreCaller,
    ask: () => ReturnType<ChainClient['accountSignature']>,
  ): Promise<boolean> {
    await this.#checkNonce(nonceSha256, caller)
    const { client } = caller
    const isBusy =
      this.#contractCalls >= MAX_CONTRACT_CALLS || this.#contractClients.of(client) >= MAX_CONTRACT_CALLS_PER_CLIENT
    if (isBusy)
      throw new ProblemError({
        type: 'overloaded',
        detail: 'too many signatures of contracts are being checked; try again',
        retryAfterSeconds: 1,
      })
    this.#contractCalls++
    this.#contractClients.add(client)
    try {
      const result = await ask()
      if (result.ok) return result.value === true
      const detail = 'the chain cannot be asked about this signature now; try again'
      throw new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: 5 })
    } finally {
      this.#contractCalls--
      this.#contractClients.remove(client)
    }
  }

  async #checkNonce(sha256: string, caller: StoreCaller): Promise<void> {
    const { store, now } = this.#parts
    if (!(await store.ask('hasNonce', { sha256, nowMs: now() }, this.#deadlineMs(), caller))) throw wrongNonce()
  }

  #deadlineMs(): number {
    return this.#parts.now() + this.#parts.settings.answerMs
  }
}

function sha256(text: string): string {
  return hash('sha256', text)
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}

function wrongNonce(): ProblemError {
  return unauthorized('the nonce is unknown, was used or is too old: request another, and sign a message with it')
}

function unauthorized(detail: string): ProblemError {
  return new ProblemError({ type: 'unauthorized', detail })
}
