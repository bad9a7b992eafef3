import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'

const MIB = 1_048_576
const moduleUrl = new URL('../../dist/src/free-buffer.js', import.meta.url).href

/** What arrays hold of a thread that gave 200 MiB back, bit by bit, in one turn of its event loop. */
async function heldAfter(wait: string): Promise<number> {
  const code = `
    import('${moduleUrl}').then(async ({ canFree, freeBuffer }) => {
      ${wait}
      for (let index = 0; index < 200; index++) freeBuffer(new ArrayBuffer(${MIB}))
      require('node:worker_threads').parentPort.postMessage(process.memoryUsage().arrayBuffers)
    })`
  const worker = new Worker(code, { eval: true })
  const [bytes] = (await once(worker, 'message')) as [number]
  await worker.terminate()
  return bytes
}

it('memory is freed at once in a thread that takes no turn between its tasks, after the first', async () => {
  expect(await heldAfter('await canFree')).toBeLessThan(16 * MIB)
  expect(await heldAfter('')).toBeGreaterThan(150 * MIB) // else nobody would have to wait for it
})
