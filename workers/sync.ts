import { parentPort, workerData } from 'node:worker_threads'
import { type Chain, chainTable } from '../src/attest/chains.ts'
import type { ChainAccessConfig } from '../src/config/config.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import type { Keccak } from '../src/crypto/primitives.ts'
import { serveRelay } from '../src/relay/relay-port.ts'
import { type ChainAccess, ChainRefusal, createChainAccess } from '../src/sync/chain-access.ts'
import { createSchemaCache, serveNonces } from '../src/sync/nonce-port.ts'
import { createRpc, isInvalidResponse, RpcError } from '../src/sync/rpc.ts'
import { openRecordSync } from '../src/sync/sync-records.ts'
import type { ChainReply, ChainRequest } from '../src/wire/sync-messages.ts'
import type { ChainAttestation, Hex } from '../src/wire/values.ts'

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
    for (const { access } of chains.values()) if (access.state.state === 'unverified') void access.check()
  }, chainRetryIntervalMs)

  const records = await openRecordSync(config, (event) => post({ type: 'event', event }))
  main.on('message', (request: ChainRequest) => {
    switch (request.type) {
      case 'nonces':
        serveNonces(request.port, async (chainId, attester) => {
          const chain = chains.get(chainId)
          return chain === undefined ? { ok: false, refusal: undefined } : chain.access.nonce(attester)
        })
        break
      case 'store':
        records.connect(request.port)
        break
      case 'relay':
        serveRelay(request, config, chains, keccak)
        break
      case 'sync':
        void records.act(request.action).then((outcome) => post({ type: 'synced', id: request.id, outcome }))
        break
      case 'close':
        void records.close().then(() => process.exit(0))
        break
      default:
        void lookUp(chains, request)
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
    const access = createChainAccess({
      chain,
      rpcs: chain.rpcUrls.map((url) =>
        createRpc({ url, timeoutMs: rpcTimeoutMs, maxResponseBytes: limits.maxRpcResponseBytes }),
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

async function lookUp(
  chains: ReadonlyMap<number, ServedChain>,
  { type, id, chainId, uid }: Extract<ChainRequest, { type: 'attestation' | 'schema' }>,
): Promise<void> {
  try {
    const chain = chains.get(chainId)
    if (chain === undefined) throw new RangeError(`chain ${chainId} has no RPC`)
    const value: ChainAttestation | string | undefined =
      type === 'attestation' ? await chain.access.attestation(uid) : await chain.schemaString(uid)
    post({ type: 'found', id, result: { ok: true, value } })
  } catch (error) {
    const isWrong = error instanceof ChainRefusal || (error instanceof RpcError && isInvalidResponse(error))
    const cause = isWrong ? 'wrong' : 'unreachable'
    post({ type: 'found', id, result: { ok: false, reason: (error as Error).message, cause } })
  }
}

void start(workerData as ChainAccessConfig)
