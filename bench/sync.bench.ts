/**
 * Measures sync from a local chain into the store: anvil with real EAS contracts and attestations by `multiAttest`, read with
 * JSON-RPC arrays and with Multicall3 into either engine. Skipped if anvil is not installed.
 */
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { SCHEMA_STRINGS, schemaUids } from '../src/attest/schemas.ts'
import { readConfig } from '../src/config/config.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import { createRecordStore } from '../src/store/operations.ts'
import { HttpRpc } from '../src/sync/rpc.ts'
import { RpcList } from '../src/sync/rpc-list.ts'
import { createChainTasks } from '../src/sync/sync-records.ts'
import type { Hex } from '../src/wire/values.ts'
import { type LocalChain, skipReason, startLocalChain } from '../test/onchain/anvil.ts'
import { ENGINES, makeStore } from './store-engines.ts'
import { type Mark, printCells, printHeader, significant } from './tables.ts'

const RECORDS = Number(process.env['BENCH_SYNC_RECORDS'] ?? 5000)
const PER_TRANSACTION = 20
const GOAL = 2500
const SCHEMA = schemaUids(readConfig({}, 1)).location

export async function run(): Promise<object> {
  if (skipReason() !== undefined) return {}
  const local = await startLocalChain('1.2.0')
  const marks: Mark[] = []
  const rates: Record<string, number> = {}
  try {
    await attestMany(local)
    printHeader(['engine', 'read by', 'records/s'])
    for (const reader of ['JSON-RPC arrays', 'Multicall3'] as const) {
      if (reader === 'Multicall3') await local.installMulticall3()
      for (const engine of ENGINES) {
        const rate = await measure(local, engine)
        printCells([engine, reader, significant(rate)])
        rates[`${engine}, ${reader}`] = rate
      }
    }
    const slowest = Math.min(...Object.values(rates))
    marks.push({
      mark: `≥ ${GOAL} records/s from a local node`,
      measured: significant(slowest),
      reached: slowest >= GOAL ? 'yes' : 'no',
    })
    return { rates, marks }
  } finally {
    await local.stop()
  }
}

async function attestMany(local: LocalChain): Promise<void> {
  await local.client.setBlockGasLimit({ gasLimit: 1_000_000_000n })
  let index = 0
  while (index < RECORDS) {
    const items = Array.from({ length: PER_TRANSACTION }, () => ({
      recipient: `0x${'0'.repeat(40)}`,
      expirationTime: 0n,
      revocable: true,
      refUID: `0x${'0'.repeat(64)}`,
      value: 0n,
      data: encodeLocation(index++),
    }))
    const hash = await local.multiAttest([{ schema: SCHEMA, data: items }])
    const { status } = await local.client.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error('multiAttest reverted')
  }
}

function encodeLocation(index: number): Hex {
  return encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), [
    1_700_000_000n + BigInt(index),
    'EPSG:4326',
    'geojson-point',
    JSON.stringify({ type: 'Point', coordinates: [(index % 3600) / 10 - 180, (index % 1700) / 10 - 85] }),
    ['simple-signature'],
    ['0x0102030405'],
    [],
    [],
    `visit ${index}`,
  ])
}

async function measure(local: LocalChain, engine: (typeof ENGINES)[number]): Promise<number> {
  const files = await makeStore(engine, {})
  const database = await files.open()
  try {
    const { sync } = createChainTasks({
      chain: local.chain,
      schemas: new Map([[SCHEMA, 'nine-fields']]),
      limits: { maxRangeBlocks: 10_000, blocksAtOnce: 64, logsAtOnce: 2000, maxDataBytes: 1_048_576, maxBumps: 1024 },
      rpcs: new RpcList({
        chainId: local.chain.id,
        clients: [new HttpRpc({ url: local.url, timeoutMs: 60_000, maxResponseBytes: 32 * 1_048_576 })],
        now: () => performance.now(),
        random: Math.random,
        maxSuspensionMs: 1000,
      }),
      store: createRecordStore(database, () => new Date().toISOString()),
      keccak: await createKeccak(),
      nowSeconds: () => Math.floor(Date.now() / 1000),
      onProblem: (message) => console.log(message),
      onContradictions: () => {},
    })
    const startedMs = performance.now()
    let inserted = 0
    for (let isCaughtUp = false; !isCaughtUp; ) {
      const result = await sync.pass(100)
      inserted += result.inserted
      isCaughtUp = result.isCaughtUp
    }
    if (inserted !== RECORDS) throw new Error(`${inserted} records were stored, but ${RECORDS} were attested`)
    return (inserted / (performance.now() - startedMs)) * 1000
  } finally {
    await database.close()
    await files.remove()
  }
}
