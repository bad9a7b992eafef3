/**
 * The memory of request bodies, shared fairly between clients. One client may hold at most its share. When the memory is used
 * up, the client that holds the most loses a body that it has stopped sending. Small requests have memory of their own. Streams
 * are held back before the memory is used up, because their clients can wait.
 */
import type { ProblemData } from '../../base/problem.ts'
import type { Limits } from '../../config/config.ts'

/** A client: an API key, or an address. */
export type Owner = number | string

export type BodyMemoryLimits = Pick<
  Limits,
  | 'maxBodyBytes'
  | 'maxInFlightBytes'
  | 'maxClientBodyBytes'
  | 'maxOpenBodiesPerAddress'
  | 'maxLineStreamsPerClient'
  | 'smallBodyBytes'
  | 'smallBodyReserveBytes'
>

/** A body that is being received, or waits for its response. */
export interface HeldBody {
  /** Changed by `BodyMemory` alone. */
  heldBytes: number
  /** When it began, last got `PROGRESS_BYTES`, or was resumed after a pause: `performance.now()`. */
  readonly progressMs: number
  /** True while its client has to send more. A stream that we have paused is not awaited. */
  readonly isAwaited: boolean
  /** True if the body is processed piece by piece. */
  readonly isStreamed: boolean
  /** Ends the request, which releases its memory. */
  giveUp(problem: ProblemData): void
  /** Continues to read a stream that `holdBack` has held back. */
  continueReading(): void
}

/** A body that gets fewer bytes than this in `STALL_MS` is stalled. Its memory may then go to another request. */
export const PROGRESS_BYTES = 16_384
const STALL_MS = 1000

/** Seconds that a client should wait if the service is overloaded. */
const RETRY_SECONDS = 1

/** What one client holds. */
export interface ClientShare {
  readonly owner: Owner
  bytes: number
  readonly unfinished: Set<HeldBody>
  /** Streams whose responses have not ended. */
  streams: number
  /** No search for stalled bodies of this client before this `performance.now()`. */
  nextSearchMs: number
}

/** After a search that found no stalled body, the next one waits: in a flood, each chunk would search all bodies. */
const SEARCH_PAUSE_MS = 50

/** The part of its share that the streams of a client use freely. Beyond it, each may only hold one line and one read of the transport. */
const FREE_PART = 0.25

export class BodyMemory {
  readonly #limits: BodyMemoryLimits
  readonly #shares = new Map<Owner, ClientShare>()
  #bytes = 0
  /** When the bodies of all clients may be searched again. */
  readonly #pause = { nextSearchMs: 0 }
  /** Streams that are held back. */
  readonly #waiting = new Map<HeldBody, ClientShare>()

  constructor(limits: BodyMemoryLimits) {
    this.#limits = limits
  }

  /** Bytes that all bodies hold. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Registers a body whose bytes follow.
   *
   * @returns the share of its client; a problem if the client has too many unfinished bodies, or too many streams
   */
  open(owner: Owner, body: HeldBody): ClientShare | ProblemData {
    const share = this.#shares.get(owner) ?? { owner, bytes: 0, unfinished: new Set(), streams: 0, nextSearchMs: 0 }
    const { maxOpenBodiesPerAddress, maxLineStreamsPerClient } = this.#limits
    if (share.unfinished.size >= maxOpenBodiesPerAddress)
      return overloaded(
        `${share.unfinished.size} requests of this client have not arrived completely; finish one first`,
      )
    if (body.isStreamed && share.streams >= maxLineStreamsPerClient)
      return overloaded(
        `${share.streams} streams of lines of this client are open; end one first, or send its lines in another`,
      )
    this.#shares.set(owner, share)
    share.unfinished.add(body)
    if (body.isStreamed) share.streams++
    return share
  }

  /** Ends a body together with its response, and releases what it holds. */
  close(share: ClientShare, body: HeldBody): void {
    share.unfinished.delete(body)
    if (body.isStreamed) share.streams--
    this.#waiting.delete(body)
    this.release(share, body, body.heldBytes)
  }

  /**
   * Pauses a stream if its client, or all clients together, hold too much memory. It may always hold one line, so that it makes
   * progress. `continueReading` of the stream ends the pause.
   *
   * @returns true if the stream has to wait
   */
  holdBack(share: ClientShare, body: HeldBody): boolean {
    const isShort = this.#isShortFor(share, body)
    if (isShort) this.#waiting.set(body, share)
    return isShort
  }

  /** Ends the receiving of a body. It keeps its memory until `release`. */
  finish(share: ClientShare, body: HeldBody): void {
    share.unfinished.delete(body)
    this.#forgetIfEmpty(share)
  }

