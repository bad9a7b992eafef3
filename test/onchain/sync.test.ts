import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import { SCHEMA_STRINGS, schemaUids } from '../../src/attest/schemas.ts'
import { readConfig } from '../../src/config.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Hex } from '../../src/messages.ts'
import type { Database } from '../../src/store/database.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import type { RecordStore } from '../../src/store-messages.ts'
import { type OpenChainSync, openChainSync } from '../../src/sync/open-chain-sync.ts'
import { createRpc } from '../../src/sync/rpc.ts'
import { createRpcList } from '../../src/sync/rpc-list.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const LOCATION_SCHEMA = schemaUids(readConfig({}, 1)).location

const locationData = (index: number, memo = ''): Hex =>
  encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), [
    1_700_000_000n + BigInt(index),
    'EPSG:4326',
    'geojson-point',
    JSON.stringify({ type: 'Point', coordinates: [(index % 360) - 180, (index % 180) - 90] }),
    ['gps'],
    ['0x010203'],
    [],
    [],
    memo,
  ])

describe.skipIf(skipReason())('records of a local chain', () => {
  let local: LocalChain
  let files: StoreFiles
  let database: Database
  let store: RecordStore
  const problems: string[] = []

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    files = await makeStore('embedded')
    database = await files.open()
    store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
  })
  afterAll(async () => {
    await local?.stop()
    await database?.close()
    await files?.remove()
  })

  async function syncOf(): Promise<OpenChainSync> {
    const client = createRpc({ url: local.url, timeoutMs: 5000, maxResponseBytes: 32 * 1_048_576 })
    return openChainSync({
      chain: { ...local.chain, finalityDepth: 16 },
      schemaUid: LOCATION_SCHEMA,
      limits: { maxRangeBlocks: 10_000, blocksAtOnce: 64, logsAtOnce: 2000, maxDataBytes: 1_048_576, maxBumps: 1024 },
      rpcs: createRpcList({
        chainId: local.chain.id,
        clients: [client],
        now: () => performance.now(),
        random: Math.random,
        maxBenchMs: 1000,
      }),
      store,
      keccak: await createKeccak(),
      nowSeconds: () => Math.floor(Date.now() / 1000),
      onProblem: (message) => problems.push(message),
    })
  }

  const page = async () => JSON.parse(`[${(await store.page({ limit: 1000, offset: 0 })).documents}]`)

  it('are those that were attested, with what they say', async () => {
    const uids = []
    for (let index = 0; index < 3; index++)
      uids.push(await local.attest(LOCATION_SCHEMA, locationData(index, `n ${index}`)))
    const { sync } = await syncOf()
    const result = await sync.pass(100)
    expect(result).toMatchObject({ inserted: 3, isCaughtUp: true })
    const records = await page()
    expect(records.map(({ uid }: { uid: Hex }) => uid).sort()).toEqual([...uids].sort())
  })
})
