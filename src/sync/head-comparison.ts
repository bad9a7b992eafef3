import type { BlockId } from '../wire/sync-messages.ts'
import type { Hex } from '../wire/values.ts'
import { logKey } from './audit.ts'
import type { ChainPosition, SyncStore } from './chain-position.ts'
import type { Block, ChainReader, EasLog } from './chain-reader.ts'
import type { GatheredChanges, Gatherer } from './gather.ts'
import { RangeSize } from './range-size.ts'
import { type RpcEndpoint, RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

interface HeadComparisonParts {
  readonly chainId: number
  readonly startBlock: number
  readonly limits: { readonly maxRangeBlocks: number }
  readonly rpcs: RpcList
  readonly reader: ChainReader
  readonly gatherer: Gatherer
  readonly position: ChainPosition
  readonly store: Pick<SyncStore, 'storedLogs' | 'known'>
  readonly onProblem: (message: string) => void
}

/**
 * Compares the head and the logs of the blocks that are not final with a second endpoint, one message at each poll. So a log that
 * one endpoint omits is stored long before the audit, which compares final blocks.
 */
export class HeadComparison {
  readonly #parts: HeadComparisonParts
  readonly #size: RangeSize
  /** Block number → the endpoint that it was read from, for the blocks that are not final. */
  readonly #readFrom = new Map<number, number>()
  /** The endpoint of the last pass, and its head. */
  #read: { readonly index: number; readonly head: number } | undefined
  /** The head of another endpoint at the last comparison. */
  #otherHead: number | undefined
  /** The endpoint of the last comparison. */
  #lastAsked: number | undefined
  /** The checkpoint up to which everything has been compared. */
  #comparedTo: Hex | undefined

  constructor(parts: HeadComparisonParts) {
    this.#parts = parts
    this.#size = new RangeSize(parts.limits.maxRangeBlocks)
  }

  /** Notes the head of the endpoint that a pass reads. */
  noteHead(index: number, head: Block): void {
    this.#read = { index, head: head.number }
  }

  /** Notes which endpoint some blocks were read from. */
  noteBlocks(index: number, blocks: readonly BlockId[]): void {
    for (const { number } of blocks) this.#readFrom.set(number, index)
  }

  /**
   * Compares with another endpoint than the one that the last pass read, with each of them in turn.
   *
   * @returns the number of logs that had been omitted and are stored now
   * @throws {StoreFault | CheckpointMoved} when storing failed. If no other endpoint responds, nothing is compared.
   */
  async step(): Promise<number> {
    const { rpcs, position } = this.#parts
    const read = this.#read
    this.#read = undefined
    if (rpcs.size < 2 || read === undefined) return 0
    await position.load()
    const skipped = new Set([read.index])
    const others = rpcs.statuses().filter(({ index, isSuspended }) => index !== read.index && !isSuspended)
    if (others.length > 1 && this.#lastAsked !== undefined) skipped.add(this.#lastAsked)
    const otherHead = this.#otherHead
    this.#otherHead = undefined
    this.#lastAsked = undefined
    let stored = 0
    try {
      stored = await rpcs.use((rpc) => this.#compare(rpc), skipped)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
    }
    if (otherHead !== undefined && read.head < otherHead)
      rpcs.suspend(
        read.index,
        `its head is block ${read.head}, and another endpoint had block ${otherHead} a poll before`,
      )
    return stored
  }

  /** Compares the blocks that are not final with one endpoint. Only the head if there are no blocks that were not compared. */
  async #compare(rpc: RpcEndpoint): Promise<number> {
    const { startBlock, reader, position } = this.#parts
    const { checkpoint, finalized } = position.state
    for (const number of this.#readFrom.keys()) if (number <= finalized) this.#readFrom.delete(number)
    const to = checkpoint?.number ?? -1
    const from = Math.max(finalized + 1, startBlock, to - this.#size.blocks + 1)
    if (from > to || checkpoint?.hash === this.#comparedTo) {
      this.#noteOther(rpc, (await reader.heads(rpc)).head)
      return 0
    }
    let response: Awaited<ReturnType<ChainReader['range']>>
    try {
      response = await reader.range(rpc, from, to, [to, 'latest'])
    } catch (error) {
      // The next comparison has fewer blocks.
      if (error instanceof RpcError && this.#size.shrink(from, to - from + 1, error)) return 0
      throw error
    }
    const [end, head] = response.blocks
    if (head === undefined) throw new RpcError('eth_getBlockByNumber: no latest block')
    this.#noteOther(rpc, head)
    // An endpoint that is behind has the logs up to its head.
    const last = end ?? head
    const hashes = new Map(position.state.knownBlocks.map(({ number, hash }) => [number, hash]))
    // On another branch the logs may differ. The next poll compares again.
    if (hashes.get(last.number) !== last.hash) return 0
    const logs = response.logs.filter(({ blockNumber, blockHash }) => hashes.get(blockNumber) === blockHash)
    const stored = await this.#storeMissing(rpc, logs, from, to)
    if (last === end) this.#comparedTo = end.hash
    return stored
  }

  #noteOther(rpc: RpcEndpoint, head: Block): void {
    this.#lastAsked = rpc.index
    this.#otherHead = head.number
  }

  /** Stores the logs that we do not have, and suspends the endpoints that omitted them. Returns their number. */
  async #storeMissing(rpc: RpcEndpoint, logs: readonly EasLog[], from: number, to: number): Promise<number> {
    const { gatherer, position, onProblem } = this.#parts
    const missing = await this.#findMissing(logs, from, to)
    if (missing.length === 0) return 0
    const gathered = await gatherer.gather(rpc, missing)
    await position.commit(gathered)
    const omitted = missing.filter((log) => isConfirmed(log, gathered))
    if (omitted.length === 0) return 0
    const reason = `${omitted.length} logs of blocks ${from} to ${to}`
    const readFrom = new Set(omitted.map(({ blockNumber }) => this.#readFrom.get(blockNumber)))
    for (const index of readFrom) {
      if (index !== undefined && index !== rpc.index) this.#parts.rpcs.suspend(index, `it omitted ${reason}`)
    }
    onProblem(`${reason} had been omitted by an endpoint and are stored now`)
    return omitted.length
  }

  /** Returns the logs that are not stored. An attestation that is stored with another block is left to the audit. */
  async #findMissing(logs: readonly EasLog[], from: number, to: number): Promise<EasLog[]> {
    if (logs.length === 0) return []
    const { chainId, store } = this.#parts
    const stored = new Set((await store.storedLogs({ chainId, from, to })).map(logKey))
    const missing = logs.filter((log) => !stored.has(logKey(log)))
    const attested = missing.filter(({ kind }) => kind === 'attested').map(({ uid }) => uid)
    const known = new Set(attested.length === 0 ? [] : await store.known({ chainId, uids: attested }))
    return missing.filter(({ kind, uid }) => kind === 'revoked' || !known.has(uid))
  }
}

/** Tells whether the contract has what a log says. */
function isConfirmed({ kind, uid }: EasLog, { revocations, quarantine }: GatheredChanges): boolean {
  if (kind === 'revoked') return revocations.some((revocation) => revocation.uid === uid)
  return !quarantine.some((row) => row.uid === uid && (row.stage === 'missing' || row.stage === 'uid'))
}
