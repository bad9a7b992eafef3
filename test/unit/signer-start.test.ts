import { EventEmitter } from 'node:events'
import { expect, it, vi } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { startSigner } from '../../src/threads/signer-client.ts'

/** Stands for a signer thread that is never ready. */
class SlowThread extends EventEmitter {
  postMessage(): void {}
  async terminate(): Promise<void> {
    this.emit('exit', 1)
  }
}

// Regression: on a busy machine, the operator read a stack without a remedy.
it('a signer that does not start in time says what to do', async () => {
  vi.useFakeTimers()
  try {
    const log = { info() {}, warn() {}, error() {} }
    const started = startSigner(readConfig({}, 1), log, undefined, () => new SlowThread())
    const outcome = expect(started).rejects.toMatchObject({
      name: 'StartTimeout',
      message:
        'the signer did not start in 30000 ms: the machine is busy, or the keystore is slow to decrypt; start again',
    })
    vi.advanceTimersByTime(30_000)
    await outcome
  } finally {
    vi.useRealTimers()
  }
})
