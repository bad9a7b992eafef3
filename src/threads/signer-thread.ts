import { SHARE_ENV, Worker } from 'node:worker_threads'
import { type Config, ConfigError, type SignerConfig } from '../config/config.ts'
import type { SignerReply, SignerRequest, SigningKeyKind } from '../wire/messages.ts'
import { heapLimits, workerUrl } from './spawn.ts'

/** A signer thread that is ready. */
export interface SignerThread {
  readonly worker: Worker
  readonly address: string
  readonly keyKind: SigningKeyKind
  readonly backend: string
}

// Opening a keystore takes scrypt one second, more on a busy machine.
const START_TIMEOUT_MS = 30_000
/** A signature takes microseconds, and a message of signatures takes milliseconds. */
const CLOSE_TIMEOUT_MS = 2000

/** Asks the thread to exit and waits. Terminating it during a signature in native code would crash the process. */
export async function endThread(worker: Worker): Promise<void> {
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  worker.postMessage({ type: 'close' } satisfies SignerRequest)
  const timer = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT_MS)
  await ended
  clearTimeout(timer)
}

/**
 * Starts a signer thread and waits until it is ready.
 *
 * @throws {ConfigError} when the key or a chain is configured wrongly
 */
export async function startThread(config: Config, onReply: (reply: SignerReply) => void): Promise<SignerThread> {
  const worker = new Worker(workerUrl('signer'), {
    name: 'signer',
    env: SHARE_ENV, // so that it can remove the key from it
    workerData: signerConfig(config),
    resourceLimits: heapLimits(config),
  })
  try {
    const ready = await firstReply(worker)
    worker.on('message', onReply)
    return { worker, ...ready }
  } catch (error) {
    await worker.terminate()
    throw error
  }
}

function firstReply(worker: Worker): Promise<Omit<SignerThread, 'worker'>> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the signer did not start in ${START_TIMEOUT_MS} ms`)),
      START_TIMEOUT_MS,
    )
    worker.once('message', (reply: SignerReply) => {
      if (reply.type === 'ready') resolve(reply)
      else reject(new ConfigError(reply.type === 'refused' ? reply.reason : 'the signer did not start'))
    })
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`the signer ended while starting (${code})`)))
    worker.once('exit', () => clearTimeout(timer))
    worker.once('message', () => clearTimeout(timer))
  })
}

function signerConfig(config: Config): SignerConfig {
  const { production, allowDevelopmentKey, dataDir, chains, schemas } = config
  const { nonceMaxAgeMs, rpcTimeoutMs, attestationTtlSeconds, submission } = config
  return {
    production,
    allowDevelopmentKey,
    dataDir,
    chains,
    schemas,
    nonceMaxAgeMs,
    rpcTimeoutMs,
    attestationTtlSeconds,
    submission,
  }
}
