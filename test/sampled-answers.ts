import { AnswerSampler } from '../src/compute/answer-sampler.ts'
import { createEngine } from '../src/compute/engine.ts'
import { runComputeTask } from '../src/compute/task.ts'
import type { AnswerSample, ComputeResult } from '../src/wire/compute-messages.ts'
import type { OperationName } from '../src/wire/values.ts'

const LIMITS = {
  maxVertices: 50_000,
  maxParts: 10_000,
  maxCollectionDepth: 8,
  maxJsonDepth: 32,
  maxWork: 1e6,
  maxPreparedBytes: 1_048_576,
  chainIds: [84532],
}

/**
 * Makes a function that computes requests as a compute thread does, and returns their samples.
 *
 * The function throws if the request is rejected; `undefined` means that the sampler left it out.
 */
export function createSampler(share = 1, random?: () => number) {
  const samples: AnswerSample[] = []
  const sampler = new AnswerSampler(share, (sample) => samples.push(sample), random)
  const engine = { ...createEngine(LIMITS), sampler }
  return (operation: OperationName, members: object): AnswerSample | undefined => {
    const body = Buffer.from(JSON.stringify({ chainId: 84532, ...members }))
    const result: ComputeResult = runComputeTask({ operation, body, resolved: [], timestampSeconds: 0 }, engine, LIMITS)
    if (result.type === 'problem') throw new Error(JSON.stringify(result.problem))
    return samples.pop()
  }
}