  /**
   * Reserves memory for bytes that arrived. If there is none, bodies that have stalled lose theirs, those of the client that
   * holds the most first.
   *
   * @returns a problem if there is no memory
   */
  reserve(share: ClientShare, body: HeldBody, bytes: number): ProblemData | undefined {
    // The end of a body may arrive without bytes. It needs no memory, even if small bodies hold more than is left to large ones.
    if (bytes === 0) return undefined
    if (share.bytes + bytes > this.#limits.maxClientBodyBytes && !this.#makeRoomIn(share, body, bytes))
      return overloaded(
        'the request bodies of this client use all the memory that one client may use; send fewer at a time',
      )
    const limit = this.#limitFor(share, body, bytes)
    if (this.#bytes + bytes > limit && !this.#makeRoom(body, limit - bytes))
      return overloaded('too many bytes of request bodies are waiting')
    this.#bytes += bytes
    share.bytes += bytes
    body.heldBytes += bytes
    return undefined
  }

  /** Releases memory that a body no longer needs. */
  release(share: ClientShare, body: HeldBody, bytes: number): void {
    this.#bytes -= bytes
    share.bytes -= bytes
    body.heldBytes -= bytes
    this.#forgetIfEmpty(share)
    if (bytes > 0 && this.#waiting.size > 0) this.#continueStreams()
  }

  #isShortFor(share: ClientShare, body: HeldBody): boolean {
    const { maxBodyBytes, maxClientBodyBytes, maxInFlightBytes } = this.#limits
    const isMuch = share.bytes > maxClientBodyBytes * FREE_PART || this.#bytes > maxInFlightBytes / 2
    return isMuch && body.heldBytes > maxBodyBytes
  }

  #continueStreams(): void {
    for (const [body, share] of [...this.#waiting]) {
      if (this.#isShortFor(share, body)) continue
      this.#waiting.delete(body)
      body.continueReading()
    }
  }

  #forgetIfEmpty(share: ClientShare): void {
    const isEmpty = share.bytes === 0 && share.unfinished.size === 0 && share.streams === 0
    // A response that is still under way may have a share that was forgotten before. The client may have a newer one.
    if (isEmpty && this.#shares.get(share.owner) === share) this.#shares.delete(share.owner)
  }

  /** Returns how many bytes all bodies together may hold. The last of them are for small requests of clients that hold little. */
  #limitFor(share: ClientShare, body: HeldBody, bytes: number): number {
    const { maxInFlightBytes, smallBodyBytes, smallBodyReserveBytes } = this.#limits
    const isSmall = body.heldBytes + bytes <= smallBodyBytes && share.bytes + bytes <= smallBodyReserveBytes / 8
    return isSmall ? maxInFlightBytes : maxInFlightBytes - smallBodyReserveBytes
  }

  /** Ends stalled bodies of one client until `bytes` more fit into its share. */
  #makeRoomIn(share: ClientShare, body: HeldBody, bytes: number): boolean {
    return search(share, (nowMs) => {
      while (share.bytes + bytes > this.#limits.maxClientBodyBytes) {
        const stalled = stalledBody(share, body, nowMs)
        if (stalled === undefined) return false
        share.unfinished.delete(stalled)
        stalled.giveUp(STALLED)
      }
      return true
    })
  }

  /** Ends stalled bodies of any client until all bodies hold at most `limit` bytes. */
  #makeRoom(body: HeldBody, limit: number): boolean {
    return search(this.#pause, (nowMs) => {
      while (this.#bytes > limit) {
        let largest: ClientShare | undefined
        let victim: HeldBody | undefined
        for (const share of this.#shares.values()) {
          if (largest !== undefined && share.bytes <= largest.bytes) continue
          const stalled = stalledBody(share, body, nowMs)
          if (stalled === undefined) continue
          victim = stalled
          largest = share
        }
        if (largest === undefined || victim === undefined) return false
        largest.unfinished.delete(victim)
        victim.giveUp(STALLED)
      }
      return true
    })
  }
}

/** Searches for room, unless an earlier search has paused it. A client at its own limit must not pause the searches of others. */
function search(pause: { nextSearchMs: number }, makeRoom: (nowMs: number) => boolean): boolean {
  const nowMs = performance.now()
  if (nowMs < pause.nextSearchMs) return false
  const hasRoom = makeRoom(nowMs)
  if (!hasRoom) pause.nextSearchMs = nowMs + SEARCH_PAUSE_MS
  return hasRoom
}

/** Makes the problem of a request for which there is no room now. */
export function overloaded(detail: string): ProblemData {
  return { type: 'overloaded', detail, retryAfterSeconds: RETRY_SECONDS }
}

const STALLED = overloaded('the body stopped arriving, and other requests needed its memory')

/** Returns the body of a client that has been stalled for the longest time. @param except the body that needs the memory */
function stalledBody({ unfinished }: ClientShare, except: HeldBody, nowMs: number): HeldBody | undefined {
  let oldest: HeldBody | undefined
  for (const body of unfinished) {
    const isStalled = body !== except && body.isAwaited && body.heldBytes > 0 && nowMs - body.progressMs >= STALL_MS
    if (isStalled && (oldest === undefined || body.progressMs < oldest.progressMs)) oldest = body
  }
  return oldest
}
