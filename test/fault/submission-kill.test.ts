import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { eventually } from '../eventually.ts'
import { proofOf, stampOf } from '../evidence.ts'
import { LOUVRE } from '../fixtures.ts'
import { type LocalChain, skipReason, startLocalChain } from '../onchain/anvil.ts'
import { scaled } from '../scale.ts'
import { startTestService, type TestService } from '../service.ts'

const KILLS = scaled(20)
const SUBMISSIONS = 25 * KILLS
const SEED = 20

describe.skipIf(skipReason() !== undefined)('submissions and kill -9', () => {
  let local: LocalChain
  let mining: NodeJS.Timeout
  const dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-submissions-'))
  const key = generatePrivateKey()
  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    await local.client.setBalance({ address: privateKeyToAddress(key), value: 10n ** 20n })
    await local.client.setAutomine(false)
    mining = setInterval(() => void local.client.mine({ blocks: 1 }).catch(() => {}), 150) // the last one may fail when the chain stops
  })
  afterAll(async () => {
    clearInterval(mining)
    await local?.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const start = async () => {
    const service = await startTestService({
      ...local.environment,
      DATA_DIR: dataDir,
      RECORDS: '1',
      ENABLE_ONCHAIN_SUBMIT: '1',
      SIGNER_PRIVATE_KEY: key,
      COMPUTE_THREADS: '1',
      RPC_TIMEOUT_MS: '5000',
      RATE_LIMIT_DEVELOPER: '1000000000',
      SUBMIT_WAIT_MS: '0',
      SUBMIT_POLL_MS: '20',
      SUBMIT_GAS_PER_DAY: '1000000000000',
      // Five attestations per transaction: enough transactions for every kill to fall among them.
      SUBMIT_MAX_GAS: '1700000',
    })
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'), {
      interval: 20,
    })
    return service
  }
  /** Submits proofs and results in turn. A result has other data in each second, so only its key makes a repeated request the same. */
  const submit = async (service: TestService, index: number) => {
    const options = { submitOnchain: true }
    const key = { 'x-api-key': service.developerKey }
    const to = { type: 'Point', coordinates: [index / 10, 45] }
    const answer =
      index % 2 === 0
        ? await service.post(
            '/verify/v0/proof',
            { proof: proofOf([stampOf()], { radius: 100 + index }), options: { chainId: local.chain.id, ...options } },
            key,
          )
        : await service.post(
            '/compute/v0/distance',
            { chainId: local.chain.id, from: LOUVRE, to, options },
            { ...key, 'Idempotency-Key': `result-${index}` },
          )
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    return answer.body.submission.id as string
  }

  it(`puts ${SUBMISSIONS} submissions on chain exactly once, through ${KILLS} kills`, async () => {
    const random = randomFrom(SEED)
    const acknowledged = new Map<number, string>()
    for (let kill = 0; kill < KILLS; kill++) {
      const service = await start()
      let isKilled = false
      // From the first transaction of this process on, any moment is in the middle of a submission.
      const until = random() * 700
      const end = eventually(() => expect(service.lines.join('\n')).toContain('"submissions sent"'), {
        interval: 5,
      })
        .then(() => new Promise((resolve) => setTimeout(resolve, until)))
        .then(() => {
          isKilled = true
          process.kill(service.pid, 'SIGKILL')
        })
      // Submissions that were not acknowledged before the kill are sent again after it, as clients do.
      const share = Math.ceil((SUBMISSIONS * (kill + 1)) / KILLS)
      const missing = Array.from({ length: share }, (_, index) => index).filter((index) => !acknowledged.has(index))
      while (!isKilled) {
        const some = missing.splice(0, 4)
        if (some.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
        await Promise.all(
          some.map(async (index) => {
            const id = await submit(service, index).catch(() => undefined)
            if (id !== undefined) acknowledged.set(index, id)
            else if (!isKilled) missing.push(index)
          }),
        )
      }
      await end
    }
    const beforeLast = acknowledged.size
    const service = await start()
    for (let index = 0; index < SUBMISSIONS; index++) {
      if (!acknowledged.has(index)) {
        await eventually(
          async () => {
            acknowledged.set(index, await submit(service, index))
          },
          { timeout: 120_000 },
        )
      }
    }
    const headers = { 'x-api-key': service.developerKey }
    const uids = new Map<string, string>()
    for (const id of acknowledged.values()) {
      await eventually(
        async () => {
          const response = await fetch(`${service.url}/verify/v0/submissions/${id}`, { headers })
          const { uid, status } = (await response.json()) as { uid?: string; status: string }
          expect(status).toMatch(/^(mined|finalized)$/)
          uids.set(id, uid!)
        },
        { interval: 100 },
      )
    }
    const logs = await local.client.getLogs({ address: local.chain.easAddress, fromBlock: 0n })
    const transactions = await local.client.getTransactionCount({ address: privateKeyToAddress(key) })
    console.log(
      `${KILLS} ends: ${beforeLast} submissions acknowledged before the last start, ${logs.length} attestations in ${transactions} transactions`,
    )
    // Enough of them were pending when a kill came.
    expect(beforeLast).toBeGreaterThan(SUBMISSIONS / 4)
    expect(acknowledged.size).toBe(SUBMISSIONS)
    expect(logs.length).toBe(SUBMISSIONS)
    expect(new Set(logs.map(({ data }) => data))).toEqual(new Set(uids.values()))
    expect(new Set(uids.values()).size).toBe(SUBMISSIONS)
    expect(await service.stop()).toBe(0)
  })
})
