import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, createClient, type Verdict, verifyResult } from '../../src/client/client.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'
import { EAS_VERSIONS, type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const failed = ({ checks }: Verdict) => checks.filter(({ status }) => status === 'fail').map(({ id }) => id)
const passed = ({ checks }: Verdict) => checks.filter(({ status }) => status === 'pass').map(({ id }) => id)

describe.skipIf(skipReason()).each(EAS_VERSIONS)('verifyResult with a chain that has EAS %s', (version) => {
  let local: LocalChain
  let service: TestService
  let client: Client
  const computeDistance = () => client.compute.distance(EIFFEL_TOWER, TOWN_HALL)
  const verify = (answer: unknown, rpcUrl = local.url) => verifyResult(answer, { attester: service.attester, rpcUrl })

  beforeAll(async () => {
    local = await startLocalChain(version)
    service = await startTestService({ ...local.environment, RPC_TIMEOUT_MS: '5000' })
    client = createClient({ baseUrl: service.url, chainId: local.chain.id })
  })
  afterAll(async () => {
    await service?.stop()
    await local?.stop()
  })

  it('predicts that EAS accepts a response, and EAS does', async () => {
    const answer = await computeDistance()
    const verdict = await verify(answer)
    expect(failed(verdict)).toEqual([])
    expect(passed(verdict)).toEqual(expect.arrayContaining(['rpc', 'contract', 'registered', 'nonce', 'simulation']))
    await local.submitAnswer(answer)
    // The nonce is used: from now on the same response is rejected, with the reason named.
    expect(failed(await verify(answer))).toEqual(['nonce', 'simulation'])
    const again = { ...answer, ...(await client.compute.resign(answer)) }
    expect(failed(await verify(again))).toEqual([])
  })

  it('names an unregistered schema', async () => {
    const answer = await client.compute.distance(EIFFEL_TOWER, TOWN_HALL, { schema: `0x${'7'.repeat(64)}` })
    const verdict = await verify(answer)
    expect(failed(verdict)).toEqual(['registered', 'simulation'])
  })

  it('names an RPC that serves another chain or does not answer', async () => {
    const other = await startLocalChain(version === '1.3.0' ? '1.2.0' : '1.3.0')
    try {
      expect(failed(await verify(await computeDistance(), other.url))).toEqual(['rpc'])
    } finally {
      await other.stop()
    }
    expect(failed(await verify(await computeDistance(), 'http://127.0.0.1:1/'))).toEqual(['rpc'])
    expect(failed(await verify(await computeDistance(), service.url))).toEqual(['rpc'])
  })
})
