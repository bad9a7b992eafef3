import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { kernelKeccak } from '../../src/compute/engine.ts'
import { runComputeTask } from '../../src/compute/task.ts'
import { readConfig } from '../../src/config/config.ts'
import { WarmUp } from '../../src/http/warm-up.ts'
import type { Services } from '../../src/service/services.ts'
import { warmUpTasks } from '../../src/threads/warm-up.ts'
import { loadKernel } from '../../src/wasm/loader.ts'

const CHAIN_ID = 84532
const limits = { ...readConfig({}, 1).limits, chainIds: [CHAIN_ID] }
const kernel = loadKernel()

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('warms threads up with requests that are valid, and one that needs all of the work that a request may', () => {
  const engine = { kernel, keccak: kernelKeccak(kernel), limits }
  const [distance, intersects] = warmUpTasks(CHAIN_ID).map((task) => runComputeTask(task, engine, limits))
  expect(distance).toMatchObject({ type: 'problem', problem: { type: 'too-complex' } })
  expect(intersects).toMatchObject({ type: 'computed', members: expect.stringMatching(/^"result":false,/) })
})

it('is done when the threads for large work have warmed up too', async () => {
  let end = () => {}
  const warmUp = startWarmUp(new Promise((resolve) => (end = resolve)))
  await vi.advanceTimersByTimeAsync(100)
  expect(warmUp.isDone).toBe(false)
  end()
  await vi.advanceTimersByTimeAsync(0)
  expect(warmUp.isDone).toBe(true)
})

it('does not wait long for threads that others keep busy', async () => {
  const warmUp = startWarmUp(new Promise(() => {}))
  await vi.advanceTimersByTimeAsync(4999)
  expect(warmUp.isDone).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(warmUp.isDone).toBe(true)
})

/** Starts the warm-up of a process whose chains all have an RPC endpoint, so that it sends no requests. */
function startWarmUp(threads: Promise<void>): WarmUp {
  const log = { info() {}, warn() {}, error() {} }
  const warmUp = new WarmUp({ config: readConfig({}, 1), log, chainIds: [] })
  void warmUp.run({} as Services, undefined, threads)
  return warmUp
}
