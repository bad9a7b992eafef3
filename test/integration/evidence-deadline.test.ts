import { afterEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { type ComputePool, startComputePool, type VerifyJob } from '../../src/threads/compute-pool.ts'
import { eventually } from '../eventually.ts'
import { NOW, proofOf, stampOf } from '../evidence.ts'

const VERTICES = 4000
const STAMPS = 60

/** A proof whose claim has so many vertices that measuring 60 distances takes at least 0.25 s. */
function slowProof(): Buffer {
  const ring = Array.from({ length: VERTICES }, (_, index) => {
    const angle = (2 * Math.PI * index) / VERTICES
    return [10 + Math.cos(angle), 40 + Math.sin(angle)]
  })
  ring.push(ring[0]!)
  const claim = { locationType: 'geojson-polygon', location: { type: 'Polygon', coordinates: [ring] } }
  return Buffer.from(
    JSON.stringify({
      chainId: 84532,
      proof: proofOf(
        Array.from({ length: STAMPS }, () => stampOf()),
        claim,
      ),
    }),
  )
}

const PROOF = slowProof()

/** @param ms time until the deadline */
const job = (ms: number): VerifyJob => ({
  task: { kind: 'proof', body: Uint8Array.from(PROOF), nowSeconds: NOW + 60 },
  client: undefined,
  deadlineMs: Date.now() + ms,
  isAborted: () => false,
})

describe('evidence that takes longer than its deadline', () => {
  let pool: ComputePool | undefined
  afterEach(() => pool?.close())

  async function start(evidenceGraceMs: number): Promise<ComputePool> {
    const config = readConfig({ COMPUTE_THREADS: '1' }, 1)
    const evidence = {
      allowMock: false,
      witnesses: undefined,
      deviceTrust: undefined,
      didKeys: undefined,
      evaluation: config.evaluation,
      pluginUrls: [],
    }
    const limits = { ...config.limits, evidenceGraceMs }
    const modules = {
      compute: () => import('../../workers/compute.ts'),
      inline: () => import('../../workers/inline.ts'),
    }
    pool = await startComputePool({ ...config, limits }, { chainIds: [84532], evidence, modules })
    return pool
  }

  it('still completes within the grace period', async () => {
    const verified = await (await start(60_000)).runVerify(job(50), false)
    expect(verified).toMatchObject({ ok: true })
  })

  it('is terminated with its thread after the grace period', async () => {
    const startedPool = await start(0)
    await expect(startedPool.runVerify(job(50), false)).rejects.toMatchObject({ data: { type: 'overloaded' } })
    await expect(startedPool.runVerify(job(60_000), false)).resolves.toMatchObject({ ok: true })
  })

  it('completes before the service stops', async () => {
    const startedPool = await start(60_000)
    const verification = startedPool.runVerify(job(60_000), false)
    await eventually(() => expect(startedPool.queueSize).toBe(0)) // a thread has taken it
    await startedPool.close()
    expect(await verification).toMatchObject({ ok: true })
    pool = undefined
  })
})
