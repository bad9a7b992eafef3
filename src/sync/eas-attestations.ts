import { attestationUid, ZERO_UID } from '../attest/uid.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { Hex } from '../wire/values.ts'
import type { LogSource } from './chain-reader.ts'
import type { AttestedFields } from './location-record.ts'
import { type RpcCall, type RpcClient, RpcError, toQuantity } from './rpc.ts'

/** Multicall3, at the same address on every chain that has it. */
export const MULTICALL3: Hex = '0xca11bde05977b3631167028862be2a173976ca11'

/** `aggregate3((address,bool,bytes)[])` */
const AGGREGATE_SELECTOR = '82ad56cb'
/** Hex digits of a 32-byte word. */
const WORD_DIGITS = 64

/**
 * Encodes several calls of one contract as one. A call that reverts does not affect the others.
 *
 * @param calls calldata of each call, hex digits without 0x
 */
export function encodeAggregate(target: Hex, calls: readonly string[]): Hex {
  const address = padWord(target.slice(2).toLowerCase())
  const encodedCalls = calls.map((call) => {
    const padded = call.padEnd(Math.ceil(call.length / WORD_DIGITS) * WORD_DIGITS, '0')
    return address + encodeNumber(1) + encodeNumber(96) + encodeNumber(call.length / 2) + padded
  })
  let offset = 32 * calls.length
  let offsets = ''
  for (const encodedCall of encodedCalls) {
    offsets += encodeNumber(offset)
    offset += encodedCall.length / 2
  }
  return `0x${AGGREGATE_SELECTOR}${encodeNumber(32)}${encodeNumber(calls.length)}${offsets}${encodedCalls.join('')}`
}

/**
 * Decodes the response to calldata of `encodeAggregate`.
 *
 * @param count number of calls
 * @returns the result of each call in hex; `0x` for a call that reverted
 * @throws {RpcError} when the response has another form
 */
export function decodeAggregate(response: unknown, count: number): string[] {
  const digits = typeof response === 'string' && /^0x[0-9a-fA-F]*$/.test(response) ? response.slice(2) : ''
  /** Reads the number at a byte offset. */
  const readNumber = (byte: number): number => {
    const text = digits.slice(2 * byte, 2 * byte + WORD_DIGITS)
    const value = text.length === WORD_DIGITS && /^0{52}/.test(text) ? Number.parseInt(text.slice(52), 16) : Number.NaN
    if (Number.isNaN(value)) throw new RpcError('aggregate3: the response is truncated')
    return value
  }
  const list = readNumber(0)
  if (readNumber(list) !== count) throw new RpcError('aggregate3: the number of results is not the number of calls')
  const base = list + 32
  return Array.from({ length: count }, (_, index) => {
    const item = base + readNumber(base + 32 * index)
    const bytes = item + readNumber(item + 32)
    const end = 2 * (bytes + 32 + readNumber(bytes))
    if (end > digits.length) throw new RpcError('aggregate3: the response is truncated')
    return readNumber(item) === 1 ? `0x${digits.slice(2 * (bytes + 32), end)}` : '0x'
  })
}

const padWord = (digits: string) => digits.padStart(WORD_DIGITS, '0')
const encodeNumber = (value: number) => padWord(value.toString(16))

/** `getAttestation(bytes32)` */
const ATTESTATION_SELECTOR = 'a3112a64'

/** Returns the call that reads an attestation at a block; `decodeAttestation` reads its response. */
export function attestationCall(easAddress: Hex, uid: Hex, block = 'latest'): RpcCall {
  return {
    method: 'eth_call',
    params: [{ to: easAddress, data: `0x${ATTESTATION_SELECTOR}${uid.slice(2)}` }, block],
  }
}

/** Attestations per JSON-RPC batch, which has one call for each. Providers limit the size of a batch. */
const CALLS_PER_BATCH = 200
/** Attestations per call of Multicall3. Providers limit the gas of a call. */
const CALLS_PER_AGGREGATE = 100
/** Two batches at once, so that the endpoint works on one while we read the other. */
const BATCHES_AT_ONCE = 2

/** An attestation from an endpoint after comparison with its UID. */
export type ReadAttestation =
  | ({
      readonly state: 'ok'
      /** Time of the revocation in seconds; 0 while the attestation is valid. */
      readonly revokedSeconds: number
    } & AttestedFields)
  /** The contract has no such attestation. */
  | { readonly state: 'missing'; readonly uid: Hex }
  /** The fields do not match the UID, or the schema is another one: the endpoint lies or is broken. */
  | { readonly state: 'wrong'; readonly uid: Hex }
  /** The response exceeds the size limit of RPC responses. */
  | { readonly state: 'too-large'; readonly uid: Hex }

