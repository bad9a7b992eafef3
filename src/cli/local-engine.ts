/** Runs the service's engine in this process, for `--local`. */

import { chainTable } from '../attest/chains.ts'
import { schemaUids } from '../attest/schemas.ts'
import type { PackedBytes } from '../base/bytes.ts'
import type { ProblemData } from '../base/problem.ts'
import { type ItemComposer, runComputeChunk } from '../compute/chunk.ts'
import { createEngine } from '../compute/engine.ts'
import type { ComputeContext } from '../compute/run.ts'
import { runComputeTask } from '../compute/task.ts'
import { readConfig } from '../config/config.ts'
import type { ComputeChunk } from '../wire/batch-messages.ts'
import type { OperationName } from '../wire/values.ts'
import type { ItemResult } from './batch/feeder.ts'
import type { LocalAnswers } from './local-answers.ts'
import type { Terminal } from './terminal.ts'

export interface LocalEngine {
  /**
   * Computes one request.
   *
   * @param body the request body that a service would get
   * @returns the response of the service, as JSON
   * @throws {ProblemError} if the service would reject the request
   */
  compute(operation: OperationName, body: object, prefersResultSignature?: boolean): Promise<string>
  /**
   * Computes items of a batch.
   *
   * @param items operations as JSON
   * @returns results equal to those of a service
   */
  computeItems(items: PackedBytes, options: LocalBatchOptions): Promise<LocalResults>
  /**
   * Computes items of a batch without signatures.
   *
   * @param items operations as JSON, or the objects of which `composer` makes them
   * @param hasRefs false leaves out the references of distances between points
   */
  computeUnsigned(
    items: PackedBytes,
    options: LocalBatchOptions,
    hasRefs: boolean,
    composer: ItemComposer | undefined,
  ): UnsignedResults
}

export interface LocalBatchOptions {
  readonly chainId: number
  readonly recipient: string | undefined
  readonly attest: 'each' | 'none'
}

/** The results of items, in their order. They are bytes, because a string for each took a third of the time. */
export interface UnsignedResults {
  /** Results as lines of JSON. The line of an item in `rejected` is empty. */
  readonly lines: PackedBytes
  /** The indexes of the items that the engine rejected, ascending. */
  readonly rejected: readonly number[]
}

/** The results of items, in their order. */
export interface LocalResults {
  /** Unsigned results as lines of JSON. The line of an item in `others` is empty. */
  readonly lines: PackedBytes
  /** Signed results, and reasons why items are rejected, by index of the item. */
  readonly others: ReadonlyMap<number, ItemResult>
}

/**
 * Creates an engine that computes on this thread, with the code of the compute threads. If results are signed, it signs with the
 * development key. It has no chain access, so nonces are 0 and UIDs cannot be resolved.
 *
 * @param dataFolder folder of the development key, which is created when the first result is signed
 */
export function createLocalEngine({ env, now }: Pick<Terminal, 'env' | 'now'>, dataFolder?: string): LocalEngine {
  const config = readConfig({ ...env, ...(dataFolder === undefined ? {} : { DATA_DIR: dataFolder }) }, 1)
  const limits = { ...config.limits, chainIds: [...chainTable(config).keys()] }
  const engine = createEngine(limits)
  const engineWithoutRefs: ComputeContext = { ...engine, omitsPointRefs: true }
  const schemas = schemaUids(config)
  let localAnswers: Promise<LocalAnswers> | undefined
  const getAnswers = () =>
    (localAnswers ??= import('./local-answers.ts').then(({ createLocalAnswers }) =>
      createLocalAnswers(config, { now }),
    ))
  const nowSeconds = () => Math.floor(now() / 1000)
  const createChunk = (items: PackedBytes, call: LocalBatchOptions): ComputeChunk => {
    const { chainId, recipient, attest } = call
    return {
      type: 'chunk',
      items,
      firstIndex: undefined,
      chainId,
      recipient,
      attest,
      itemsInQuota: items.offsets.length - 1,
      quotaProblem: NO_QUOTA_PROBLEM,
      maxItemBytes: Number.MAX_SAFE_INTEGER, // nothing arrives over a network
      schemas,
      attester: undefined,
      returnsObjects: attest !== 'none',
      resolved: [],
      timestampSeconds: nowSeconds(),
    }
  }

  return {
    async compute(operation, body, prefersResultSignature = false) {
      const task = { operation, body: Buffer.from(JSON.stringify(body)), resolved: [], timestampSeconds: nowSeconds() }
      const result = runComputeTask(task, engine, limits)
      return (await getAnswers()).response(result, prefersResultSignature)
    },

    async computeItems(items, options) {
      const { texts, unfinished } = runComputeChunk(createChunk(items, options), engine, limits)
      const others = new Map<number, ItemResult>()
      for (const [index, item] of unfinished) others.set(index, await (await getAnswers()).item(item))
      return { lines: texts, others }
    },

    computeUnsigned(items, options, hasRefs, composer) {
      const chunk = createChunk(items, { ...options, attest: 'none' })
      const { texts, unfinished } = runComputeChunk(chunk, hasRefs ? engine : engineWithoutRefs, limits, composer)
      return { lines: texts, rejected: [...unfinished.keys()] }
    },
  }
}

/** There is no quota in this process. */
const NO_QUOTA_PROBLEM: ProblemData = { type: 'internal', detail: 'there is no quota' }
