/** Several processes with a chain: the data process reads it and submits, and every HTTP process knows what it knows. */
import { expect, it } from 'vitest'
import { childrenOf } from '../children.ts'
import { eventually } from '../eventually.ts'
import { startTestService } from '../service.ts'

it('share the records, the state of the chain and its nonces', async () => {
  const settings = { LOCAL_CHAIN: '1', LOCAL_CHAIN_PORT: '0', RECORDS: '1', ENABLE_ONCHAIN_SUBMIT: '1' }
  const service = await startTestService({ ...settings, PROCESSES: '2' })
  try {
    const json = async (path: string) => (await fetch(`${service.url}${path}`)).json() as Promise<never>
    await eventually(async () => {
      const { count } = (await json('/api/v0/location-records?limit=1')) as { count: number }
      expect(count).toBeGreaterThan(0)
    })
    const metrics = async () => (await fetch(`${service.url}/metrics`)).text()
    await eventually(async () => expect(await metrics()).toContain('relay_ready{process="data",chain_id="31337"} 1'))
    const { checks } = (await json('/ready')) as { checks: Record<string, { ok: boolean; detail?: string }> }
    expect(checks['chain-31337']).toEqual({ ok: true, detail: 'ok' })
    const point = { type: 'Point', coordinates: [0, 0] }
    const requireNonce = async () => {
      for (let n = 0; n < 4; n++) {
        const { status, body, headers } = await service.post('/compute/v0/distance', {
          chainId: 31337,
          from: point,
          to: point,
        })
        // Without the header, the signer got the nonce from the chain, over the sync thread of the data process.
        const source = headers.get('x-attester-nonce-source')
        expect([status, body.delegatedAttestation.nonce, source]).toEqual([200, 0, null])
      }
    }
    await requireNonce()
    expect(await metrics()).toContain('process_restarts_total{process="supervisor"} 0')

    // The data process is the first child but one: the first is the chain.
    process.kill(childrenOf(service.pid)[1]!, 'SIGKILL')
    const restarted = 'process_restarts_total{process="supervisor"} 1'
    await eventually(async () => expect(await metrics()).toContain(restarted), { timeout: 30_000 })
    await eventually(requireNonce, { timeout: 30_000 })
  } finally {
    expect(await service.stop()).toBe(0)
  }
}, 120_000)
