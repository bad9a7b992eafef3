import type { LocationLayout } from '../config/signer.ts'
import type { Hex } from '../wire/values.ts'
import { parseBytes32, parseQuantity, RpcError } from './rpc.ts'

/** Topics of `Attested` and `Revoked` of every EAS version. Recipient, attester and schema UID are indexed; the data is the UID. */
export const ATTESTED = '0x8bf46bf4cfd674fa735a3d63ec1c9ad4153f033c290341f3a588b75685141b35'
const REVOKED = '0xf930a6e2523c9cc298691873087a740550b8fc85a0680830414c148ed927f615'

export interface EasLog {
  readonly kind: 'attested' | 'revoked'
  readonly uid: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly logIndex: number
}

/** The contract and the schemas of location attestations whose logs are read. */
export interface LogSource {
  readonly easAddress: Hex
  /** Schema UIDs in lower case, each with the layout of its attestations. */
  readonly schemas: ReadonlyMap<Hex, LocationLayout>
}

/** Returns the `eth_getLogs` filter for both events, without a block range. */
export function createLogFilter({ easAddress, schemas }: LogSource): object {
  return { address: easAddress, topics: [[ATTESTED, REVOKED], null, null, [...schemas.keys()]] }
}

/**
 * Reads the response of `eth_getLogs`. Returns each log once, in the order of the chain.
 *
 * @throws {RpcError} when the response does not match the request
 */
export function readLogs(response: unknown, source: LogSource, from: number, to: number): EasLog[] {
  if (!Array.isArray(response)) throw new RpcError('eth_getLogs: the response is not a list')
  const logs = new Map<string, EasLog>()
  for (const entry of response) {
    const log = readLog(entry, source)
    if (log === undefined) continue
    if (log.blockNumber < from || log.blockNumber > to)
      throw new RpcError('eth_getLogs: the response has a log outside the requested blocks')
    logs.set(`${log.blockHash} ${log.logIndex}`, log)
  }
  return [...logs.values()].sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}

/** Reads a log. Returns undefined for a log that the node marks as removed. */
function readLog(entry: unknown, { easAddress, schemas }: LogSource): EasLog | undefined {
  const { address, topics, data, blockNumber, blockHash, logIndex, removed } = (entry ?? {}) as Record<string, unknown>
  if (removed === true) return undefined
  const [event, , , schema] = Array.isArray(topics) ? topics : []
  const isRequested =
    typeof address === 'string' && address.toLowerCase() === easAddress.toLowerCase() && schemas.has(schema)
  if (!isRequested || (event !== ATTESTED && event !== REVOKED))
    throw new RpcError('eth_getLogs: the response has a log that was not requested')
  if (typeof data !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(data))
    throw new RpcError('eth_getLogs: the response has a log without a UID')
  return {
    kind: event === ATTESTED ? 'attested' : 'revoked',
    uid: data.toLowerCase() as Hex,
    blockNumber: parseQuantity(blockNumber),
    blockHash: parseBytes32(blockHash),
    logIndex: parseQuantity(logIndex),
  }
}

/** Returns at most `about` logs from the start, cut at the end of a block. The first block is never cut, so there may be more. */
export function takeWholeBlocks(logs: readonly EasLog[], about: number): readonly EasLog[] {
  if (logs.length <= about) return logs
  const edge = logs[about]!.blockNumber
  const before = logs.filter(({ blockNumber }) => blockNumber < edge)
  return before.length > 0 ? before : logs.filter(({ blockNumber }) => blockNumber === edge)
}
