import { Worker } from 'node:worker_threads'
import type { Config } from '../config/config.ts'
import type { PluginTrialData, PluginTrialResult } from '../wire/evidence-messages.ts'
import { heapLimits, workerUrl } from './spawn.ts'

/**
 * Loads a plugin module in a separate thread with an empty environment, then ends the thread.
 *
 * @param url of the module
 * @returns a failure if the module throws, ends the thread or does not finish in time
 */
export function runPluginTrial(url: string, task: PluginTrialData['task'], config: Config): Promise<PluginTrialResult> {
  const { limits } = config
  const timeoutMs = task === 'describe' ? limits.pluginLoadMs : limits.pluginTrialMs
  const { maxVertices, maxParts, maxCollectionDepth, maxJsonDepth, maxWork, maxPreparedBytes } = limits
  const workerLimits = { maxVertices, maxParts, maxCollectionDepth, maxJsonDepth, maxWork, maxPreparedBytes }
  const workerData: PluginTrialData = { url, task, limits: { ...workerLimits, chainIds: [] } }
  const worker = new Worker(workerUrl('plugin-trial'), { env: {}, workerData, resourceLimits: heapLimits(config) })
  return new Promise<PluginTrialResult>((resolve) => {
    const fail = (reason: string) => resolve({ ok: false, reason })
    const timer = setTimeout(() => fail(`did not finish within ${timeoutMs} ms`), timeoutMs)
    worker.once('message', resolve)
    worker.once('error', (error) => fail(error.message))
    worker.once('exit', (code) => fail(`ended its thread with code ${code}`))
    timer.unref()
  }).finally(() => void worker.terminate())
}
