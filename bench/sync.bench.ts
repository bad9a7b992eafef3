/**
 * Measures sync from a local chain into the store: anvil with real EAS contracts and attestations by `multiAttest`, read with
 * JSON-RPC arrays and with Multicall3 into either engine, each beside the speed of the node itself: the same logs and attestations,
 * requested and parsed as JSON only. Skipped if anvil is not installed.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { SCHEMA_STRINGS, schemaUids } from '../src/attest/schemas.ts'
import { MAX_EQUAL_ATTESTATIONS } from '../src/attest/uid.ts'
import { readConfig } from '../src/config/config.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import { ATTESTED } from '../src/sync/chain-reader.ts'
import {
  attestationCall,
  CALLS_PER_AGGREGATE,
  CALLS_PER_BATCH,
  encodeAggregate,
  MULTICALL3,
} from '../src/sync/eas-attestations.ts'
import { HttpRpc } from '../src/sync/rpc.ts'
import { RpcList } from '../src/sync/rpc-list.ts'
import { createChainTasks, StoreConnection } from '../src/sync/sync-records.ts'
import { StoreClient } from '../src/threads/store-client.ts'
import type { Hex } from '../src/wire/values.ts'
import { type LocalChain, skipReason, startLocalChain } from '../test/onchain/anvil.ts'
import { ENGINES, makeStore } from './store-engines.ts'
import { type Mark, printCells, printHeader, significant } from './tables.ts'

const RECORDS = Number(process.env['BENCH_SYNC_RECORDS'] ?? 5000)
const ROUNDS = Number(process.env['BENCH_SYNC_ROUNDS'] ?? 3)
const PER_TRANSACTION = 20
const GOAL = 2500
const GOAL_SHARE = 0.8
const CONFIG = readConfig({}, 1)
const SCHEMA = schemaUids(CONFIG).location
const READERS = ['JSON-RPC arrays', 'Multicall3'] as const
type Reader = (typeof READERS)[number]

export async function run(): Promise<object> {
  if (skipReason() !== undefined) return {}
  const local = await startLocalChain('1.2.0')
  const rates: Record<string, number> = {}
  const shares: Record<string, number> = {}
  try {
    await attestMany(local)
    printHeader(['engine', 'read by', 'records/s', 'the node alone', 'share'])
    for (const reader of READERS) {
      if (reader === 'Multicall3') await local.installMulticall3()
      for (const engine of ENGINES) {
        const rounds = await measureInTurn(local, reader, engine)
        const name = `${engine}, ${reader}`
        rates[name] = median(rounds.map(({ rate }) => rate))
        shares[name] = median(rounds.map(({ rate, raw }) => rate / raw))
        const raw = median(rounds.map((round) => round.raw))
        printCells([engine, reader, significant(rates[name]), significant(raw), shares[name].toFixed(2)])
      }
    }
    return { rates, shares, marks: toMarks(rates, shares) }
  } finally {
    await local.stop()
  }
}

function toMarks(rates: Record<string, number>, shares: Record<string, number>): Mark[] {
  const slowest = Math.min(...Object.values(rates))
  const least = Math.min(...Object.values(shares))
  return [
    {
      mark: `≥ ${GOAL} records/s from a local node`,
      measured: significant(slowest),
      reached: slowest >= GOAL ? 'yes' : 'no',
    },
    {
      mark: `catch-up ≥ ${GOAL_SHARE} of the rate at which the node serves logs and attestations`,
      measured: least.toFixed(2),
      reached: least >= GOAL_SHARE ? 'yes' : 'no',
    },
  ]
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

/** Measures the node and the synchronisation alternately, so that load on the machine affects both. */
async function measureInTurn(local: LocalChain, reader: Reader, engine: (typeof ENGINES)[number]) {
  const rounds: { readonly raw: number; readonly rate: number }[] = []
  for (let round = 0; round < ROUNDS; round++)
    rounds.push({ raw: await measureNode(local, reader), rate: await measure(local, engine) })
  return rounds
}

function openRpc(local: LocalChain): HttpRpc {
  return new HttpRpc({ url: local.url, timeoutMs: 60_000, maxResponseBytes: 32 * 1_048_576 })
}

/** Requests all logs in one range and all attestations, in messages of the same size and two at once, and parses them as JSON. */
async function measureNode(local: LocalChain, reader: Reader): Promise<number> {
  const rpc = openRpc(local)
  const { easAddress } = local.chain
  const startedMs = performance.now()
  const filter = { address: easAddress, topics: [ATTESTED, null, null, SCHEMA], fromBlock: '0x0', toBlock: 'latest' }
  const logs = (await rpc.request('eth_getLogs', [filter])) as { readonly data: Hex }[]
  const uids = logs.map(({ data }) => data)
  let next = 0
  const readOn = async (size: number, read: (uids: readonly Hex[]) => Promise<unknown>) => {
    while (next < uids.length) {
      const batch = uids.slice(next, next + size)
      next += size
      await read(batch)
    }
  }
  const calls = (batch: readonly Hex[]) => batch.map((uid) => attestationCall(easAddress, uid))
  const readArray = (batch: readonly Hex[]) => rpc.requestAll(calls(batch))
  const readAggregate = (batch: readonly Hex[]) => {
    const inputs = calls(batch).map(({ params: [call] }) => (call as { readonly data: Hex }).data.slice(2))
    return rpc.request('eth_call', [{ to: MULTICALL3, data: encodeAggregate(easAddress, inputs) }, 'latest'])
  }
  const readAll = () =>
    reader === 'Multicall3' ? readOn(CALLS_PER_AGGREGATE, readAggregate) : readOn(CALLS_PER_BATCH, readArray)
  await Promise.all([readAll(), readAll()])
  if (uids.length !== RECORDS) throw new Error(`the node has ${uids.length} logs, but ${RECORDS} were attested`)
  return (RECORDS / (performance.now() - startedMs)) * 1000
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
  await local.client.mine({ blocks: 100 }) // they are final then, as most blocks of a long catch-up are
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

/** Synchronises an empty store, which runs in its own thread as in the service. */
async function measure(local: LocalChain, engine: (typeof ENGINES)[number]): Promise<number> {
  const files = await makeStore(engine, {})
  const client = new StoreClient(readConfig(files.environment, 2), { info() {}, warn() {}, error: console.error })
  try {
    const connection = new StoreConnection()
    const port = new Promise<MessagePort>((resolve) => client.connect(resolve))
    client.open()
    while (!client.state.isOpen) await sleep(50)
    connection.connect(await port)
    const { syncRangeBlocks, syncBlocksAtOnce, syncLogsAtOnce, maxAttestationBytes } = CONFIG.limits
    const { sync } = createChainTasks({
      chain: local.chain,
      schemas: new Map([[SCHEMA, 'nine-fields']]),
      limits: {
        maxRangeBlocks: syncRangeBlocks,
        blocksAtOnce: syncBlocksAtOnce,
        logsAtOnce: syncLogsAtOnce,
        maxDataBytes: maxAttestationBytes,
        maxBumps: MAX_EQUAL_ATTESTATIONS,
      },
      rpcs: new RpcList({
        chainId: local.chain.id,
        clients: [openRpc(local)],
        now: () => performance.now(),
        random: Math.random,
        maxSuspensionMs: 1000,
      }),
      store: connection.store,
      keccak: await createKeccak(),
      nowSeconds: () => Math.floor(Date.now() / 1000),
      onProblem: (message) => console.log(message),
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
    await client.close()
    await files.remove()
  }
}
