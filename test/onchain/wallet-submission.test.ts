import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { proofOf, stampOf } from '../evidence.ts'
import { LOUVRE } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'

describe.skipIf(skipReason() !== undefined)('submitOnchain for accounts of wallets', () => {
  let local: LocalChain
  let chainId: number

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    chainId = local.chain.id
  })
  afterAll(() => local?.stop())

  async function run(environment: Record<string, string>, test: (service: TestService) => Promise<void>) {
    const key = generatePrivateKey()
    await local.client.setBalance({ address: privateKeyToAddress(key), value: 10n ** 19n })
    const service = await startTestService({
      ...local.environment,
      ENABLE_ONCHAIN_SUBMIT: '1',
      SIGNER_PRIVATE_KEY: key,
      RECORDS: '1',
      SUBMIT_POLL_MS: '50',
      JOB_POLL_MS: '20',
      ...environment,
    })
    try {
      await eventually(() => expect(service.lines.join('\n')).toContain('"relay ready"'), { interval: 50 })
      await test(service)
    } finally {
      await service.stop()
    }
  }

  /** Signs in with a new wallet. Returns the header of its session. */
  async function signIn(service: TestService) {
    const wallet = privateKeyToAccount(generatePrivateKey())
    const { nonce } = (await service.post('/auth/nonce', {})).body
    const { host } = new URL(service.url)
    const fields = { domain: host, uri: service.url, version: '1', nonce, issuedAt: new Date() } as const
    const message = createSiweMessage({ ...fields, address: wallet.address, chainId })
    const { status, body } = await service.post('/auth/siwe', {
      message,
      signature: await wallet.signMessage({ message }),
    })
    expect(status, JSON.stringify(body)).toBe(200)
    return { authorization: `Bearer ${body.token}` }
  }

  const countAttestations = async ({ attester }: TestService) =>
    (await local.client.getLogs({ address: local.chain.easAddress, fromBlock: 0n })).filter(({ topics }) =>
      topics[2]?.endsWith(attester.slice(2).toLowerCase()),
    ).length
  const distance = (lon: number) => ({ from: LOUVRE, to: { type: 'Point', coordinates: [lon, 1] } })
  const submitted = (lon: number) => ({ chainId, ...distance(lon), options: { submitOnchain: true } })

  it('is refused to their sessions and keys on every route', () =>
    run({}, async (service) => {
      const session = await signIn(service)
      const { key } = (await service.post('/account/keys', { label: 'mine' }, session)).body
      // Every process of a service knows a new key within a second.
      await eventually(
        async () => {
          const { status, body } = await service.post(
            '/compute/v0/distance',
            { chainId, ...distance(1) },
            { 'x-api-key': key },
          )
          expect(status, JSON.stringify(body)).toBe(200)
        },
        { interval: 200 },
      )
      const batch = { chainId, options: { submitOnchain: true }, items: [{ op: 'distance', ...distance(2) }] }
      const proof = { proof: proofOf([stampOf()]), options: { chainId, submitOnchain: true } }
      for (const headers of [session, { 'x-api-key': key }]) {
        for (const [path, sent] of [
          ['/compute/v0/distance', submitted(2)],
          ['/compute/v0/batch', batch],
          ['/compute/v0/batch', { ...batch, attest: 'merkle' }],
          ['/compute/v0/jobs', batch],
          ['/compute/v0/jobs', { ...batch, attest: 'merkle' }],
          ['/verify/v0/proof', proof],
        ] as const) {
          const { status, body } = await service.post(path, sent, headers)
          expect({ path, status, errors: body.errors }, JSON.stringify(body)).toMatchObject({
            path,
            status: 403,
            errors: [
              { code: 'wallet-account', pointer: '#/options/submitOnchain', hint: expect.stringContaining('operator') },
            ],
          })
        }
      }
      const jobs = await fetch(`${service.url}/compute/v0/jobs`, { headers: session })
      expect(await jobs.json()).toMatchObject({ jobs: [] })
      const operator = await service.post('/compute/v0/distance', submitted(3), { 'x-api-key': service.developerKey })
      expect(operator.body.submission.status).toBe('mined')
      expect(await countAttestations(service)).toBe(1)
    }))

  it('is accepted if the operator allows it, until all accounts together have used up their gas', () =>
    run({ SUBMIT_WALLET_ACCOUNTS: '1', SUBMIT_GAS_PER_DAY_ALL: '1000000' }, async (service) => {
      // Each counts as 492,000 until it is in a block, and used more than 300,000 then.
      const statuses: number[] = []
      for (const lon of [4, 5, 6]) {
        const { status, body, headers } = await service.post(
          '/compute/v0/distance',
          submitted(lon),
          await signIn(service),
        )
        statuses.push(status)
        if (status === 200) expect(body.submission.status).toBe('mined')
        else {
          expect(body.detail).toContain('all API keys together')
          expect(headers.get('retry-after')).toBe('3600')
        }
      }
      expect(statuses).toEqual([200, 200, 503])
      expect(await countAttestations(service)).toBe(2)
    }))
})
