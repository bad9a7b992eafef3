/** Both ends of the line between signer and chain thread: who asks for nonces, who answers. */
import type { MessagePort } from 'node:worker_threads'
import type { NonceReading } from '../src/attest/nonces.ts'
import type { Hex } from '../src/messages.ts'

interface Question {
  readonly id: number
  readonly chainId: number
  readonly attester: Hex
}

interface Reply {
  readonly id: number
  readonly reading: NonceReading
}

const SILENCE: NonceReading = { ok: false, refusal: undefined }

export interface NonceLine {
  /** Replaces the line when the chain thread had to start again. */
  connect(port: MessagePort): void
  /** Never rejects; without a line, or when it breaks, there is no reading. */
  read(chainId: number): Promise<NonceReading>
}

/** The signer's end. */
export function createNonceLine(attester: Hex): NonceLine {
  const waiting = new Map<number, (reading: NonceReading) => void>()
  let current: MessagePort | undefined
  let nextId = 0

  function settle(id: number, reading: NonceReading): void {
    waiting.get(id)?.(reading)
    waiting.delete(id)
  }

  return {
    connect(port) {
      current?.close()
      current = port
      port.on('message', ({ id, reading }: Reply) => settle(id, reading))
      port.on('close', () => {
        if (current !== port) return
        current = undefined
        for (const id of [...waiting.keys()]) settle(id, SILENCE)
      })
    },
    read(chainId) {
      const port = current
      if (port === undefined) return Promise.resolve(SILENCE)
      return new Promise((resolve) => {
        const id = nextId++
        waiting.set(id, resolve)
        port.postMessage({ id, chainId, attester } satisfies Question)
      })
    },
  }
}

/** The chain thread's end. */
export function serveNonces(port: MessagePort, read: (chainId: number, attester: Hex) => Promise<NonceReading>): void {
  port.on('message', ({ id, chainId, attester }: Question) => {
    void read(chainId, attester).then((reading) => port.postMessage({ id, reading } satisfies Reply))
  })
}
