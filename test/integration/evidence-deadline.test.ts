import { afterEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { type ComputePool, startComputePool } from '../../src/threads/compute-pool.ts'
import type { VerifyJob } from '../../src/threads/jobs.ts'
import { eventually } from '../eventually.ts'
import { NOW, proofOf, stampOf } from '../evidence.ts'

const VERTICES = 4000
const STAMPS = 60

/** A claim of many vertices, to which 60 distances are measured: a quarter of a second and more. */
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

/** @param ms until nobody waits for it */
const job = (ms: number): VerifyJob => ({
  task: { question: 'proof', body: Uint8Array.from(PROOF), nowSeconds: NOW + 60 },
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
    pool = await startComputePool({ ...config, limits }, { chainIds: [84532], evidence })
    return pool
  }

  it('comes to its end all the same, for a while', async () => {
    const judged = await (await start(60_000)).runVerify(job(50), false)
    expect(judged).toMatchObject({ ok: true })
  })

  it('is ended with its thread beyond', async () => {
    const asked = await start(0)
    await expect(asked.runVerify(job(50), false)).rejects.toMatchObject({ data: { type: 'overloaded' } })
    await expect(asked.runVerify(job(60_000), false)).resolves.toMatchObject({ ok: true })
  })

  it('is waited for when the service stops', async () => {
    const asked = await start(60_000)
    const judging = asked.runVerify(job(60_000), false)
    await eventually(() => expect(asked.queueSize).toBe(0)) // it is out
    await asked.close()
    expect(await judging).toMatchObject({ ok: true })
    pool = undefined
  })
})
