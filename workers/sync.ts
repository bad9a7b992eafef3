import { parentPort, workerData } from 'node:worker_threads'
import { type Chain, chainTable } from '../src/attest/chains.ts'
import type { ChainAccessConfig } from '../src/config/config.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import type { Keccak } from '../src/crypto/primitives.ts'
import { serveRelay } from '../src/relay/relay-port.ts'
import { ChainAccess, ChainRefusal, createSchemaCache } from '../src/sync/chain-access.ts'
import { serveNonces } from '../src/sync/nonce-port.ts'
import { HttpRpc, isInvalidResponse, RpcError } from '../src/sync/rpc.ts'
import { RecordSync, StoreConnection } from '../src/sync/sync-records.ts'
import { serve } from '../src/wire/request-port.ts'
import type { ChainOperations, ChainReply, ChainRequest } from '../src/wire/sync-messages.ts'
import type { ChainResult, Hex } from '../src/wire/values.ts'

const main = parentPort!
const post = (reply: ChainReply) => main.postMessage(reply)

interface ServedChain {
  readonly chain: Chain
  readonly access: ChainAccess
  readonly schemaString: (uid: Hex) => Promise<string | undefined>
}

async function start(config: ChainAccessConfig): Promise<void> {
  const keccak = await createKeccak()
  const chains = await openChains(config, keccak)
  const { chainCheckIntervalMs, chainRetryIntervalMs } = config.limits
  const checkAll = () => Promise.all([...chains.values()].map(({ access }) => access.check()))
  setInterval(checkAll, chainCheckIntervalMs)
  setInterval(() => {
    for (const { access } of chains.values()) if (access.state.state !== 'ok') void access.check()
  }, chainRetryIntervalMs)

  const connection = new StoreConnection()
  const records = new RecordSync(config, keccak, connection.store, (event) => post({ type: 'event', event }))
  serve<ChainOperations>(main, {
    attestation: ({ chainId, uid }) => lookUp(chains, chainId, ({ access }) => access.attestation(uid)),
    schema: ({ chainId, uid }) => lookUp(chains, chainId, ({ schemaString }) => schemaString(uid)),
    accountSignature: ({ chainId, ...signature }) =>
      lookUp(chains, chainId, ({ access }) => access.accountSignature(signature)),
    offchainRevocation: ({ chainId, attester, uid }) =>
      lookUp(chains, chainId, ({ access }) => access.offchainRevocation(attester, uid)),
    tokenBalance: ({ chainId, token, holder }) =>
      lookUp(chains, chainId, ({ access }) => access.tokenBalance(token, holder)),
    sync: (action) => records.act(action),
  })
  main.on('message', (request: ChainRequest) => {
    switch (request.type) {
      case 'nonces':
        serveNonces(request.port, async (chainId, attester) => {
          const chain = chains.get(chainId)
          return chain === undefined ? { ok: false, refusalReason: undefined } : chain.access.nonce(attester)
        })
        break
      case 'store':
        connection.connect(request.port)
        records.start()
        break
      case 'relay':
        serveRelay(request, config, chains, keccak, connection)
        break
      case 'close':
        void records.close().then(() => process.exit(0))
    }
  })
  await checkAll()
  post({ type: 'ready' })
}

async function openChains(
  { rpcTimeoutMs, limits, ...config }: ChainAccessConfig,
  keccak: Keccak,
): Promise<Map<number, ServedChain>> {
  const chains = new Map<number, ServedChain>()
  for (const chain of chainTable(config).values()) {
    if (chain.rpcUrls.length === 0) continue
    const access = new ChainAccess({
      chain,
      rpcs: chain.rpcUrls.map(
        (url) => new HttpRpc({ url, timeoutMs: rpcTimeoutMs, maxResponseBytes: limits.maxRpcResponseBytes }),
      ),
      keccak,
      nowSeconds: () => Math.floor(Date.now() / 1000),
      maxHeadAheadSeconds: limits.maxHeadAheadSeconds,
      onState: (state) => post({ type: 'state', chainId: chain.id, state }),
    })
    const schemaString = createSchemaCache({
      fetchSchema: (uid) => access.schemaString(uid),
      maxEntries: limits.maxCachedSchemas,
      unregisteredMs: limits.unregisteredSchemaMs,
      now: () => performance.now(),
    })
    chains.set(chain.id, { chain, access, schemaString })
  }
  return chains
}

/** Reads a value from a chain. Never rejects. */
async function lookUp<T>(
  chains: ReadonlyMap<number, ServedChain>,
  chainId: number,
  read: (chain: ServedChain) => Promise<T | undefined>,
): Promise<ChainResult<T>> {
  try {
    const chain = chains.get(chainId)
    if (chain === undefined) throw new RangeError(`chain ${chainId} has no RPC`)
    return { ok: true, value: await read(chain) }
  } catch (error) {
    const isWrong = error instanceof ChainRefusal || (error instanceof RpcError && isInvalidResponse(error))
    return { ok: false, reason: (error as Error).message, cause: isWrong ? 'wrong' : 'unreachable' }
  }
}

void start(workerData as ChainAccessConfig)
