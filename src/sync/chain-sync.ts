import type { BlockId } from '../sync-messages.ts'
import type { ChainPosition, SyncStore } from './chain-position.ts'
import type { Block, ChainReader, Heads } from './chain-reader.ts'
import { type EasLog, wholeBlocks } from './eas-logs.ts'
import type { Gatherer } from './gather.ts'
import { createQuarantineRetry } from './quarantine-retry.ts'
import { RangeSize } from './range-size.ts'
import { commonAncestor, confirmChain, confirmGone } from './rollback.ts'
import { type RpcEndpoint, RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

export interface ChainSyncParts {
  readonly chainId: number
  /** Nothing before it is read. */
  readonly startBlock: number
  readonly rpcs: RpcList
  readonly reader: ChainReader
  readonly gatherer: Gatherer
  readonly position: ChainPosition
  readonly store: Pick<SyncStore, 'quarantined'>
  readonly nowSeconds: () => number
  readonly limits: SyncLimits
  /** Something an operator should know; it holds no secret. */
  readonly onProblem: (message: string) => void
}

export interface SyncLimits {
  /** Blocks of one question about logs. */
  readonly maxRangeBlocks: number
  /** Blocks that are read by hash at once. */
  readonly blocksAtOnce: number
  /** Logs that are stored at once. */
  readonly logsAtOnce: number
}

/** What one pass did. */
export interface PassResult {
  readonly inserted: number
  readonly revoked: number
  readonly rolledBack: number
  /** False when there is more to read at once. */
  readonly isCaughtUp: boolean
  /** Of the checkpoint; -1 without one. */
  readonly block: number
  readonly head: number
  readonly headSeconds: number
  /** The first block of all, when nothing of the chain was read before. */
  readonly beganAt: number | undefined
}

/** Reads one chain into the store. Its methods are not called while one of them is under way. */
export interface ChainSync {
  /**
   * Goes on from the checkpoint.
   *
   * @param maxSteps ranges that are stored at most
   * @param onWork called once, as soon as there is something to read
   * @throws {RpcError} when no endpoint answers; {StoreFault | CheckpointMoved} when the store did not take it
   */
  pass(maxSteps: number, onWork?: () => Promise<void>): Promise<PassResult>
}

/** An endpoint whose head lies before our checkpoint: late, or the chain became shorter. */
class BehindError extends RpcError {}

/** Passes in a row in which every endpoint is behind before the chain is taken for shorter than it was. */
const PASSES_BEHIND = 3

export function createChainSync(parts: ChainSyncParts): ChainSync {
  const { chainId, startBlock, rpcs, reader, gatherer, position, store, nowSeconds, limits, onProblem } = parts
  const size = new RangeSize(limits.maxRangeBlocks)
  const retryQuarantine = createQuarantineRetry({ chainId, gatherer, position, store, nowSeconds })
  let passesBehind = 0
  /** In this pass. */
  let hasRolledBack = false

  return {
    async pass(maxSteps, onWork = async () => {}) {
      const counts = { inserted: 0, revoked: 0, rolledBack: 0 }
      const done = { ...counts, isCaughtUp: false, block: -1, head: 0, headSeconds: 0 }
      let hasWorked = false
      hasRolledBack = false
      const count = (applied: { inserted: number; revoked: number; rolledBack: number }) => {
        done.inserted += applied.inserted
        done.revoked += applied.revoked
        done.rolledBack += applied.rolledBack
      }
      const { checkpoint } = await position.load()
      const beganAt = checkpoint === undefined ? startBlock : undefined
      try {
        await askBest(async (rpc) => {
          const heads = await reader.heads(rpc)
          done.head = heads.head.number
          done.headSeconds = heads.head.timeSeconds
          for (let step = 0; step < maxSteps; step++) {
            const next = nextBlock()
            const isAtEnd = next > heads.head.number
            if (isAtEnd && !isElsewhere(heads.head)) {
              done.isCaughtUp = true
              passesBehind = 0
              await noteFinality(heads)
              break
            }
            if (!hasWorked) await onWork()
            hasWorked = true
            if (isAtEnd) count(await rollBack(rpc, heads))
            else if (next <= heads.finalized) count(await readRange(rpc, heads, next))
            else count(await readBlocks(rpc, heads, next))
          }
          if (done.isCaughtUp) count((await retryQuarantine(rpc)) ?? NOTHING)
        })
      } catch (error) {
        if (!(error instanceof BehindError)) throw error
        passesBehind++
        done.isCaughtUp = true
      }
      done.block = position.state.checkpoint?.number ?? -1
      return { ...done, beganAt }
    },
  }

  /** A single endpoint that is behind is not blamed, only waited for: there is no other to ask. */
  async function askBest(ask: (rpc: RpcEndpoint) => Promise<void>): Promise<void> {
    if (rpcs.size > 1) return rpcs.use(ask)
    const behind = await rpcs.use((rpc) =>
      ask(rpc).catch((error: unknown) => {
        if (error instanceof BehindError) return error
        throw error
      }),
    )
    if (behind !== undefined) throw behind
  }

  /** Blocks become final also while no new one comes. */
  async function noteFinality({ head, finalized }: Heads): Promise<void> {
    const { checkpoint, finalized: known } = position.state
    if (checkpoint === undefined || finalized <= known) return
    await position.commit({ ...EMPTY, progress: progressOf(head, finalized) })
  }

  function nextBlock(): number {
    const { checkpoint } = position.state
    return checkpoint === undefined ? startBlock : checkpoint.number + 1
  }

  /** Whether the head, which is not after our checkpoint, is on another chain than what we have. */
  function isElsewhere(head: Block): boolean {
    const { checkpoint, ladder } = position.state
    if (checkpoint === undefined) return false
    if (head.number === checkpoint.number) return head.hash !== checkpoint.hash
    const rung = ladder.find(({ number }) => number === head.number)
    if (rung !== undefined && rung.hash !== head.hash) return true
    if (passesBehind >= PASSES_BEHIND) return true
    throw new BehindError(`an endpoint is at block ${head.number} and we are at ${checkpoint.number}`)
  }

  /** The part that is final: by ranges, as wide as the endpoint takes them. */
  async function readRange(rpc: RpcEndpoint, { head, finalized }: Heads, from: number) {
    const { checkpoint } = position.state
    const asked = Math.min(size.blocks, finalized - from + 1)
    const to = from + asked - 1
    const witnesses = checkpoint === undefined ? [to] : [to, checkpoint.number]
    let answer: Awaited<ReturnType<ChainReader['range']>>
    try {
      answer = await reader.range(rpc, from, to, witnesses)
    } catch (error) {
      if (error instanceof RpcError && size.shrink(from, asked, error)) return NOTHING
      throw error
    }
    const { logs, blocks } = answer
    const [end, before] = blocks
    if (end === undefined) throw new RpcError(`an endpoint with head ${head.number} does not have block ${to}`)
    if (checkpoint !== undefined && before?.hash !== checkpoint.hash) return rollBack(rpc, { head, finalized })
    if (logs.some(({ blockNumber, blockHash }) => blockNumber === to && blockHash !== end.hash)) {
      throw new RpcError(`logs and block ${to} of an endpoint are of two chains`)
    }
    size.grow(asked, logs.length)
    const kept = wholeBlocks(logs, limits.logsAtOnce)
    const last = kept.at(-1)
    const target: BlockId =
      kept.length < logs.length && last !== undefined
        ? { number: last.blockNumber, hash: last.blockHash }
        : { number: end.number, hash: end.hash }
    const gathered = await gatherer.gather(rpc, kept)
    return position.commit({ ...gathered, to: target, blocks: [target], progress: progressOf(head, finalized) })
  }

  /** The part that may still change: block by block, each by its hash, each the child of the one before. */
  async function readBlocks(rpc: RpcEndpoint, { head, finalized }: Heads, from: number) {
    const { checkpoint } = position.state
    const count = Math.min(limits.blocksAtOnce, head.number - from + 1)
    const found = await reader.blocks(
      rpc,
      Array.from({ length: count }, (_, index) => from + index),
    )
    if (found[0] === undefined) throw new RpcError(`an endpoint with head ${head.number} does not have block ${from}`)
    if (checkpoint !== undefined && found[0].parentHash !== checkpoint.hash) return rollBack(rpc, { head, finalized })
    const linked: Block[] = []
    for (const block of found) {
      if (block === undefined || (linked.length > 0 && block.parentHash !== linked.at(-1)!.hash)) break
      linked.push(block)
    }
    const answers = await reader.logsOfBlocks(rpc, linked)
    const logs: EasLog[] = []
    const read: Block[] = []
    for (const [index, ofBlock] of answers.entries()) {
      // A block that is gone by now: what comes after it is as well.
      if (ofBlock === undefined || (read.length > 0 && logs.length + ofBlock.length > limits.logsAtOnce)) break
      logs.push(...ofBlock)
      read.push(linked[index]!)
    }
    const last = read.at(-1)
    if (last === undefined) throw new RpcError(`an endpoint does not have the logs of block ${from}`)
    const gathered = await gatherer.gather(rpc, logs)
    const blocks = read.map(({ number, hash }) => ({ number, hash }))
    return position.commit({ ...gathered, to: blocks.at(-1)!, blocks, progress: progressOf(head, finalized) })
  }

  /** Back to the newest block that both we and the chain know, however deep. */
  async function rollBack(rpc: RpcEndpoint, { head }: Heads) {
    const { checkpoint, ladder, finalized } = position.state
    await confirmChain(rpc, chainId)
    const ancestor = await commonAncestor(rpc, reader, ladder, head.number)
    // Whoever gives us blocks to take back again and again would keep us and the store busy for ever.
    if (hasRolledBack || ancestor?.number === checkpoint!.number)
      throw new RpcError(
        `an endpoint contradicts itself about what follows block ${ancestor?.number ?? startBlock - 1}`,
      )
    const number = ancestor?.number ?? startBlock - 1
    if (number < finalized) await confirmGone(rpcs, rpc, reader, checkpoint!)
    const depth = checkpoint!.number - number
    const applied = await position.commit({ ...EMPTY, rollBackTo: number, to: ancestor ?? null })
    passesBehind = 0
    hasRolledBack = true
    onProblem(
      `the chain was reorganised: ${depth} blocks back to block ${number}, ${applied.rolledBack} records taken back`,
    )
    return applied
  }
}

const EMPTY = { records: [], revocations: [], quarantine: [] }
const NOTHING = { inserted: 0, revoked: 0, rolledBack: 0 }

function progressOf(head: Block, finalized: number) {
  return { head: head.number, headSeconds: head.timeSeconds, finalized }
}
