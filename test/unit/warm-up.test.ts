import { expect, it } from 'vitest'
import { kernelKeccak } from '../../src/compute/engine.ts'
import { runComputeTask } from '../../src/compute/task.ts'
import { readConfig } from '../../src/config/config.ts'
import { warmUpTasks } from '../../src/threads/warm-up.ts'
import { loadKernel } from '../../src/wasm/loader.ts'

const CHAIN_ID = 84532
const limits = { ...readConfig({}, 1).limits, chainIds: [CHAIN_ID] }
const kernel = loadKernel()

it('warms threads up with requests that are valid, and one that needs all of the work that a request may', () => {
  const engine = { kernel, keccak: kernelKeccak(kernel), limits }
  const [distance, intersects] = warmUpTasks(CHAIN_ID).map((task) => runComputeTask(task, engine, limits))
  expect(distance).toMatchObject({ type: 'problem', problem: { type: 'too-complex' } })
  expect(intersects).toMatchObject({ type: 'computed', members: expect.stringMatching(/^"result":false,/) })
})
