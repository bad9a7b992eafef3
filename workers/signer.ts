import { parentPort, workerData } from 'node:worker_threads'
import { checksumAddress } from '../src/attest/address.ts'
import { chainTable } from '../src/attest/chains.ts'
import { createNonces } from '../src/attest/nonces.ts'
import { relayCeilings } from '../src/attest/relay-transaction.ts'
import { schemaKinds } from '../src/attest/schema-kinds.ts'
import { createSigner, type Signer } from '../src/attest/signer.ts'
import { resolveSigningKey } from '../src/attest/signing-key.ts'
import { ConfigError, type SignerConfig } from '../src/config.ts'
import { forgetSigningKey, readSigningKey } from '../src/config-key.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'
import type {
  AnySigningResult,
  SignerReply,
  SignerRequest,
  SigningItem,
  SigningPayload,
  SigningRefusal,
} from '../src/messages.ts'
import { createNonceLine, type NonceLine } from './nonce-port.ts'

/** Signatures that go back together: main answers the first while the others are made. A message costs what a signature does. */
const RESULTS_A_MESSAGE = 8
const main = parentPort!
const post = (reply: SignerReply) => main.postMessage(reply)

async function start(config: SignerConfig): Promise<{ signer: Signer; line: NonceLine }> {
  const source = readSigningKey(process.env, config)
  forgetSigningKey(process.env) // shared with main: no thread that starts later can see it
  const keccak = await createKeccak()
  const secp256k1 = await loadSecp256k1()
  const privateKey = await resolveSigningKey(source, secp256k1, keccak)
  const chains = chainTable(config)
  let line: NonceLine | undefined
  const nonces = createNonces({
    read: (chainId) => line!.read(chainId),
    readable: new Set([...chains.values()].filter(({ rpcUrls }) => rpcUrls.length > 0).map(({ id }) => id)),
    maxAgeMs: config.nonceMaxAgeMs,
    timeoutMs: config.rpcTimeoutMs,
    now: () => performance.now(),
    after: (ms, call) => void setTimeout(call, ms),
  })
  const signer = createSigner({
    secp256k1,
    keccak,
    privateKey,
    chains,
    schemaKinds: schemaKinds(config),
    nonces,
    ttlSeconds: config.attestationTtlSeconds,
    nowSeconds: () => Math.floor(Date.now() / 1000),
    relay: config.submission && relayCeilings(config.submission),
  })
  line = createNonceLine(signer.address)
  post({ type: 'ready', address: checksumAddress(signer.address), keyKind: source.kind, backend: secp256k1.backend })
  return { signer, line }
}

function serve({ signer, line }: { signer: Signer; line: NonceLine }): void {
  let late: (readonly [number, AnySigningResult])[] = []
  const addLate = (id: number, result: AnySigningResult) => {
    // Those who waited for the same nonce answer in one message.
    if (late.length === 0)
      setImmediate(() => {
        post({ type: 'signed', results: late, isBatchEnd: false })
        late = []
      })
    late.push([id, result])
  }
  main.on('message', (request: SignerRequest) => {
    if (request.type === 'nonces') return line.connect(request.port)
    if (request.type === 'close') process.exit() // ends the thread alone
    let results: (readonly [number, AnySigningResult])[] = []
    const signAll = (items: readonly SigningItem[], most: number) => {
      for (const [id, payload] of items) {
        // Not before the next one is due: the last results go with the end of the message.
        if (results.length >= most) {
          post({ type: 'signed', results, isBatchEnd: false })
          results = []
        }
        const result = sign(signer, payload)
        if (result instanceof Promise) void result.catch(fault).then((settled) => addLate(id, settled))
        else results.push([id, result])
      }
    }
    signAll(request.items, RESULTS_A_MESSAGE)
    // Single answers do not wait for those of a batch.
    if (results.length > 0 && request.bulk.length > 0) {
      post({ type: 'signed', results, isBatchEnd: false })
      results = []
    }
    signAll(request.bulk, Number.POSITIVE_INFINITY)
    post({ type: 'signed', results, isBatchEnd: true })
  })
}

function sign(signer: Signer, payload: SigningPayload): AnySigningResult | Promise<AnySigningResult> {
  try {
    return signer.sign(payload)
  } catch (error) {
    return fault(error)
  }
}

function fault(error: unknown): SigningRefusal {
  post({ type: 'fault', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  return { ok: false, problem: { type: 'internal', detail: 'the result could not be signed' } }
}

start(workerData as SignerConfig).then(serve, (error: unknown) => {
  if (!(error instanceof ConfigError)) throw error
  post({ type: 'refused', reason: error.message })
})
