import { attestationUid } from '../attest/uid.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { Hex } from '../messages.ts'
import type { LogSource } from './eas-logs.ts'
import type { AttestedFields } from './location-record.ts'
import { decodeAggregate, encodeAggregate, MULTICALL3 } from './multicall.ts'
import { type RpcClient, RpcError } from './rpc.ts'

/** `getAttestation(bytes32)` */
const SELECTOR = 'a3112a64'
/** Attestations of one message. As JSON-RPC each is a call of its own; providers cap arrays, and the gas of one call. */
const CALLS_PER_BATCH = 200
const CALLS_PER_AGGREGATE = 100
/** The endpoint works on one while we read the other. */
const BATCHES_AT_ONCE = 2

/** An attestation as an endpoint gave it, compared with its UID. */
export type ReadAttestation =
  | ({
      readonly state: 'ok'
      /** Seconds; 0 while it is valid. */
      readonly revokedSeconds: number
    } & AttestedFields)
  /** The contract has none. */
  | { readonly state: 'missing'; readonly uid: Hex }
  /** Fields that are not those of the UID, or of another schema: whoever answered lies or is broken. */
  | { readonly state: 'wrong'; readonly uid: Hex }
  /** The answer is larger than what is read of an RPC. */
  | { readonly state: 'too-large'; readonly uid: Hex }

export interface AttestationReaderParts {
  readonly source: LogSource
  readonly keccak: Keccak
  /** Attestations with equal fields in one block differ by a counter; beyond this many an answer is taken for a false one. */
  readonly maxBumps: number
}

export interface AttestationReader {
  /**
   * Reads attestations as they are now: what their UID covers never changes, so it does not matter at which block.
   *
   * @returns one for each UID, in their order
   * @throws {RpcError} when the endpoint does not answer
   */
  read(rpc: RpcClient, uids: readonly Hex[]): Promise<ReadAttestation[]>
}

export function createAttestationReader({ source, keccak, maxBumps }: AttestationReaderParts): AttestationReader {
  const { easAddress, schemas } = source
  /** Whether an endpoint's chain has Multicall3; asked once. */
  const hasMulticall = new WeakMap<RpcClient, boolean>()
  /** Of contents met in this process, how many there were: equal attestations of one block differ by it. */
  const bumps = new Map<string, number>()

  return {
    async read(rpc, uids) {
      const found: ReadAttestation[] = []
      bumps.clear()
      const useMulticall = uids.length > 8 && (await findMulticall(rpc))
      const size = useMulticall ? CALLS_PER_AGGREGATE : CALLS_PER_BATCH
      for (let start = 0; start < uids.length; start += BATCHES_AT_ONCE * size) {
        const batches = Array.from({ length: BATCHES_AT_ONCE }, (_, index) =>
          readSome(rpc, uids.slice(start + index * size, start + (index + 1) * size), useMulticall),
        )
        found.push(...(await Promise.all(batches)).flat())
      }
      return found
    },
  }

  async function findMulticall(rpc: RpcClient): Promise<boolean> {
    let answer = hasMulticall.get(rpc)
    if (answer === undefined) {
      const code = await rpc.request('eth_getCode', [MULTICALL3, 'latest'])
      answer = typeof code === 'string' && code.length > 2
      hasMulticall.set(rpc, answer)
    }
    return answer
  }

  async function readSome(rpc: RpcClient, uids: readonly Hex[], useMulticall: boolean): Promise<ReadAttestation[]> {
    if (uids.length === 0) return []
    try {
      const answers = useMulticall ? await aggregate(rpc, uids) : await single(rpc, uids)
      return answers.map((answer, index) => judge(uids[index]!, answer))
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      if (useMulticall && error.failure === 'error') {
        hasMulticall.set(rpc, false)
        return readSome(rpc, uids, false)
      }
      if (error.failure !== 'too-large') throw error
      if (uids.length === 1) return [{ state: 'too-large', uid: uids[0]! }]
      const half = uids.length >> 1
      return [
        ...(await readSome(rpc, uids.slice(0, half), useMulticall)),
        ...(await readSome(rpc, uids.slice(half), useMulticall)),
      ]
    }
  }

  async function single(rpc: RpcClient, uids: readonly Hex[]): Promise<string[]> {
    const answers = await rpc.requestAll(
      uids.map((uid) => ({
        method: 'eth_call',
        params: [{ to: easAddress, data: `0x${SELECTOR}${uid.slice(2)}` }, 'latest'],
      })),
    )
    return answers.map((answer) => {
      if (!answer.ok) throw answer.error
      return typeof answer.value === 'string' ? answer.value : ''
    })
  }

  async function aggregate(rpc: RpcClient, uids: readonly Hex[]): Promise<string[]> {
    const data = encodeAggregate(
      easAddress,
      uids.map((uid) => SELECTOR + uid.slice(2)),
    )
    const answer = await rpc.request('eth_call', [{ to: MULTICALL3, data }, 'latest'])
    return decodeAggregate(answer, uids.length)
  }

  function judge(uid: Hex, answer: string): ReadAttestation {
    const fields = decodeAttestation(answer)
    if (fields === undefined) return { state: 'wrong', uid }
    if (/^0*$/.test(fields.uid)) return { state: 'missing', uid }
    const layout = schemas.get(`0x${fields.schema}`)
    if (`0x${fields.uid}` !== uid || layout === undefined || !hasUid(fields, uid)) return { state: 'wrong', uid }
    return {
      state: 'ok',
      uid,
      layout,
      attester: `0x${fields.attester}`,
      recipient: `0x${fields.recipient}`,
      timeSeconds: Number(`0x${fields.time}`),
      revokedSeconds: Number(`0x${fields.revocationTime}`),
      data: `0x${fields.data}`,
    }
  }

  /** The UID is a hash of the fields: an answer with other fields is no attestation of that UID. */
  function hasUid(fields: RawAttestation, uid: Hex): boolean {
    const covered = {
      schema: `0x${fields.schema}`,
      recipient: `0x${fields.recipient}`,
      attester: `0x${fields.attester}`,
      timeSeconds: BigInt(`0x${fields.time}`),
      expirationTimeSeconds: BigInt(`0x${fields.expirationTime}`),
      revocable: fields.revocable,
      refUID: `0x${fields.refUID}`,
      data: `0x${fields.data}`,
    }
    const first = attestationUid(covered, keccak, 0)
    if (first === uid) return true
    // Of many equal ones in a block the next is likely the one after the last that was met.
    const next = (bumps.get(first) ?? 0) + 1
    for (let tried = 0, bump = next; tried < maxBumps; tried++, bump = (bump % maxBumps) + 1) {
      if (attestationUid(covered, keccak, bump) !== uid) continue
      bumps.set(first, bump)
      return true
    }
    return false
  }
}

