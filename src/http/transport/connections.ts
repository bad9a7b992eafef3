/** Shares of connections: how many an address may have open, so that others find room. */

import type { HttpResponse } from 'uWebSockets.js'
import { ClientCounts } from '../../base/client-counts.ts'
import { type AddressRange, unmapIpv4 } from '../../base/ip-address.ts'
import type { Limits } from '../../config/config.ts'
import { type AddressKey, addressKey, isInRanges, parseRanges } from '../access/caller.ts'

export type ConnectionLimits = Pick<Limits, 'maxConnections' | 'maxConnectionsPerAddress'>

/** Counts the open connections of each address. A trusted proxy has no limit, because it brings the requests of many clients. */
export class AddressShares {
  readonly #limit: number
  readonly #trusted: readonly AddressRange[]
  #open = new ClientCounts()

  /** @param trustedProxies addresses and CIDR ranges */
  constructor({ maxConnectionsPerAddress }: ConnectionLimits, trustedProxies: readonly string[]) {
    this.#limit = maxConnectionsPerAddress
    this.#trusted = parseRanges(trustedProxies)
  }

  /** @param address 4 or 16 bytes @returns the key for the other methods; undefined for a trusted proxy */
  key(address: Uint8Array): AddressKey | undefined {
    return isInRanges(unmapIpv4(address), this.#trusted) ? undefined : addressKey(address)
  }

  isFull(key: AddressKey): boolean {
    return this.#open.of(key) >= this.#limit
  }

  add(key: AddressKey): void {
    this.#open.add(key)
  }

  remove(key: AddressKey): void {
    this.#open.remove(key)
  }

  clear(): void {
    this.#open = new ClientCounts()
  }
}

/** @returns 4 or 16 bytes; 0.0.0.0 for a connection that the client has reset, of which the system knows no address any more */
export function peerAddress(response: Pick<HttpResponse, 'getRemoteAddress'>): Uint8Array {
  const bytes = new Uint8Array(response.getRemoteAddress())
  return bytes.length === 0 ? new Uint8Array(4) : bytes
}

/**
 * The connections of uWebSockets.js, which tells neither which connection a request came on nor, for one that is idle after a
 * response, whose connection has closed. So addresses are counted only while half of all connections are in use. During that time,
 * each response closes its connection, so that every end is seen, and no connection from before lives longer than the idle time
 * of uWebSockets.js without a request. An address then has at most what it had at the beginning, and its share.
 */
export class UwsConnections {
  readonly #limits: ConnectionLimits
  readonly #shares: AddressShares
  #count = 0
  #isCrowded = false

  constructor(limits: ConnectionLimits, trustedProxies: readonly string[]) {
    this.#limits = limits
    this.#shares = new AddressShares(limits, trustedProxies)
  }

  /** True while responses close their connections. */
  get isCrowded(): boolean {
    return this.#isCrowded
  }

  /** Number of open connections. */
  get count(): number {
    return this.#count
  }

  /** True if a request that arrives now is answered with 503. */
  get isFull(): boolean {
    return this.#count > this.#limits.maxConnections
  }

  /** Called when a connection has opened (1) or closed (-1). Closes a new one that is beyond a share. */
  change(connection: HttpResponse, change: number): void {
    this.#count += change
    const { maxConnections } = this.#limits
    if (change < 0) {
      if (this.#isCrowded && this.#count < maxConnections / 4) this.#endCrowd()
      return
    }
    this.#isCrowded ||= this.#count > maxConnections / 2
    if (!this.#isCrowded) return
    const key = this.#shares.key(peerAddress(connection))
    // Some connections beyond the limit stay open, so that their clients get 503.
    if (this.#count > (9 / 8) * maxConnections || (key !== undefined && this.#shares.isFull(key))) connection.close()
    else if (key !== undefined) {
      this.#shares.add(key)
      // Called if the connection closes before its first request. A request registers its own listener instead.
      connection.onAborted(() => this.#shares.remove(key))
    }
  }

  /**
   * Tells whether the connection of a request has to close after the response.
   *
   * @returns undefined if it may stay open; otherwise a function to call at the end of the request
   */
  closing(response: HttpResponse): (() => void) | undefined {
    if (!this.#isCrowded) return undefined
    const key = this.#shares.key(peerAddress(response))
    return key === undefined ? undefined : () => this.#shares.remove(key)
  }

  #endCrowd(): void {
    this.#isCrowded = false
    this.#shares.clear()
  }
}
