import { describe, expect, it } from 'vitest'
import { Metrics } from '../../src/base/metrics.ts'
import { readConfig } from '../../src/config/config.ts'
import type { WalletTierToken } from '../../src/config/sign-in.ts'
import { WalletTiers } from '../../src/service/accounts/wallet-tier.ts'
import type { ChainAttestation, ChainResult, Hex } from '../../src/wire/values.ts'

const TOKEN = `0x${'c0'.repeat(20)}` as const
const SCHEMA = `0x${'5c'.repeat(32)}` as const
const ATTESTER = `0x${'a7'.repeat(20)}` as const
const HOLDER = `0x${'d4'.repeat(20)}` as const
const UID = `0x${'77'.repeat(32)}` as const
const NOW_SECONDS = 1_900_000_000

const tokenRule = (text: string) => readConfig({ WALLET_TIER_TOKEN: text }, 1).walletTierToken

describe('WALLET_TIER_TOKEN', () => {
  it('names a token or an attestation, and the tier of who holds it', () => {
    expect(
      tokenRule(`tier=internal, chain=84532, token=${TOKEN.toUpperCase().replace('X', 'x')}, balance=1000`),
    ).toEqual({ tier: 'internal', chainId: 84532, proof: { kind: 'token', token: TOKEN, balance: 1000n } })
    expect(tokenRule(`tier=internal,chain=1,schema=${SCHEMA},attester=${ATTESTER}`)).toEqual({
      tier: 'internal',
      chainId: 1,
      proof: { kind: 'attestation', schema: SCHEMA, attester: ATTESTER },
    })
    expect(tokenRule('')).toBeUndefined()
  })

  it.each([
    ['internal', 'not a name and a value'],
    [`tier=internal,chain=1,token=${TOKEN}`, 'balance is missing'],
    [`tier=internal,chain=1,schema=${SCHEMA}`, 'attester is missing'],
    [`tier=internal,chain=1,token=${TOKEN},balance=1,balance=2`, 'balance is there twice'],
    [`tier=internal,chain=1,token=${TOKEN},balance=1,decimals=18`, 'decimals does not belong'],
    [`tier=internal,chain=1,token=${TOKEN},balance=1,attester=${ATTESTER}`, 'attester does not belong'],
    [`tier=public,chain=1,token=${TOKEN},balance=1`, 'tier is neither'],
    [`tier=developer,chain=1,token=${TOKEN},balance=1`, 'not higher than WALLET_TIER, developer'],
    [`tier=internal,chain=0x1,token=${TOKEN},balance=1`, 'chain is not'],
    [`tier=internal,chain=1,token=0x12,balance=1`, 'token is not'],
    [`tier=internal,chain=1,token=0x${'0'.repeat(40)},balance=1`, 'token is not'],
    [`tier=internal,chain=1,token=${TOKEN},balance=0`, 'balance is not'],
    [`tier=internal,chain=1,token=${TOKEN},balance=1.5`, 'balance is not'],
    [`tier=internal,chain=1,token=${TOKEN},balance=${2n ** 256n}`, 'balance is not'],
  ])('rejects %s', (text, reason) => {
    expect(() => tokenRule(text)).toThrow(/WALLET_TIER_TOKEN=.*must be a list/)
    expect(() => tokenRule(text)).toThrow(reason)
  })

  it('raises the limit of an address to that of one holder, and else to ten wallets', () => {
    const limitOf = (env: Record<string, string>) => readConfig(env, 1).walletAddress.requestsPerHour
    expect(limitOf({})).toBe(10_000)
    expect(limitOf({ WALLET_TIER: 'public' })).toBe(1000)
    const rule = { WALLET_TIER: 'public', WALLET_TIER_TOKEN: `tier=internal,chain=1,token=${TOKEN},balance=1` }
    expect(limitOf(rule)).toBe(10_000)
    expect(limitOf({ WALLET_TIER: 'public', RATE_LIMIT_WALLET_ADDRESS: '177' })).toBe(177)
    const { costPerHour } = readConfig(
      { RATE_LIMIT_DEVELOPER: '77', RATE_LIMIT_WALLET_ADDRESS: '200' },
      4,
    ).walletAddress
    expect(costPerHour).toEqual({ bytes: 2000 * 1_048_576, vertices: 2_000_000, 'cpu-ms': 3 * 3_600_000 })
  })

  it('rejects a limit of an address that is lower than that of one account', () => {
    const read = (env: Record<string, string>) => () => readConfig(env, 1)
    expect(read({ RATE_LIMIT_WALLET_ADDRESS: '3' })).toThrow(
      'RATE_LIMIT_WALLET_ADDRESS="3": must be at least 1000, the limit of one account (RATE_LIMIT_DEVELOPER, the tier that WALLET_TIER gives): raise it, or lower RATE_LIMIT_DEVELOPER or WALLET_TIER',
    )
    const rule = `tier=internal,chain=1,token=${TOKEN},balance=1`
    expect(read({ WALLET_TIER_TOKEN: rule, RATE_LIMIT_WALLET_ADDRESS: '9999' })).toThrow(
      /at least 10000.*RATE_LIMIT_INTERNAL, the tier that WALLET_TIER_TOKEN gives/,
    )
    expect(read({ RATE_LIMIT_WALLET_ADDRESS: '1000' })).not.toThrow()
  })
})

