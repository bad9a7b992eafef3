import { parentPort, workerData } from 'node:worker_threads'
import { chainTable } from '../src/attest/chains.ts'
import { createNonces } from '../src/attest/nonces.ts'
import { relayCeilings } from '../src/attest/relay-transaction.ts'
import { schemaKinds } from '../src/attest/schemas.ts'
import { createSigner, type RecordResult, type Signer } from '../src/attest/signer.ts'
import { type ResolvedKey, receiveSigningKey, resolveSigningKey } from '../src/attest/signing-key.ts'
import { eraseStartEnvironment } from '../src/attest/start-environment.ts'
import type { SignerConfig } from '../src/config/config.ts'
import { ConfigError } from '../src/config/setting.ts'
import { forgetSigningKey, readSigningKey } from '../src/config/signing-key.ts'
import { checksumAddress } from '../src/crypto/address.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import type { Keccak, Secp256k1 } from '../src/crypto/primitives.ts'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'
import { createNonceConnection, type NonceConnection } from '../src/sync/nonce-port.ts'
import type { AnySigningResult, SignerReply, SignerRequest, SigningFailure } from '../src/wire/signing-messages.ts'
import { putSigned, SIGNED_BYTES, splitRecords } from '../src/wire/signing-records.ts'

/** Collects results for the main thread into messages, because a message costs as much as a signature. */
class SignedOutbox {
  readonly #post: (reply: SignerReply, transfer: ArrayBuffer[]) => void
  #bytes = new Uint8Array(0)
  #count = 0
  #others: (readonly [number, AnySigningResult])[] = []

  constructor(post: (reply: SignerReply, transfer: ArrayBuffer[]) => void) {
    this.#post = post
  }

  get length(): number {
    return this.#count + this.#others.length
  }

  add(id: number, result: RecordResult): void {
    if (!result.ok) {
      this.addOther(id, result)
      return
    }
    if (this.#bytes.length < (this.#count + 1) * SIGNED_BYTES) this.#grow()
    putSigned(this.#bytes, this.#count * SIGNED_BYTES, id, result)
    this.#count++
  }

  addOther(id: number, result: AnySigningResult): void {
    this.#others.push([id, result])
  }

  flush(isBatchEnd: boolean): void {
    const signed = this.#bytes.slice(0, this.#count * SIGNED_BYTES)
    this.#post({ type: 'signed', signed, others: this.#others, isBatchEnd }, [signed.buffer])
    this.#count = 0
    this.#others = []
  }

  #grow(): void {
    const bytes = new Uint8Array(Math.max(16 * SIGNED_BYTES, 2 * this.#bytes.length))
    bytes.set(this.#bytes)
    this.#bytes = bytes
  }
}

/**
 * Maximum number of signatures in one message. Sending a message costs as much as a signature, but small messages let the main
 * thread respond to the first clients while the remaining signatures are computed.
 */
const RESULTS_PER_MESSAGE = 8
const main = parentPort!
const post = (reply: SignerReply, transfer: ArrayBuffer[] = []) => main.postMessage(reply, transfer)

interface LoadedKey extends ResolvedKey {
  /** True if the system still shows the key in the environment of this process. */
  readonly isVisible: boolean
}

async function loadKey(config: SignerConfig, secp256k1: Secp256k1, keccak: Keccak): Promise<LoadedKey> {
  if (config.keyDescriptor !== undefined) return { ...receiveSigningKey(config.keyDescriptor), isVisible: false }
  const source = readSigningKey(process.env, config)
  forgetSigningKey(process.env) // it is shared with main; threads that start later must not see the key
  const isInEnvironment = source.kind === 'private-key' || source.kind === 'mnemonic'
  const isVisible = isInEnvironment && !eraseStartEnvironment()
  return { kind: source.kind, privateKey: await resolveSigningKey(source, secp256k1, keccak), isVisible }
}

async function start(config: SignerConfig): Promise<{ signer: Signer; connection: NonceConnection }> {
  const keccak = await createKeccak()
  const secp256k1 = await loadSecp256k1()
  const { kind, privateKey, isVisible } = await loadKey(config, secp256k1, keccak)
  const chains = chainTable(config)
  let connection: NonceConnection | undefined
  const nonces = createNonces({
    read: (chainId) => connection!.read(chainId),
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
  connection = createNonceConnection(signer.address)
  const backend = `${secp256k1.backend} (${secp256k1.library})`
  post({ type: 'ready', address: checksumAddress(signer.address), keyKind: kind, isKeyVisible: isVisible, backend })
  return { signer, connection }
}

function serve({ signer, connection }: { signer: Signer; connection: NonceConnection }): void {
  const outbox = new SignedOutbox(post)
  const late = new SignedOutbox(post)
  const addLate = (add: () => void) => {
    // Results that waited for the same nonce travel in one message.
    if (late.length === 0) setImmediate(() => late.flush(false))
    add()
  }
  const signRecord = (id: number, record: Uint8Array) => {
    const result = guarded(() => signer.signRecord(record))
    if (!(result instanceof Promise)) outbox.add(id, result)
    else void result.catch(reportFault).then((settled) => addLate(() => late.add(id, settled)))
  }
  main.on('message', (request: SignerRequest) => {
    if (request.type === 'nonces') return connection.connect(request.port)
    if (request.type === 'close') process.exit() // ends only this thread
    const { records, bulk, others } = request
    splitRecords(records, (id, record) => {
      // Flush only when another result follows: the last ones travel with the final flush below.
      if (outbox.length >= RESULTS_PER_MESSAGE) outbox.flush(false)
      signRecord(id, record)
    })
    for (const [id, payload] of others) {
      const result = guarded(() => signer.sign(payload))
      if (!(result instanceof Promise)) outbox.addOther(id, result)
      else void result.catch(reportFault).then((settled) => addLate(() => late.addOther(id, settled)))
    }
    // Results of single requests do not wait for those of a batch.
    if (outbox.length > 0 && bulk.length > 0) outbox.flush(false)
    splitRecords(bulk, signRecord)
    outbox.flush(true)
  })
}

function guarded<Result>(sign: () => Result): Result | SigningFailure {
  try {
    return sign()
  } catch (error) {
    return reportFault(error)
  }
}

function reportFault(error: unknown): SigningFailure {
  post({ type: 'fault', reason: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  return { ok: false, problem: { type: 'internal', detail: 'the result could not be signed' } }
}

start(workerData as SignerConfig).then(serve, (error: unknown) => {
  if (!(error instanceof ConfigError)) throw error
  post({ type: 'refused', reason: error.message })
})
