import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { boundYoungHeap } from '../../src/threads/spawn.ts'

const MIB = 1_048_576
/** Allocates objects that live long enough for the young heap to grow to its limit. */
const CODE = `
  const { parentPort } = require('node:worker_threads')
  const kept = []
  for (let index = 0; index < 400000; index++) kept[index % 20000] = { index, more: [index] }
  parentPort.postMessage(require('node:v8').getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size)`

async function youngHeapBytes(megabytes: number): Promise<number> {
  boundYoungHeap(megabytes)
  const worker = new Worker(CODE, { eval: true })
  const [bytes] = (await once(worker, 'message')) as [number]
  await worker.terminate()
  return bytes
}

it('limits the young heap of the next thread to start', async () => {
  expect(await youngHeapBytes(24)).toBeGreaterThan(6 * MIB)
  expect(await youngHeapBytes(3)).toBeLessThanOrEqual(2 * MIB)
})
