import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { eventually } from '../eventually.ts'
import { LOUVRE } from '../fixtures.ts'
import { type LocalChain, skipReason, startLocalChain } from '../onchain/anvil.ts'
import { startTestService, type TestService } from '../service.ts'

/** Operations whose results are submitted one by one, and jobs whose root is. */
const RESULTS = 200
const ROOTS = 18
const KILLS = 6
const SEED = 21
const PATH = '/compute/v0/jobs'

// biome-ignore lint/suspicious/noExplicitAny: a response may have any members; the test checks them
type Loose = any

describe.skipIf(skipReason() !== undefined)('submissions of jobs and kill -9', () => {
  let local: LocalChain
  let mining: NodeJS.Timeout
  const services: TestService[] = []
  const dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-job-submissions-'))
  const key = generatePrivateKey()
  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    await local.client.setBalance({ address: privateKeyToAddress(key), value: 10n ** 20n })
    await local.client.setAutomine(false)
    mining = setInterval(() => void local.client.mine({ blocks: 1 }).catch(() => {}), 150) // the last one may fail when the chain stops
  })
  afterAll(async () => {
    clearInterval(mining)
    for (const service of services) await service.stop()
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
      JOB_POLL_MS: '20',
      JOB_MAX_OPEN: '100',
      SUBMIT_POLL_MS: '20',
      SUBMIT_GAS_PER_DAY: '1000000000000',
      // 25 of one key: the results of a chunk do not find room at once.
      MAX_QUEUED_SUBMISSIONS: '100',
      // Five attestations per transaction: enough transactions for every kill to fall among them.
      SUBMIT_MAX_GAS: '1700000',
    })
    services.push(service)
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'), { interval: 20 })
    return service
  }
  const ask = async (service: TestService, path: string, init: RequestInit = {}) => {
    const headers = { 'x-api-key': service.developerKey, ...(init.headers as Record<string, string>) }
    const response = await fetch(`${service.url}${PATH}${path}`, { ...init, headers })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    return text
  }
  const json = async (service: TestService, path: string): Promise<Loose> => JSON.parse(await ask(service, path))
  const operations = (count: number, lat: number) =>
    Array.from({ length: count }, (_, index) => {
      const to = { type: 'Point', coordinates: [index / 10, lat] }
      return `${JSON.stringify({ op: 'distance', id: index, from: LOUVRE, to })}\n`
    }).join('')
  /** A repeated upload under the same key is the same job. */
  const create = async (service: TestService, name: string, attest: string, body: string): Promise<string> => {
    const query = `chainId=${local.chain.id}&attest=${attest}&submitOnchain=true`
    const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': name }
    return JSON.parse(await ask(service, `?${query}`, { method: 'POST', headers, body })).id
  }

  it(`attests ${RESULTS} results and ${ROOTS} roots exactly once, through ${KILLS} kills`, async () => {
    const random = randomFrom(SEED)
    const roots = new Map<string, string>()
    let each: string | undefined
    /** Creates the jobs that were not acknowledged yet. */
    const createAll = async (service: TestService, count: number) => {
      each ??= await create(service, 'each', 'each', operations(RESULTS, 45))
      for (let number = 0; number < count; number++) {
        const name = `root-${number}`
        if (!roots.has(name)) roots.set(name, await create(service, name, 'merkle', operations(3, 50 + number / 10)))
      }
    }
    for (let kill = 0; kill < KILLS; kill++) {
      const service = await start()
      await createAll(service, Math.ceil((ROOTS * (kill + 1)) / KILLS))
      // Kills interrupt submissions and not computations: a chunk that is taken three times without an end is given up.
      for (const id of roots.values())
        await eventually(async () => expect((await json(service, `/${id}`)).state).toBe('done'), { interval: 5 })
      await eventually(() => expect(service.lines.join('\n')).toContain('"submissions sent"'), { interval: 5 })
      await new Promise((resolve) => setTimeout(resolve, random() * 700))
      process.kill(service.pid, 'SIGKILL')
    }
    const service = await start()
    await eventually(() => createAll(service, ROOTS))
    const attested = () => local.client.getLogs({ address: local.chain.easAddress, fromBlock: 0n })
    const attestedBefore = (await attested()).length
    const { done: doneBefore } = await json(service, `/${each}`)
    await eventually(async () => expect((await json(service, `/${each}`)).state).toBe('done'), {
      timeout: 180_000,
      interval: 100,
    })
    expect(await json(service, `/${each}`)).toMatchObject({ done: RESULTS, failed: 0 })

    const uids = new Map<string, string>()
    const lines = (await ask(service, `/${each}/results`)).split('\n').slice(0, -1)
    expect(lines).toHaveLength(RESULTS)
    for (const [index, line] of lines.entries()) {
      const { id, data, submission } = JSON.parse(line)
      expect(id).toBe(index)
      const uid = await eventually(
        async () => {
          const response = await fetch(`${service.url}/verify/v0/submissions/${submission.id}`)
          const found = (await response.json()) as Loose
          expect(found.status).toMatch(/^(mined|finalized)$/)
          return found.uid as `0x${string}`
        },
        { interval: 50 },
      )
      expect((await local.getAttestation(uid)).data).toBe(data)
      uids.set(`result ${index}`, uid)
    }
    for (const [name, id] of roots) {
      const { submission } = await eventually(
        async () => {
          const job = await json(service, `/${id}`)
          expect(job.submission?.status, JSON.stringify(job)).toMatch(/^(mined|finalized)$/)
          return job
        },
        { interval: 50 },
      )
      const { merkle } = await json(service, `/${id}/attestation`)
      expect((await local.getAttestation(submission.uid)).data).toBe(merkle.attestation.data)
      uids.set(name, submission.uid)
    }
    const logs = await attested()
    console.log(
      `${KILLS} ends: ${attestedBefore} of ${logs.length} attestations were made before the last start, ${doneBefore} results were done`,
    )
    expect(uids.size).toBe(RESULTS + ROOTS)
    expect(logs.length).toBe(RESULTS + ROOTS)
    expect(new Set(logs.map(({ data }) => data))).toEqual(new Set(uids.values()))
    // The kills came in the middle of the work.
    expect(attestedBefore).toBeGreaterThan(0)
    expect(attestedBefore).toBeLessThan(RESULTS + ROOTS)
    expect(await service.stop()).toBe(0)
  })
})
