import { describe, expect, it } from 'vitest'
import { ENGINES } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
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

const REFRESH = { isHolder: false, reuseMs: 0 }

describe.each(ENGINES)('accounts on %s', (engine) => {
  let store: RecordStore
  let database: Database
  openStoreForTests(engine, (opened, openedDatabase) => {
    store = opened
    database = openedDatabase
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
    const refresh = { ...next, id, usedSha256, isHolder: true, reuseMs: 0, nowMs: NOW }
    const newest = { id, usedSha256, reuseMs: 0, nowMs: NOW }
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
    const newest = { id: opened.id, usedSha256: opened.refreshSha256, reuseMs: 0, nowMs: NOW }
    expect(await store.findRefresh(newest)).toEqual({ account: ALICE, attestation })
    expect(await store.findRefresh({ ...newest, nowMs: NOW + 10_000 })).toBeUndefined()
  })

  it('give one of two concurrent refreshes new tokens, and end the session', async () => {
    await open('twice')
    const { id, refreshSha256: usedSha256 } = session('twice')
    const next = (name: string) => ({ tokenSha256: hashOf(`token ${name}`), refreshSha256: hashOf(`refresh ${name}`) })
    const outcomes = await Promise.all(
      ['a', 'b'].map((name) =>
        store.refreshSession({ id, usedSha256, ...next(name), ...REFRESH, tokenEndMs: NOW + 1000, nowMs: NOW }),
      ),
    )
    expect(outcomes.filter((outcome) => outcome === 'reused')).toHaveLength(1)
    expect(await find(NOW, 'a', 'b')).toEqual([])
  })

  it('accept no refresh token twice without a time for it, also if the clock of a node is slow', async () => {
    await open('slow clock')
    const { id, refreshSha256: usedSha256 } = session('slow clock')
    const next = { tokenSha256: hashOf('token slow'), refreshSha256: hashOf('refresh slow'), tokenEndMs: NOW + 1000 }
    const refresh = { id, usedSha256, ...next, ...REFRESH }
    expect(await store.refreshSession({ ...refresh, nowMs: NOW + 1 })).toMatchObject({ id })
    expect(await store.refreshSession({ ...refresh, nowMs: NOW })).toBe('reused')
  })

  describe('with a time in which a refresh token can be used again', () => {
    /** Refreshes with the refresh token `used`; the new tokens are named `next`. */
    const refresh = (family: string, used: string, next: string, nowMs: number) =>
      store.refreshSession({
        id: session(family).id,
        usedSha256: hashOf(`refresh ${used}`),
        tokenSha256: hashOf(`token ${next}`),
        refreshSha256: hashOf(`refresh ${next}`),
        tokenEndMs: NOW + 9000,
        isHolder: false,
        reuseMs: 1000,
        nowMs,
      })

    it('give new tokens to a client that did not get the response, and end the session after that time', async () => {
      await open('lost')
      const find = (reuseMs: number, nowMs: number) =>
        store.findRefresh({ id: session('lost').id, usedSha256: hashOf('refresh lost'), reuseMs, nowMs })
      for (const [index, next] of ['l1', 'l2', 'l3'].entries()) {
        expect(await refresh('lost', 'lost', next, NOW + 499 * index)).toMatchObject({
          tokenSha256: hashOf(`token ${next}`),
        })
        expect(await find(1000, NOW + 998)).toMatchObject({ account: ALICE })
      }
      // The time begins with the first use.
      expect(await find(1000, NOW + 1000)).toBeUndefined()
      expect(await find(0, NOW)).toBeUndefined()
      expect(await refresh('lost', 'lost', 'l4', NOW + 1000)).toBe('reused')
      expect(await refresh('lost', 'l3', 'l5', NOW + 1001)).toBe('unknown')
    })

    it('end the session when a token is used that another use has replaced, whoever of a thief and the client does it', async () => {
      await open('thief')
      await refresh('thief', 'thief', 'client 1', NOW)
      expect(await refresh('thief', 'thief', 'thief 1', NOW + 999)).toMatchObject({
        tokenSha256: hashOf('token thief 1'),
      })
      const { put } = await store.changedSessions({ after: 0, nowMs: NOW + 999 })
      expect(put.filter(({ id }) => id === session('thief').id).map(({ tokenSha256 }) => tokenSha256)).toEqual([
        hashOf('token thief 1'),
      ])
      expect(await refresh('thief', 'client 1', 'client 2', NOW + 999)).toBe('reused')
      expect(await refresh('thief', 'thief 1', 'thief 2', NOW + 999)).toBe('unknown')
    })

    it('end the session if clocks differ by more, so that a wrong clock does not extend the time', async () => {
      await open('skewed')
      await refresh('skewed', 'skewed', 's1', NOW + 1000)
      // The clock of another node is slow.
      expect(await refresh('skewed', 'skewed', 's2', NOW + 1)).toMatchObject({ tokenSha256: hashOf('token s2') })
      expect(await refresh('skewed', 'skewed', 's3', NOW)).toBe('reused')
    })

    it('reject a token once a newer one was used', async () => {
      await open('chain')
      await refresh('chain', 'chain', 'c1', NOW)
      await refresh('chain', 'c1', 'c2', NOW)
      expect(await refresh('chain', 'chain', 'c3', NOW)).toBe('reused')
    })

    it('give all concurrent refreshes tokens, of which one works', async () => {
      await open('many')
      const names = Array.from({ length: 5 }, (_, index) => `m${index}`)
      const outcomes = await Promise.all(names.map((name) => refresh('many', 'many', name, NOW)))
      expect(outcomes.every((outcome) => typeof outcome === 'object')).toBe(true)
      expect(await find(NOW, ...names)).toHaveLength(1)
    })
  })

  it('end the oldest session of an account that has too many', async () => {
    const account = `eip155:1:0x${'b'.repeat(40)}`
    for (const [index, name] of ['first', 'second', 'third'].entries())
      await open(name, { nowMs: NOW + index, account, maxPerAccount: 2 })
    expect(await find(NOW + 3, 'first', 'second', 'third')).toEqual(['second', 'third'])
  })

  it('end the session of any account that was refreshed least recently, when there are too many in all', async () => {
    // Everything before is over by then.
    const later = NOW + 100_000
    const openLater = async (name: string, tokenEndMs: number, maxSessions = 3) => {
      await store.addNonce({ ...nonce(`for ${name}`), nowMs: later, endMs: later + 1000 })
      const opened = { ...session(name, `eip155:0:0x${hashOf(name).slice(0, 40)}`), tokenEndMs, endMs: later + 10_000 }
      const wanted = { nonceSha256: hashOf(`for ${name}`), session: opened, nowMs: later }
      return store.openSession({ ...wanted, maxPerAccount: 10, maxSessions })
    }
    for (const [index, name] of ['early', 'middle', 'recent'].entries())
      expect(await openLater(name, later + 5000 + index)).toBe('done')
    const { id, refreshSha256: usedSha256 } = session('early')
    const next = { tokenSha256: hashOf('token refreshed'), refreshSha256: hashOf('refresh refreshed') }
    await store.refreshSession({ id, usedSha256, ...next, ...REFRESH, tokenEndMs: later + 6000, nowMs: later })
    expect(await openLater('new', later + 5500)).toBe('done')
    const names = ['refreshed', 'middle', 'recent', 'new']
    expect(await find(later, ...names)).toEqual(['refreshed', 'recent', 'new'])
    // A lower limit takes effect at once.
    expect(await openLater('newest', later + 5600, 2)).toBe('done')
    expect(await find(later, ...names, 'newest')).toEqual(['refreshed', 'newest'])
    // As many have ended, and every process has to learn that before their rows can be deleted.
    expect(await openLater('one more', later + 5700)).toBe('full')
    expect(await find(later, ...names, 'newest')).toEqual(['refreshed', 'newest'])
  })

  it.runIf(engine === 'postgres')('find the least recent of many sessions by an index', async () => {
    await database.transaction((session) =>
      session.query(
        `insert into account_session (id, account, token_sha256, token_ends_ms, refresh_sha256, created_ms, ends_ms, change)
         select 'many ' || number, 'many', 'many ' || number, $1::bigint + number * 7919 % 10007, '', 0, $1::bigint + 1000000, 0
         from generate_series(1, 20000) as number`,
        [NOW],
      ),
    )
    await database.maintain('vacuum (analyze) account_session')
    const plan = await database.reads.query(
      `explain select id from account_session where not ended and ends_ms > ${NOW} order by token_ends_ms, id limit 5`,
    )
    expect(JSON.stringify(plan)).toContain('account_session_least_recent')
    await database.transaction((session) => session.query("delete from account_session where account = 'many'"))
  })

  it('leave half of the keys to the operator', async () => {
    const keyOf = (name: string, owner?: string) => ({
      id: hashOf(name).slice(0, 12),
      sha256: hashOf(name),
      tier: 'developer' as const,
      label: name,
      createdAt: '2030-01-01T00:00:00.000Z',
      ...(owner === undefined ? {} : { owner }),
    })
    const add = (name: string, account?: string) => {
      const owner = account === undefined ? {} : { owner: { account, maxKeys: 10 } }
      return store.changeKeys({ expected: [], put: [keyOf(name, account)], revoked: [], ...owner, maxKeys: 5 })
    }
    const accounts = ['eip155:0:a', 'eip155:0:b', 'eip155:0:c']
    const outcomes = []
    for (const account of accounts) outcomes.push(await add(`${account.at(-1)} key`, account))
    expect(outcomes).toEqual(['done', 'done', 'accounts-full'])
    // A rotation without an overlap adds none.
    const [old, replaced] = [keyOf('a key', 'eip155:0:a'), keyOf('rotated', 'eip155:0:a')]
    const rotation = { expected: [old.sha256], put: [replaced], revoked: [old.sha256] }
    const owner = { account: 'eip155:0:a', maxKeys: 10 }
    expect(await store.changeKeys({ ...rotation, owner, maxKeys: 5 })).toBe('done')
    for (const name of ['1 key', '2 key', '3 key']) expect(await add(name)).toBe('done')
    expect(await add('4 key')).toBe('full')
    expect(await store.findKeyOwner({ id: old.id })).toBe('eip155:0:a')
    expect(await store.findKeyOwner({ id: keyOf('1 key').id })).toBeUndefined()
    const stored = await store.listKeys(undefined)
    await store.changeKeys({ expected: [], put: [], revoked: stored.map(({ sha256 }) => sha256), maxKeys: 5 })
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