/** Hex digits without 0x, lower case. */
interface RawAttestation {
  readonly uid: string
  readonly schema: string
  readonly time: string
  readonly expirationTime: string
  readonly revocationTime: string
  readonly refUID: string
  readonly recipient: string
  readonly attester: string
  readonly revocable: boolean
  readonly data: string
}

const WORD = 64
const HEAD_WORDS = 10
/** Of the data within the structure. */
const DATA_OFFSET = `${'0'.repeat(61)}140`
const STRUCT_OFFSET = `${'0'.repeat(62)}20`

/**
 * The structure that `getAttestation` returns, cut from its hex digits: a general decoder takes thirty times as long.
 *
 * @returns undefined when the answer is not one
 */
function decodeAttestation(answer: string): RawAttestation | undefined {
  if (!/^0x[0-9a-fA-F]*$/.test(answer)) return undefined
  const digits = answer.slice(2).toLowerCase()
  const word = (index: number) => digits.slice((index + 1) * WORD, (index + 2) * WORD)
  const short = (index: number, length: number) => {
    const text = word(index)
    return text.startsWith('0'.repeat(WORD - length)) ? text.slice(WORD - length) : undefined
  }
  if (digits.length < (HEAD_WORDS + 2) * WORD || !digits.startsWith(STRUCT_OFFSET) || word(9) !== DATA_OFFSET)
    return undefined
  const dataLength = short(HEAD_WORDS, 12)
  const [time, expirationTime, revocationTime] = [short(2, 16), short(3, 16), short(4, 16)]
  const [recipient, attester, revocable] = [short(6, 40), short(7, 40), short(8, 1)]
  if (dataLength === undefined || time === undefined || expirationTime === undefined || revocationTime === undefined)
    return undefined
  if (recipient === undefined || attester === undefined || (revocable !== '0' && revocable !== '1')) return undefined
  const start = (HEAD_WORDS + 2) * WORD
  const end = start + 2 * Number.parseInt(dataLength, 16)
  if (end > digits.length || !Number.isSafeInteger(Number(`0x${time}`))) return undefined
  return {
    uid: word(0),
    schema: word(1),
    time,
    expirationTime,
    revocationTime,
    refUID: word(5),
    recipient,
    attester,
    revocable: revocable === '1',
    data: digits.slice(start, end),
  }
}
