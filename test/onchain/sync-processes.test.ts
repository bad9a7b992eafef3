import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POSTGRES, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { SCHEMA_STRINGS, schemaUids } from '../../src/attest/schemas.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Hex } from '../../src/wire/values.ts'
import { eventually } from '../eventually.ts'
import { untilReadable } from '../record-service.ts'
import { startTestService, type TestService } from '../service.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const SCHEMA = schemaUids(readConfig({}, 1)).location
const KILLS = 2

const encodeData = (index: number): Hex =>
  encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), [
    1_700_000_000n + BigInt(index),
    'EPSG:4326',
    'geojson-point',
    JSON.stringify({ type: 'Point', coordinates: [index / 10, 1] }),
    [],
    [],
    [],
    [],
    '',
  ])

async function attestMany(local: LocalChain, from: number, count: number): Promise<void> {
  const fields = {
    recipient: `0x${'0'.repeat(40)}`,
    expirationTime: 0n,
    revocable: true,
    refUID: `0x${'0'.repeat(64)}`,
    value: 0n,
  }
  for (let index = from; index < from + count; index += 10) {
    const data = Array.from({ length: 10 }, (_, place) => ({ ...fields, data: encodeData(index + place) }))
    const hash = await local.multiAttest([{ schema: SCHEMA, data }])
    await local.client.waitForTransactionReceipt({ hash })
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  await eventually(async () => expect(await isSo()).toBe(true), { timeout: 600_000 })
}

// biome-ignore lint/suspicious/noExplicitAny: a response may have any members; the tests check them
const get = async (service: TestService, path: string): Promise<any> => (await fetch(`${service.url}${path}`)).json()
const total = async (service: TestService) => (await get(service, '/api/v0/location-records?limit=1')).count

async function kill(service: TestService): Promise<void> {
  process.kill(service.pid, 'SIGKILL')
  await service.stop()
}

/** Kills a process and logs when another takes over. On a busy machine, the killed process needs its time to end before its connections close. */
async function killAndWait(service: TestService, isTakenOver: () => Promise<boolean>): Promise<void> {
  const killedMs = Date.now()
  const after = () => Date.now() - killedMs
  const [endedMs, takenOverMs] = await Promise.all([kill(service).then(after), until(isTakenOver).then(after)])
  console.log(`taken over ${takenOverMs} ms after SIGKILL; the killed process ended after ${endedMs} ms`)
}

describe.skipIf(skipReason())('processes that read a chain', () => {
  let local: LocalChain
  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    await attestMany(local, 0, 300)
  })
  afterAll(() => local?.stop())

  it('lose and duplicate nothing when they are killed in the middle', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-sync-'))
    const environment = {
      ...local.environment,
      RECORDS: '1',
      DATA_DIR: folder,
      SYNC_POLL_MS: '50',
      SYNC_RANGE_BLOCKS: '1',
    }
    try {
      for (let round = 0; round < KILLS; round++) {
        const service = await startTestService(environment)
        await untilReadable(service.url)
        const before = await total(service)
        await until(async () => (await total(service)) > before || before === 300)
        await kill(service)
      }
      const service = await startTestService(environment)
      await untilReadable(service.url)
      await until(async () => (await get(service, '/api/sync/status')).chains['base-sepolia']?.lagBlocks === 0)
      const list = await get(service, '/api/v0/location-records?limit=1000')
      const logs = await local.client.getLogs({ address: local.chain.easAddress, fromBlock: 0n, toBlock: 'latest' })
      const attested = logs.map(({ data }) => data.slice(0, 66)).sort()
      expect(attested).toHaveLength(300)
      expect(list.data.map(({ uid }: { uid: string }) => uid).sort()).toEqual(attested)
      expect(await service.stop()).toBe(0)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  describe.skipIf(POSTGRES === undefined)('on one database', () => {
    let cluster: PostgresCluster
    const services: TestService[] = []
    beforeAll(async () => {
      cluster = await startCluster({ fsync: 'off' })
    })
    afterAll(async () => {
      await Promise.all(services.map((service) => service.stop()))
      await cluster?.remove()
    })

    const environment = () => ({
      ...local.environment,
      RECORDS: '1',
      DATABASE_URL: cluster.url,
      SYNC_POLL_MS: '50',
    })
    const start = async (settings: Record<string, string>) => {
      const service = await startTestService({ ...environment(), ...settings })
      services.push(service)
      await untilReadable(service.url)
      return service
    }
    const count = (service: TestService, text: string) => service.lines.filter((line) => line.includes(text)).length
    /** Returns the chains that a service reads, as its log says. */
    const readChains = (service: TestService): number[] => {
      const line = service.lines.findLast((text) => text.includes('"chainIds":'))
      const { chainIds = '' } = line === undefined ? {} : JSON.parse(line)
      return chainIds === '' ? [] : chainIds.split(',').map(Number)
    }
    const isReader = (service: TestService) => count(service, 'this process reads the chains') > 0

    it('share the work: one reads, and another takes over when the connection of the killed one ends', async () => {
      // The lease outlasts the test, so only the end of the connection can free it.
      const settings = { SYNC_LEASE_MS: '600000' }
      const first = await start(settings)
      await until(async () => (await total(first)) >= 300)
      const second = await start(settings)
      expect(isReader(first)).toBe(true)
      const status = async (service: TestService) => {
        const { worker, chains } = await get(service, '/api/sync/status')
        return { startTime: worker.startTime, block: chains['base-sepolia'].block, running: worker.running }
      }
      expect(await status(second)).toEqual(await status(first))
      expect(await second.post('/api/sync?chain=base-sepolia', '')).toMatchObject({
        status: 409,
        body: {
          status: 'error',
          message: 'Sync is already running',
          detail: 'another process of this deployment reads the chains',
        },
      })
      expect(isReader(second)).toBe(false)
      await killAndWait(first, async () => isReader(second))
      const before = await total(second)
      await attestMany(local, 1000, 10)
      await until(async () => (await total(second)) === before + 10)
      await second.stop()
    })

    it('store nothing after they were stopped for longer than their lease', async () => {
      const settings = { SYNC_LEASE_MS: '1000' }
      const stopped = await start(settings)
      await until(async () => isReader(stopped))
      const second = await start(settings)
      process.kill(stopped.pid, 'SIGSTOP')
      const stoppedMs = Date.now()
      await until(async () => isReader(second))
      console.log(`taken over from a stopped process after ${Date.now() - stoppedMs} ms`)
      const [synced, before] = [count(stopped, 'records synced'), await total(second)]
      await attestMany(local, 1100, 20)
      await until(async () => (await total(second)) === before + 20)
      process.kill(stopped.pid, 'SIGCONT')
      await until(async () => count(stopped, 'this process does not read the chains') > 0)
      expect(count(stopped, 'records synced')).toBe(synced)
      expect(await total(stopped)).toBe(before + 20)
      await Promise.all([stopped.stop(), second.stop()])
    })

    it('spread several chains, and take over those of a process that is killed or stops', async () => {
      const others = [await startLocalChain('0.26'), await startLocalChain('1.3.0')]
      try {
        const settings = Object.assign({ SYNC_LEASE_MS: '600000' }, ...others.map(({ environment }) => environment))
        const chainIds = [local, ...others].map(({ chain }) => chain.id).sort()
        const nodes = [await start(settings), await start(settings), await start(settings)]
        const shares = (running: readonly TestService[]) => running.map((node) => readChains(node).length).sort()
        const all = (running: readonly TestService[]) => running.flatMap(readChains).sort()
        await until(async () => shares(nodes).join() === '1,1,1')
        console.log('three processes read one chain each')
        expect(all(nodes)).toEqual(chainIds)

        const [killed, ...two] = nodes as [TestService, TestService, TestService]
        await killAndWait(killed, async () => all(two).join() === chainIds.join())
        expect(shares(two)).toEqual([1, 2])

        const [stopped, last] = two as [TestService, TestService]
        const stoppedMs = Date.now()
        const exit = stopped.stop()
        await until(async () => readChains(last).length === 3)
        console.log(`the chains of a stopped process were taken over after ${Date.now() - stoppedMs} ms`)
        expect(await exit).toBe(0)
        const before = await total(last)
        for (const chain of [local, ...others]) await attestMany(chain, 400, 10)
        await until(async () => (await total(last)) === before + 30)
      } finally {
        await Promise.all(others.map((chain) => chain.stop()))
      }
    })
  })
})
