/** Sign-ins while the database server stops, crashes and hangs: what is known keeps working, and no nonce is lost or used twice. */
import pg from 'pg'
import { privateKeyToAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POSTGRES, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { withChecksum } from '../../src/service/keys/key-text.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

const CHAIN_ID = 84532
const DISTANCE = { chainId: CHAIN_ID, from: EIFFEL_TOWER, to: TOWN_HALL }

describe.skipIf(POSTGRES === undefined)('sign-ins while the database server is away', () => {
  let cluster: PostgresCluster
  let service: TestService
  let wallets = 0

  beforeAll(async () => {
    cluster = await startCluster({ fsync: 'off' })
    service = await startTestService({
      DATABASE_URL: cluster.url,
      RECORDS: '1',
      SYNC: '0',
      ...NO_LOCAL_CALLERS,
      MAX_SIGN_IN_NONCES_PER_CLIENT: '1000',
      SIGN_IN_NONCE_SECONDS: '3600',
    })
    await eventually(async () => expect((await service.post('/auth/nonce', {})).status).toBe(200))
  })
  afterAll(async () => {
    await service?.stop()
    await cluster?.remove()
  })

  /** Returns the body of a sign-in with a fresh nonce, and its account. */
  async function prepare() {
    const wallet = privateKeyToAccount(`0x${(++wallets).toString(16).padStart(64, '0')}`)
    const { nonce } = (await service.post('/auth/nonce', {})).body
    const { host } = new URL(service.url)
    const fields = { domain: host, uri: service.url, version: '1', nonce, issuedAt: new Date() } as const
    const message = createSiweMessage({ ...fields, address: wallet.address, chainId: CHAIN_ID })
    return {
      account: `eip155:0:${wallet.address.toLowerCase()}`,
      body: { message, signature: await wallet.signMessage({ message }) },
    }
  }
  const signIn = ({ body }: Awaited<ReturnType<typeof prepare>>) => service.post('/auth/siwe', body)
  const compute = async (token: string) =>
    (await service.post('/compute/v0/distance', DISTANCE, { authorization: `Bearer ${token}` })).status

  it('are rejected with Retry-After, while known sessions and keys are accepted, and succeed later with the same nonce', async () => {
    const { token, refreshToken } = (await signIn(await prepare())).body
    const made = await service.post('/account/keys', {}, { authorization: `Bearer ${token}` })
    await eventually(async () => expect(await compute(made.body.key)).toBe(200))
    for (const how of ['fast', 'immediate'] as const) {
      const waiting = await prepare()
      await cluster.stop(how)
      await eventually(async () => expect((await signIn(waiting)).status).toBe(503))
      for (const answer of [
        await signIn(waiting),
        await service.post('/auth/nonce', {}),
        await service.post('/auth/refresh', { refreshToken }),
        // A token that this process does not know, and the database may.
        await service.post('/compute/v0/distance', DISTANCE, {
          authorization: `Bearer ${withChecksum(`tps_${'x'.repeat(43)}`)}`,
        }),
      ]) {
        expect(answer.status).toBe(503)
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
      }
      expect(await compute(token)).toBe(200)
      expect(await compute(made.body.key)).toBe(200)
      await cluster.start()
      await eventually(async () => expect((await signIn(waiting)).status).toBe(200))
      expect(await signIn(waiting)).toMatchObject({
        status: 401,
        body: { detail: expect.stringContaining('nonce') },
      })
    }
    // Nothing that was refused meanwhile has used up the refresh token.
    await eventually(async () => expect((await service.post('/auth/refresh', { refreshToken })).status).toBe(200))
  })

  it('open exactly one session for each nonce, whether the server crashes or hangs while they run', async () => {
    const { token } = (await signIn(await prepare())).body
    for (const fault of ['immediate', 'pause'] as const) {
      const prepared = []
      for (let count = 0; count < 12; count++) prepared.push(await prepare())
      const first = prepared.map(signIn)
      // Some sign-ins have begun, and none has to have ended.
      await Promise.race([first[0], new Promise((resolve) => setImmediate(resolve))])
      if (fault === 'pause') {
        cluster.pause()
        expect(await compute(token)).toBe(200)
        cluster.resume()
      } else {
        await cluster.stop('immediate')
        expect(await compute(token)).toBe(200)
        await cluster.start()
      }
      const opened = new Map<string, number>()
      const note = (account: string, status: number) => {
        if (status === 200) opened.set(account, (opened.get(account) ?? 0) + 1)
      }
      for (const [index, answer] of (await Promise.all(first)).entries()) {
        expect([200, 503]).toContain(answer.status)
        note(prepared[index]!.account, answer.status)
      }
      await eventually(async () => expect((await service.post('/auth/nonce', {})).status).toBe(200))
      for (const sign of prepared) {
        let status = 503
        await eventually(async () => {
          status = (await signIn(sign)).status
          expect(status).not.toBe(503)
        })
        expect([200, 401]).toContain(status)
        note(sign.account, status)
      }
      expect([...opened.values()].filter((count) => count > 1)).toEqual([])
      // A transaction may have been stored although its answer was lost: then the nonce has a session nevertheless, and only one.
      const client = new pg.Client({ connectionString: cluster.url })
      await client.connect()
      const { rows } = await client.query(
        'select account, count(*)::int as sessions from account_session where account = any($1) group by account',
        [prepared.map(({ account }) => account)],
      )
      await client.end()
      expect(rows.map(({ sessions }) => sessions)).toEqual(Array(prepared.length).fill(1))
    }
  })
})
