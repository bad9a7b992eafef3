/**
 * What finding out who asks costs a request (an API key, a token that was seen before, and one that was not), and what counting its
 * usage costs. Most of the cost of a new token is its signature, so each round also verifies the same signatures by `node:crypto` alone.
 */
import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Log } from '../src/base/log.ts'
import { ApiKeys } from '../src/http/access/api-keys.ts'
import { IssuerKeys } from '../src/http/access/issuer-keys.ts'
import { Tokens } from '../src/http/access/tokens.ts'
import type { RequestHead } from '../src/http/transport/request-head.ts'
import { UsageCounts } from '../src/service/usage/usage-counts.ts'
import { AUDIENCE, ISSUER, makeKeyPair, makeToken } from '../test/token-issuer.ts'
import { median } from './rounds.ts'
import { Marks, printCells, printHeader, time } from './tables.ts'

const ALGORITHMS = ['EdDSA', 'ES256', 'RS256']
const TOKENS = 500
const ROUNDS = 9
const CALLS = 20_000
const SETTINGS = {
  issuer: ISSUER,
  audience: AUDIENCE,
  keySet: '',
  allowsPrivateAddresses: false,
  tier: 'developer',
  tierClaim: undefined,
  requiresAccessToken: false,
  skewSeconds: 60,
  failuresPerMinute: 60,
} as const
const MARKS = { 'a known API key': 2e3, 'a token seen before': 3e3, 'a new token': 150e3, 'counting usage': 300 }

export async function run(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-bench-'))
  try {
    const pairs = await Promise.all(ALGORITHMS.map((algorithm) => makeKeyPair(algorithm, algorithm)))
    const source = join(folder, 'keys.json')
    writeFileSync(source, JSON.stringify({ keys: pairs.map(({ jwk }) => jwk) }))
    const log = { warn: () => {} } as unknown as Log
    const keys = new IssuerKeys({ source, allowsPrivateAddresses: false, log, now: Date.now })
    printHeader(['what a request has', 'median', 'fastest–slowest'])
    const marks = new Marks([])
    const print = (name: string, times: readonly number[]) =>
      printCells([name, time(median(times)), `${time(Math.min(...times))}–${time(Math.max(...times))}`])
    const report = (what: keyof typeof MARKS, name: string, times: readonly number[]) => {
      print(name, times)
      marks.add(`${name}: ≤ ${time(MARKS[what])}`, time(median(times)), median(times) <= MARKS[what])
    }
    report('a known API key', 'a known API key', measureKey())
    report('counting usage', 'counting usage, 1,000 keys', measureUsage())
    for (const pair of pairs) {
      const tokens = await Promise.all(
        Array.from({ length: TOKENS }, (_, index) => makeToken(pair, { claims: { sub: `user ${index}` } })),
      )
      const { bare, first, known } = measureTokens(
        keys,
        tokens,
        createPublicKey({ key: pair.jwk as JsonWebKey, format: 'jwk' }),
      )
      print(`the signature of a token alone, ${pair.algorithm}`, bare)
      report('a new token', `a new token, ${pair.algorithm}`, first)
      report('a token seen before', `a token seen before, ${pair.algorithm}`, known)
    }
    return { marks: marks.list }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the nanoseconds for each of the rounds. */
function measureKey(): number[] {
  const key = 'tp_dev_0123456789abcdefghijkl_abcdef'
  const keys = new ApiKeys([{ key, tier: 'developer', label: 'bench' }], false)
  const head = { apiKey: key } as RequestHead
  const nowMs = Date.now()
  return rounds(() => {
    for (let call = 0; call < CALLS; call++) keys.findHolder(head, nowMs)
    return CALLS
  })
}

function measureUsage(): number[] {
  const counts = new UsageCounts(1_000_000)
  const subjects = Array.from({ length: 1000 }, (_, index) => `key:${index}`)
  const nowMs = Date.now()
  return rounds(() => {
    for (let call = 0; call < CALLS; call++)
      counts.add(subjects[call % subjects.length]!, call % 7, nowMs, 1, 200, 2, 0.05, 200)
    return CALLS
  })
}

function measureTokens(keys: IssuerKeys, tokens: readonly string[], publicKey: KeyObject) {
  const nowMs = Date.now()
  const address = () => 1
  let verified = new Tokens(SETTINGS, keys)
  const findAll = () => {
    for (const token of tokens)
      if ('problem' in verified.find(token, nowMs, address)) throw new Error('a token is wrong')
  }
  const signed = tokens.map((token) => {
    const end = token.lastIndexOf('.')
    return [Buffer.from(token.slice(0, end)), Buffer.from(token.slice(end + 1), 'base64url')] as const
  })
  const key = publicKey.asymmetricKeyType === 'ec' ? { key: publicKey, dsaEncoding: 'ieee-p1363' as const } : publicKey
  const digest = publicKey.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  const bare: number[] = []
  const first = rounds(
    () => {
      verified = new Tokens(SETTINGS, keys)
      findAll()
      return tokens.length
    },
    () => {
      const start = performance.now()
      for (const [text, signature] of signed)
        if (!verify(digest, text, key, signature)) throw new Error('a signature is wrong')
      bare.push((1e6 * (performance.now() - start)) / signed.length)
    },
  )
  const known = rounds(() => {
    for (let pass = 0; pass < CALLS / tokens.length; pass++) findAll()
    return CALLS
  })
  return { bare, first, known }
}

/**
 * @param measured returns the number of its calls
 * @param before runs before each round
 */
function rounds(measured: () => number, before = () => {}): number[] {
  measured()
  return Array.from({ length: ROUNDS }, () => {
    before()
    const start = performance.now()
    const calls = measured()
    return (1e6 * (performance.now() - start)) / calls
  })
}