interface AttestationReaderParts {
  readonly source: LogSource
  readonly keccak: Keccak
  /** Attestations with equal fields in one block differ by a counter. A response with a higher counter is treated as wrong. */
  readonly maxBumps: number
}

/** Reads attestations from the EAS contract and compares each with its UID. */
export class AttestationReader {
  readonly #easAddress: Hex
  readonly #schemas: LogSource['schemas']
  readonly #keccak: Keccak
  readonly #maxBumps: number
  /** Whether an endpoint's chain has Multicall3; looked up once. */
  readonly #hasMulticall = new WeakMap<RpcClient, boolean>()
  /** The last counter seen for each set of equal attestations, by the UID that its fields have with counter 0. */
  readonly #bumps = new Map<string, number>()

  constructor({ source, keccak, maxBumps }: AttestationReaderParts) {
    this.#easAddress = source.easAddress
    this.#schemas = source.schemas
    this.#keccak = keccak
    this.#maxBumps = maxBumps
  }

  /**
   * Reads attestations. The fields that a UID covers never change, so the block does not matter for them.
   *
   * @param atBlock the block number; omitted: the latest block
   * @returns one result for each UID, in the same order
   * @throws {RpcError} when the endpoint does not respond
   */
  async read(rpc: RpcClient, uids: readonly Hex[], atBlock?: number): Promise<ReadAttestation[]> {
    const attestations: ReadAttestation[] = []
    const block = atBlock === undefined ? 'latest' : toQuantity(atBlock)
    this.#bumps.clear()
    const useMulticall = uids.length > 8 && (await this.#supportsMulticall(rpc))
    const size = useMulticall ? CALLS_PER_AGGREGATE : CALLS_PER_BATCH
    for (let start = 0; start < uids.length; start += BATCHES_AT_ONCE * size) {
      const batches = Array.from({ length: BATCHES_AT_ONCE }, (_, index) =>
        this.#readBatch(rpc, uids.slice(start + index * size, start + (index + 1) * size), block, useMulticall),
      )
      attestations.push(...(await Promise.all(batches)).flat())
    }
    return attestations
  }

  /** Tells whether an endpoint's chain has Multicall3. */
  async #supportsMulticall(rpc: RpcClient): Promise<boolean> {
    let hasCode = this.#hasMulticall.get(rpc)
    if (hasCode === undefined) {
      const code = await rpc.request('eth_getCode', [MULTICALL3, 'latest'])
      hasCode = typeof code === 'string' && code.length > 2
      this.#hasMulticall.set(rpc, hasCode)
    }
    return hasCode
  }

