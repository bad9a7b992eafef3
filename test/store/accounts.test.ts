import { describe, expect, it } from 'vitest'
import { ENGINES } from '../../bench/store-engines.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import { openStoreForTests } from '../store-for-tests.ts'

const NOW = 1_900_000_000_000
const ALICE = `eip155:0:0x${'a'.repeat(40)}`
const hashOf = (name: string) => Buffer.from(name).toString('hex').padEnd(64, '0')
const nonce = (name: string, client = 'someone', endMs = NOW + 1000) => ({
  sha256: hashOf(name),
  client,
  nowMs: NOW,
  endMs,
  maxNonces: 20,
  maxPerClient: 10,
})
const session = (name: string, account = ALICE) => ({
  id: hashOf(`id ${name}`),
  account,
  tokenSha256: hashOf(`token ${name}`),
  refreshSha256: hashOf(`refresh ${name}`),
  tokenEndMs: NOW + 1000,
  endMs: NOW + 10_000,
  isHolder: false,
  attestation: undefined,
})

describe.each(ENGINES)('accounts on %s', (engine) => {
  let store: RecordStore
  openStoreForTests(engine, (opened) => {
    store = opened
  })
  /** Returns which of these tokens are valid, as a process that begins to read the sessions sees it. */
  const find = async (nowMs: number, ...names: string[]) => {
    const { put } = await store.changedSessions({ after: 0, nowMs })
    return names.filter((name) => put.some(({ tokenSha256 }) => tokenSha256 === hashOf(`token ${name}`)))
  }
  const limits = { maxPerAccount: 10, maxSessions: 50 }
  const open = async (name: string, more: { nowMs?: number; account?: string; maxPerAccount?: number } = {}) => {
    const { nowMs = NOW, account, ...most } = more
    await store.addNonce(nonce(`for ${name}`))
    const wanted = { nonceSha256: hashOf(`for ${name}`), session: session(name, account), nowMs }
    return store.openSession({ ...wanted, ...limits, ...most })
  }

  it('use a nonce once, of many that try at the same time', async () => {
    expect(await store.addNonce(nonce('once'))).toBe('done')
    expect(await store.hasNonce({ sha256: hashOf('once'), nowMs: NOW })).toBe(true)
    const names = Array.from({ length: 10 }, (_, index) => `concurrent ${index}`)
    const outcomes = await Promise.all(
      names.map((name) =>
        store.openSession({ nonceSha256: hashOf('once'), session: session(name), nowMs: NOW, ...limits }),
      ),
    )
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1)
    expect(await find(NOW, ...names)).toHaveLength(1)
    expect(await store.hasNonce({ sha256: hashOf('once'), nowMs: NOW })).toBe(false)
  })

  it('reject an unknown nonce and one that is too old', async () => {
    await store.addNonce(nonce('old'))
    const wanted = { session: session('late'), ...limits }
    expect(await store.openSession({ ...wanted, nonceSha256: hashOf('old'), nowMs: NOW + 1000 })).toBe('nonce')
    expect(await store.openSession({ ...wanted, nonceSha256: hashOf('never'), nowMs: NOW })).toBe('nonce')
    expect(await store.hasNonce({ sha256: hashOf('old'), nowMs: NOW + 1000 })).toBe(false)
  })

  it('keep a limited number of nonces, for a client and for all', async () => {
    const outcomes = []
    for (let index = 0; index < 12; index++) outcomes.push(await store.addNonce(nonce(`greedy ${index}`, 'greedy')))
    expect(outcomes).toEqual([...Array(10).fill('done'), 'client', 'client'])
    const others = []
    for (let index = 0; index < 20; index++) others.push(await store.addNonce(nonce(`n ${index}`, `client ${index}`)))
    expect(others.at(-1)).toBe('full')
    // Ended ones make room.
    const later = { ...nonce('later', 'greedy'), nowMs: NOW + 1000, endMs: NOW + 1001 }
    expect(await store.addNonce(later)).toBe('done')
    await store.addNonce({ ...nonce('clean'), nowMs: NOW + 2000, endMs: NOW + 2001 })
  })

  it('report a session to each reader, and its end', async () => {
    const { number } = await store.changedSessions({ after: 0, nowMs: NOW })
    expect(await open('found')).toBe('done')
    const { id, account, tokenSha256, tokenEndMs, isHolder } = session('found')
    const put = [{ id, account, tokenSha256, tokenEndMs, isHolder }]
    const opened = { number: number + 1, isWhole: false, put, ended: [] }
    expect(await store.changedSessions({ after: number, nowMs: NOW })).toEqual(opened)
    expect(await find(NOW + 1000, 'found')).toEqual([])
    await store.endSession({ id, nowMs: NOW })
    const ended = { number: number + 2, isWhole: false, put: [], ended: [id] }
    expect(await store.changedSessions({ after: number + 1, nowMs: NOW })).toEqual(ended)
    expect(await find(NOW, 'found')).toEqual([])
    expect(await store.changedSessions({ after: number + 1000, nowMs: NOW })).toMatchObject({ isWhole: true })
  })

  it('end a session whose refresh token is used twice', async () => {
    await open('family')
    const { id, refreshSha256: usedSha256 } = session('family')
    const next = { tokenSha256: hashOf('token 2'), refreshSha256: hashOf('refresh 2'), tokenEndMs: NOW + 99_000 }
    const refresh = { ...next, id, usedSha256, isHolder: true, nowMs: NOW }
    const newest = { id, usedSha256, nowMs: NOW }
    expect(await store.findRefresh(newest)).toEqual({ account: ALICE, attestation: undefined })
    // No token outlives its session.
    const refreshed = {
      id,
      account: ALICE,
      tokenSha256: next.tokenSha256,
      tokenEndMs: NOW + 10_000,
      isHolder: true,
    }
    expect(await store.refreshSession(refresh)).toEqual(refreshed)
    expect(await store.findRefresh(newest)).toBeUndefined()
    expect(await store.changedSessions({ after: 0, nowMs: NOW })).toMatchObject({
      put: expect.arrayContaining([refreshed]),
    })
    expect(await find(NOW, 'family', '2')).toEqual(['2'])
    expect(await store.refreshSession(refresh)).toBe('reused')
    expect(await find(NOW, '2')).toEqual([])
    expect(await store.refreshSession({ ...refresh, usedSha256: next.refreshSha256 })).toBe('unknown')
  })

  it('keep the attestation that an account has named for its tier', async () => {
    const attestation = `0x${'5'.repeat(64)}` as const
    await store.addNonce(nonce('for holder'))
    const opened = { ...session('holder'), isHolder: true, attestation }
    const wanted = { nonceSha256: hashOf('for holder'), session: opened, nowMs: NOW, ...limits }
    expect(await store.openSession(wanted)).toBe('done')
    const newest = { id: opened.id, usedSha256: opened.refreshSha256, nowMs: NOW }
    expect(await store.findRefresh(newest)).toEqual({ account: ALICE, attestation })
    expect(await store.findRefresh({ ...newest, nowMs: NOW + 10_000 })).toBeUndefined()
  })

  it('give one of two concurrent refreshes new tokens, and end the session', async () => {
    await open('twice')
    const { id, refreshSha256: usedSha256 } = session('twice')
    const next = (name: string) => ({ tokenSha256: hashOf(`token ${name}`), refreshSha256: hashOf(`refresh ${name}`) })
    const outcomes = await Promise.all(
      ['a', 'b'].map((name) =>
        store.refreshSession({ id, usedSha256, ...next(name), tokenEndMs: NOW + 1000, isHolder: false, nowMs: NOW }),
      ),
    )
    expect(outcomes.filter((outcome) => outcome === 'reused')).toHaveLength(1)
    expect(await find(NOW, 'a', 'b')).toEqual([])
  })

  it('end the oldest session of an account that has too many', async () => {
    const account = `eip155:1:0x${'b'.repeat(40)}`
    for (const [index, name] of ['first', 'second', 'third'].entries())
      await open(name, { nowMs: NOW + index, account, maxPerAccount: 2 })
    expect(await find(NOW + 3, 'first', 'second', 'third')).toEqual(['second', 'third'])
  })

  it('have a limited number of sessions in all, until others are over', async () => {
    await store.addNonce(nonce('one more'))
    const wanted = { nonceSha256: hashOf('one more'), session: session('one more'), ...limits, maxSessions: 1 }
    expect(await store.openSession({ ...wanted, nowMs: NOW + 5 })).toBe('full')
  })

  it('have a limited number of keys, which others do not see', async () => {
    const owner = { account: ALICE, maxKeys: 2 }
    const keyOf = (digit: string) => ({
      id: digit.repeat(12),
      sha256: digit.repeat(64),
      tier: 'developer' as const,
      label: 'own',
      createdAt: '2030-01-01T00:00:00.000Z',
      owner: ALICE,
    })
    const add = (digit: string, revoked: readonly string[] = []) =>
      store.changeKeys({ expected: revoked, put: [keyOf(digit)], revoked, owner, maxKeys: 100 })
    expect([await add('1'), await add('2'), await add('3')]).toEqual(['done', 'done', 'owner-full'])
    expect(await add('4', [keyOf('2').sha256])).toBe('done')
    expect((await store.listKeys({ owner: ALICE })).map(({ id }) => id[0])).toEqual(['1', '4'])
    expect(await store.listKeys({ owner: 'eip155:0:other' })).toEqual([])
  })
})
