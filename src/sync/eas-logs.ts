import type { LocationLayout } from '../config.ts'
import type { Hex } from '../messages.ts'
import { bytes32, quantity } from './quantities.ts'
import { RpcError } from './rpc.ts'

/** `Attested` and `Revoked` of every version of EAS: recipient, attester and schema UID indexed, the UID in the data. */
const ATTESTED = '0x8bf46bf4cfd674fa735a3d63ec1c9ad4153f033c290341f3a588b75685141b35'
const REVOKED = '0xf930a6e2523c9cc298691873087a740550b8fc85a0680830414c148ed927f615'

export interface EasLog {
  readonly kind: 'attested' | 'revoked'
  readonly uid: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly logIndex: number
}

/** Where logs come from: the contract and the schemas of location attestations. */
export interface LogSource {
  readonly easAddress: Hex
  /** UIDs, lower case, and the layout of what is attested under each. */
  readonly schemas: ReadonlyMap<Hex, LocationLayout>
}

/** The filter of `eth_getLogs` for both events at once, without its blocks. */
export function logFilter({ easAddress, schemas }: LogSource): object {
  return { address: easAddress, topics: [[ATTESTED, REVOKED], null, null, [...schemas.keys()]] }
}

/**
 * Reads the answer to `eth_getLogs`: sorted as the chain has them, each once.
 *
 * @throws {RpcError} when the answer is not of the question
 */
export function readLogs(answer: unknown, source: LogSource, from: number, to: number): EasLog[] {
  if (!Array.isArray(answer)) throw new RpcError('eth_getLogs: not a list')
  const logs = new Map<string, EasLog>()
  for (const entry of answer) {
    const log = readLog(entry, source)
    if (log === undefined) continue
    if (log.blockNumber < from || log.blockNumber > to)
      throw new RpcError('eth_getLogs: a log outside the blocks asked for')
    logs.set(`${log.blockHash} ${log.logIndex}`, log)
  }
  return [...logs.values()].sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}

/** @returns undefined for a log that a node says is gone */
function readLog(entry: unknown, { easAddress, schemas }: LogSource): EasLog | undefined {
  const { address, topics, data, blockNumber, blockHash, logIndex, removed } = (entry ?? {}) as Record<string, unknown>
  if (removed === true) return undefined
  const [event, , , schema] = Array.isArray(topics) ? topics : []
  const isOurs =
    typeof address === 'string' && address.toLowerCase() === easAddress.toLowerCase() && schemas.has(schema)
  if (!isOurs || (event !== ATTESTED && event !== REVOKED))
    throw new RpcError('eth_getLogs: a log that was not asked for')
  if (typeof data !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(data))
    throw new RpcError('eth_getLogs: a log without a UID')
  return {
    kind: event === ATTESTED ? 'attested' : 'revoked',
    uid: data.toLowerCase() as Hex,
    blockNumber: quantity(blockNumber),
    blockHash: bytes32(blockHash),
    logIndex: quantity(logIndex),
  }
}

/** The first logs up to the end of a block: about so many, and the whole of the first block however many it has. */
export function wholeBlocks(logs: readonly EasLog[], about: number): readonly EasLog[] {
  if (logs.length <= about) return logs
  const edge = logs[about]!.blockNumber
  const before = logs.filter(({ blockNumber }) => blockNumber < edge)
  return before.length > 0 ? before : logs.filter(({ blockNumber }) => blockNumber === edge)
}
