/** The tasks about sets. */
import type { ComputeWorkerData } from '../wire/compute-messages.ts'
import type {
  FeaturesResult,
  FeaturesTask,
  IndexResult,
  IndexTask,
  MatchResult,
  MatchTask,
} from '../wire/set-messages.ts'
import { runMatchTask } from './match.ts'
import type { ComputeContext } from './run.ts'
import { runFeaturesTask } from './set-features.ts'
import { buildSetTrees } from './set-tree.ts'
import { kernelPoleResolver } from './validity.ts'

/** Runs a task about a set. */
export function runSetTask(
  task: FeaturesTask | IndexTask | MatchTask,
  engine: ComputeContext,
  limits: ComputeWorkerData['limits'],
): FeaturesResult | IndexResult | MatchResult {
  switch (task.type) {
    case 'features':
      return runFeaturesTask(task, engine, limits)
    case 'index':
      return { type: 'indexed', trees: buildSetTrees(task.features, kernelPoleResolver(engine.kernel)) }
    case 'match':
      return runMatchTask(task, engine, limits)
  }
}