describe('the tier of an account', () => {
  const attestation = (more: Partial<ChainAttestation> = {}): ChainAttestation => ({
    uid: UID,
    schema: SCHEMA,
    timeSeconds: NOW_SECONDS - 100,
    expirationTimeSeconds: 0,
    revocationTimeSeconds: 0,
    refUID: `0x${'0'.repeat(64)}`,
    recipient: HOLDER,
    attester: ATTESTER,
    revocable: true,
    data: '0x',
    ...more,
  })

  function open(
    holders: WalletTierToken | undefined,
    chain: { balance?: () => Promise<ChainResult<bigint>>; attestation?: () => Promise<ChainResult<ChainAttestation>> },
    waitMs = 60_000,
  ) {
    const lines: string[] = []
    const log = {
      warn: (line: string) => lines.push(`warn ${line}`),
      info: (line: string) => lines.push(`info ${line}`),
    }
    const never = () => Promise.reject(new Error('the chain was asked'))
    const metrics = new Metrics()
    const tiers = new WalletTiers({
      walletTier: 'developer',
      holders,
      chainClient: { tokenBalance: chain.balance ?? never, attestation: chain.attestation ?? never },
      waitMs,
      log: log as never,
      now: () => NOW_SECONDS * 1000,
      metrics,
    })
    const lookups = () =>
      Object.fromEntries(
        [...metrics.render().matchAll(/^holder_lookups_total\{outcome="(.+)"\} (\d+)$/gm)].map(([, name, count]) => [
          name,
          Number(count),
        ]),
      )
    return { tiers, lines, lookups }
  }
  const coin = tokenRule(`tier=internal,chain=10,token=${TOKEN},balance=5`)!
  const badge = tokenRule(`tier=internal,chain=10,schema=${SCHEMA},attester=${ATTESTER}`)!

  it.each<[string, Partial<ChainAttestation>, RegExp | undefined]>([
    ['valid', {}, undefined],
    ['valid until later', { expirationTimeSeconds: NOW_SECONDS + 1 }, undefined],
    ['of another letter case', { attester: `0x${'A7'.repeat(20)}` }, undefined],
    ['expired', { expirationTimeSeconds: NOW_SECONDS }, /expired/],
    ['revoked', { revocationTimeSeconds: NOW_SECONDS - 1 }, /revoked/],
    ['of another schema', { schema: UID }, /schema/],
    ['by another', { attester: HOLDER }, /not by/],
    ['for another', { recipient: ATTESTER }, /not for this account/],
  ])('follows an attestation that is %s', async (_name, fields, reason) => {
    const { tiers } = open(badge, { attestation: async () => ({ ok: true, value: attestation(fields) }) })
    const found = await tiers.find(`eip155:0:${HOLDER}`, UID)
    expect(tiers.tierOf(found)).toBe(reason === undefined ? 'internal' : 'developer')
    if (reason === undefined) expect(found.note).toBeUndefined()
    else expect(found.note).toMatch(reason)
  })

  it('is that of all wallets for a contract of another chain, without asking', async () => {
    const { tiers } = open(coin, {})
    expect(await tiers.find(`eip155:1:${HOLDER}`, undefined)).toEqual({
      isHolder: false,
      note: 'the account is a contract of chain 1, and the tier is for holders on chain 10',
    })
    expect(await open(undefined, {}).tiers.find(`eip155:0:${HOLDER}`, undefined)).toEqual({
      isHolder: false,
      note: undefined,
    })
    expect(open(undefined, {}).lookups()).toEqual({})
    expect((await open(undefined, {}).tiers.find(`eip155:0:${HOLDER}`, UID)).note).toContain('no tier for attestations')
  })

  it('is that of all wallets while the chain does not answer in time, and is logged once', async () => {
    const { tiers, lines } = open(coin, { balance: () => new Promise(() => {}) }, 20)
    for (let round = 0; round < 3; round++)
      expect(await tiers.find(`eip155:0:${HOLDER}`, undefined)).toMatchObject({
        isHolder: false,
        note: expect.stringContaining('cannot be asked now'),
      })
    expect(lines).toEqual(['warn cannot see who may have the tier internal: wallets get developer'])
  })

  it('is found again when the chain answers again', async () => {
    let answer: ChainResult<bigint> = { ok: false, reason: 'away', cause: 'unreachable' }
    const { tiers, lines, lookups } = open(coin, { balance: async () => answer })
    const find = async () => (await tiers.find(`eip155:10:${HOLDER}`, undefined)).isHolder
    expect(await find()).toBe(false)
    answer = { ok: true, value: 5n }
    expect(await find()).toBe(true)
    answer = { ok: true, value: 4n }
    expect(await find()).toBe(false)
    expect(lookups()).toEqual({ found: 1, 'not-found': 1, failed: 1 })
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain('again')
  })

  it('asks for no more than 64 accounts at a time', async () => {
    const waiting: (() => void)[] = []
    const balance = () =>
      new Promise<ChainResult<bigint>>((resolve) => waiting.push(() => resolve({ ok: true, value: 9n })))
    const { tiers, lookups } = open(coin, { balance })
    const accounts = Array.from({ length: 70 }, (_, index) => `eip155:0:0x${String(index).padStart(40, '0')}` as const)
    const found = Promise.all(accounts.map((account) => tiers.find(account, undefined as Hex | undefined)))
    for (const answer of waiting) answer()
    expect((await found).filter(({ isHolder }) => isHolder)).toHaveLength(64)
    expect(lookups()).toEqual({ found: 64, 'not-found': 0, failed: 6 })
  })

  it('is looked up once for requests that are repeated meanwhile', async () => {
    let calls = 0
    const balance = async (): Promise<ChainResult<bigint>> => {
      calls++
      return { ok: true, value: 9n }
    }
    const { tiers } = open(coin, { balance })
    const account = `eip155:0:${HOLDER}`
    const found = await Promise.all(Array.from({ length: 100 }, () => tiers.find(account, undefined)))
    expect(found.every(({ isHolder }) => isHolder)).toBe(true)
    expect(calls).toBe(1)
    await tiers.find(account, undefined)
    expect(calls).toBe(2)
  })

  it('counts calls until they end, also if nobody waits for them any more', async () => {
    let calls = 0
    const balance = () => {
      calls++
      return new Promise<ChainResult<bigint>>(() => {})
    }
    const { tiers, lines } = open(coin, { balance }, 20)
    for (let index = 0; index < 70; index++)
      await tiers.find(`eip155:0:0x${String(index).padStart(40, '0')}`, undefined)
    expect(calls).toBe(64)
    expect(lines).toHaveLength(1)
  })

  it('is that of all wallets if the call fails, or the contract has no balances', async () => {
    const failing = open(coin, { balance: () => Promise.reject(new Error('the thread has ended')) })
    expect((await failing.tiers.find(`eip155:0:${HOLDER}`, undefined)).note).toContain('cannot be asked now')
    const empty = open(coin, { balance: async () => ({ ok: true, value: undefined }) as ChainResult<bigint> })
    expect((await empty.tiers.find(`eip155:0:${HOLDER}`, undefined)).isHolder).toBe(false)
    expect(empty.lines).toHaveLength(1)
  })
})
