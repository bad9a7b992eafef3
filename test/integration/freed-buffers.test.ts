import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'

const MIB = 1_048_576
const moduleUrl = new URL('../../dist/src/base/bytes.js', import.meta.url).href

/** Returns the bytes in array buffers of a thread after it freed 200 MiB, 1 MiB at a time, in one tick of its event loop. */
async function arrayBufferBytes(wait: string): Promise<number> {
  const code = `
    import('${moduleUrl}').then(async ({ freeBufferReady, freeBuffer }) => {
      ${wait}
      for (let index = 0; index < 200; index++) freeBuffer(new ArrayBuffer(${MIB}))
      require('node:worker_threads').parentPort.postMessage(process.memoryUsage().arrayBuffers)
    })`
  const worker = new Worker(code, { eval: true })
  const [bytes] = (await once(worker, 'message')) as [number]
  await worker.terminate()
  return bytes
}

it('memory is freed immediately in a thread that never yields to its event loop, once freeBufferReady has resolved', async () => {
  expect(await arrayBufferBytes('await freeBufferReady')).toBeLessThan(16 * MIB)
  expect(await arrayBufferBytes('')).toBeGreaterThan(150 * MIB) // otherwise waiting for it would be unnecessary
})