  /** Reads attestations in one request, or in two halves if the response is too large. */
  async #readBatch(
    rpc: RpcClient,
    uids: readonly Hex[],
    block: string,
    useMulticall: boolean,
  ): Promise<ReadAttestation[]> {
    if (uids.length === 0) return []
    try {
      const responses = useMulticall
        ? await this.#callAggregate(rpc, uids, block)
        : await this.#callSeparately(rpc, uids, block)
      return responses.map((response, index) => this.#checkAttestation(uids[index]!, response))
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      if (useMulticall && error.failure === 'error') {
        this.#hasMulticall.set(rpc, false)
        return this.#readBatch(rpc, uids, block, false)
      }
      if (error.failure !== 'too-large') throw error
      if (uids.length === 1) return [{ state: 'too-large', uid: uids[0]! }]
      const half = uids.length >> 1
      return [
        ...(await this.#readBatch(rpc, uids.slice(0, half), block, useMulticall)),
        ...(await this.#readBatch(rpc, uids.slice(half), block, useMulticall)),
      ]
    }
  }

  /** Calls the contract once for each attestation, in one JSON-RPC batch. Returns the responses in hex. */
  async #callSeparately(rpc: RpcClient, uids: readonly Hex[], block: string): Promise<string[]> {
    const responses = await rpc.requestAll(uids.map((uid) => attestationCall(this.#easAddress, uid, block)))
    return responses.map((response) => {
      if (!response.ok) throw response.error
      return typeof response.value === 'string' ? response.value : ''
    })
  }

  /** Reads all attestations in one call of Multicall3. Returns the responses in hex. */
  async #callAggregate(rpc: RpcClient, uids: readonly Hex[], block: string): Promise<string[]> {
    const data = encodeAggregate(
      this.#easAddress,
      uids.map((uid) => ATTESTATION_SELECTOR + uid.slice(2)),
    )
    const response = await rpc.request('eth_call', [{ to: MULTICALL3, data }, block])
    return decodeAggregate(response, uids.length)
  }

  /** Decodes a response and compares it with the requested UID. */
  #checkAttestation(uid: Hex, response: string): ReadAttestation {
    const fields = decodeAttestation(response)
    if (fields === undefined) return { state: 'wrong', uid }
    if (fields.uid === ZERO_UID) return { state: 'missing', uid }
    const layout = this.#schemas.get(fields.schema)
    if (fields.uid !== uid || layout === undefined || !this.#hasUid(fields, uid)) return { state: 'wrong', uid }
    const { attester, recipient, timeSeconds, revocationTimeSeconds, data } = fields
    return { state: 'ok', uid, layout, attester, recipient, timeSeconds, revokedSeconds: revocationTimeSeconds, data }
  }

  /** Tells whether the fields hash to the UID; otherwise they belong to another attestation. */
  #hasUid(fields: EasAttestation, uid: Hex): boolean {
    const first = attestationUid(fields, this.#keccak, 0)
    if (first === uid) return true
    // Among many equal attestations of a block, the next one most likely has the counter after the last one seen.
    const next = (this.#bumps.get(first) ?? 0) + 1
    for (let tried = 0, bump = next; tried < this.#maxBumps; tried++, bump = (bump % this.#maxBumps) + 1) {
      if (attestationUid(fields, this.#keccak, bump) !== uid) continue
      this.#bumps.set(first, bump)
      return true
    }
    return false
  }
}

/** An attestation as the contract returns it, with hex in lower case. All fields are zero when there is none. */
interface EasAttestation {
  readonly uid: Hex
  readonly schema: Hex
  readonly timeSeconds: number
  readonly expirationTimeSeconds: bigint
  readonly revocationTimeSeconds: number
  readonly refUID: Hex
  readonly recipient: Hex
  readonly attester: Hex
  readonly revocable: boolean
  readonly data: Hex
}

const HEAD_WORDS = 10
/** Offset of the data within the structure. */
const DATA_OFFSET = `${'0'.repeat(61)}140`
const STRUCT_OFFSET = `${'0'.repeat(62)}20`

/**
 * Decodes the structure that `getAttestation` returns. A general decoder takes thirty times as long.
 *
 * @returns undefined when the response is not such a structure
 */
export function decodeAttestation(response: string): EasAttestation | undefined {
  if (!/^0x[0-9a-fA-F]*$/.test(response)) return undefined
  const digits = response.slice(2).toLowerCase()
  const word = (index: number) => digits.slice((index + 1) * WORD_DIGITS, (index + 2) * WORD_DIGITS)
  const shortWord = (index: number, length: number) => {
    const text = word(index)
    return text.startsWith('0'.repeat(WORD_DIGITS - length)) ? text.slice(WORD_DIGITS - length) : undefined
  }
  if (digits.length < (HEAD_WORDS + 2) * WORD_DIGITS || !digits.startsWith(STRUCT_OFFSET) || word(9) !== DATA_OFFSET)
    return undefined
  const dataLength = shortWord(HEAD_WORDS, 12)
  const [time, expirationTime, revocationTime] = [shortWord(2, 16), shortWord(3, 16), shortWord(4, 16)]
  const [recipient, attester, revocable] = [shortWord(6, 40), shortWord(7, 40), shortWord(8, 1)]
  if (dataLength === undefined || time === undefined || expirationTime === undefined || revocationTime === undefined)
    return undefined
  if (recipient === undefined || attester === undefined || (revocable !== '0' && revocable !== '1')) return undefined
  const start = (HEAD_WORDS + 2) * WORD_DIGITS
  const end = start + 2 * Number.parseInt(dataLength, 16)
  const [timeSeconds, revocationTimeSeconds] = [Number(`0x${time}`), Number(`0x${revocationTime}`)]
  // An honest contract has times of blocks. The store has no room for much larger ones.
  const areTimes = Number.isSafeInteger(timeSeconds) && Number.isSafeInteger(revocationTimeSeconds)
  if (end > digits.length || !areTimes) return undefined
  return {
    uid: `0x${word(0)}`,
    schema: `0x${word(1)}`,
    timeSeconds,
    expirationTimeSeconds: BigInt(`0x${expirationTime}`),
    revocationTimeSeconds,
    refUID: `0x${word(5)}`,
    recipient: `0x${recipient}`,
    attester: `0x${attester}`,
    revocable: revocable === '1',
    data: `0x${digits.slice(start, end)}`,
  }
}
