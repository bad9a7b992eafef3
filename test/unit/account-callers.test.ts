import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { describe, expect, it } from 'vitest'
import { Metrics } from '../../src/base/metrics.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { loadSecp256k1 } from '../../src/crypto/secp256k1.ts'
import { accountRoutes } from '../../src/http/routes/account-routes.ts'
import type { RouteRequest } from '../../src/http/routes/route.ts'
import { usageRoutes } from '../../src/http/routes/usage-routes.ts'
import { createAccountService } from '../../src/service/accounts/account-api.ts'
import { SignIn } from '../../src/service/accounts/sign-in.ts'
import { KeyTable } from '../../src/service/keys/key-table.ts'
import { withChecksum } from '../../src/service/keys/key-text.ts'
import { createUsageService } from '../../src/service/usage/usage-api.ts'
import { StoreFault } from '../../src/wire/store-messages.ts'

const NOW = Date.parse('2030-01-01T00:00:00Z')
const ACCOUNT = 'eip155:0:0xa'
const SESSION = { id: 'id', account: ACCOUNT, tokenSha256: '', tokenEndMs: NOW + 1000, isHolder: false }
const STORED_KEY = {
  id: '1'.repeat(12),
  sha256: '1'.repeat(64),
  tier: 'developer',
  label: 'x',
  createdAt: '2030-01-01',
}
const ANSWERS: Record<string, unknown> = {
  addNonce: 'done',
  hasNonce: true,
  openSession: 'done',
  findRefresh: { account: ACCOUNT, attestation: undefined },
  refreshSession: SESSION,
  listKeys: [STORED_KEY],
  changeKeys: 'done',
  changedKeys: { number: 1, isWhole: false, put: [], revoked: [] },
  findKeyOwner: ACCOUNT,
  readUsage: { rows: [], completeMs: undefined },
}
/** Calls of the store that all requests share. */
const SHARED = ['changedKeys']

/** Returns a function that sends a request, and returns the calls of the store with their callers. */
async function createRoutes(fault?: StoreFault) {
  const calls: { readonly operation: string; readonly caller: unknown }[] = []
  const ask = async (operation: string, _argument: unknown, _deadlineMs: number, caller: unknown) => {
    if (!SHARED.includes(operation)) calls.push({ operation, caller })
    if (fault !== undefined) throw fault
    return ANSWERS[operation]
  }
  const store = { ask, state: { isOpen: true } } as never
  const now = () => NOW
  const metrics = new Metrics()
  const tiers = {
    hasHolders: true,
    find: async () => ({ isHolder: false, note: undefined }),
    tierOf: () => 'developer',
  } as never
  const settings = {
    domains: undefined,
    tokenSeconds: 900,
    sessionSeconds: 9000,
    refreshReuseSeconds: 10,
    nonceSeconds: 300,
    maxNonces: 10,
    maxNoncesPerClient: 10,
    maxSessions: 10,
    maxSessionsPerAccount: 10,
    answerMs: 1000,
  }
  const signIn = new SignIn({
    settings,
    store,
    sessions: { refresh: async () => true } as never,
    tiers,
    chainIds: new Set([1]),
    chainClient: undefined,
    keccak: await createKeccak(),
    secp256k1: await loadSecp256k1(),
    now,
    metrics,
  })
  const log = { info() {}, warn() {}, error() {} } as never
  const keys = new KeyTable({ store, log, pollMs: 1000, maxKeys: 10, answerMs: 1000, now })
  const limits = { requestsPerHour: { public: 1, developer: 2, internal: 3 }, addressRequestsPerHour: 20 }
  const parts = { signIn, repository: keys, tiers, tier: 'developer' as const, ...limits, maxKeys: 10 }
  const accounts = createAccountService({ ...parts, maxJsonDepth: 8, now, metrics })
  const usage = createUsageService({ store, keys, answerMs: 1000, now })
  const routes = [...accountRoutes(accounts), ...usageRoutes(usage)]
  return async (method: string, path: string, body: unknown = {}) => {
    calls.length = 0
    const exchange = { client: 'the client', costs: {}, query: '', head: {} }
    const request = {
      exchange,
      parameter: STORED_KEY.id,
      session: SESSION,
      caller: { account: `account:${ACCOUNT}` },
    } as unknown as RouteRequest
    const route = routes.find((candidate) => candidate.method === method && candidate.path === path)!
    await route.run(request, Buffer.from(JSON.stringify(body)))
    return calls.map(({ operation, caller }) => [operation, caller === exchange])
  }
}

async function signedMessage() {
  const wallet = privateKeyToAccount(`0x${'a1'.repeat(32)}`)
  const fields = { domain: 'localhost', uri: 'http://localhost/', version: '1', chainId: 1 } as const
  const message = createSiweMessage({
    ...fields,
    nonce: 'abcdefgh12345678',
    issuedAt: new Date(NOW),
    address: wallet.address,
  })
  return { message, signature: await wallet.signMessage({ message }) }
}

const REFRESH = { refreshToken: withChecksum(`tpr_${'a'.repeat(65)}`) }

describe('a client of the routes of accounts', () => {
  it.each([
    ['POST', '/auth/nonce', ['addNonce']],
    ['POST', '/auth/siwe', ['hasNonce', 'openSession'], signedMessage],
    ['POST', '/auth/refresh', ['findRefresh', 'refreshSession'], () => REFRESH],
    ['POST', '/auth/sign-out', ['endSession']],
    ['GET', '/account/keys', ['listKeys']],
    ['POST', '/account/keys', ['changeKeys']],
    ['POST', '/account/keys/:id/rotate', ['listKeys', 'changeKeys']],
    ['DELETE', '/account/keys/:id', ['listKeys', 'changeKeys']],
    ['GET', '/account/usage', ['readUsage']],
    ['GET', '/admin/keys/:id/usage', ['findKeyOwner', 'readUsage']],
  ] as const)('has its own share of the store, and is charged for it: %s %s', async (...args) => {
    const [method, path, operations, body] = args
    const send = await createRoutes()
    expect(await send(method, path, await body?.())).toEqual(operations.map((operation) => [operation, true]))
  })

  it.each([
    ['POST', '/auth/nonce'],
    ['GET', '/account/keys'],
    ['GET', '/account/usage'],
  ])('learns that the store is busy: %s %s', async (method, path) => {
    const send = await createRoutes(new StoreFault('busy', '512 calls are waiting for it'))
    await expect(send(method, path)).rejects.toMatchObject({
      data: { type: 'overloaded', detail: 'the store is busy; try again', retryAfterSeconds: 1 },
    })
  })
})
