import { EventEmitter } from 'node:events'
import { expect, it, vi } from 'vitest'
import { readConfig } from '../../src/config/config.ts'

/** Stands for a signer thread that is never ready. */
class SlowThread extends EventEmitter {
  async terminate(): Promise<void> {
    this.emit('exit', 1)
  }
}

vi.mock('node:worker_threads', async (importActual) => ({
  ...(await importActual<typeof import('node:worker_threads')>()),
  Worker: function startThread() {
    return new SlowThread()
  },
}))
// Another file of tests may have loaded the module without the mock.
vi.resetModules()
const { startSigner } = await import('../../src/threads/signer-client.ts')

// Regression: on a busy machine, the operator read a stack without a remedy.
it('a signer that does not start in time says what to do', async () => {
  vi.useFakeTimers()
  try {
    const outcome = expect(startSigner(readConfig({}, 1), { info() {}, warn() {}, error() {} })).rejects.toMatchObject({
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
