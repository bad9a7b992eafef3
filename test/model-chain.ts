/** A chain in memory with location attestations, and endpoints of it that fail in every possible way. */
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { SCHEMA_STRINGS, schemaUids } from '../src/attest/schemas.ts'
import { attestationUid } from '../src/attest/uid.ts'
import { readConfig } from '../src/config/config.ts'
import type { Keccak } from '../src/crypto/primitives.ts'
import { type RpcCall, type RpcClient, RpcError, type RpcResult } from '../src/sync/rpc.ts'
import type { Hex } from '../src/wire/values.ts'

export const MODEL_CHAIN = {
  id: 84532,
  name: 'base-sepolia',
  easAddress: '0x4200000000000000000000000000000000000021' as Hex,
  startBlock: 0,
  finalityDepth: 8,
}
export const MODEL_SCHEMA = schemaUids(readConfig({}, 1)).location

const TOPICS = {
  attested: '0x8bf46bf4cfd674fa735a3d63ec1c9ad4153f033c290341f3a588b75685141b35',
  revoked: '0xf930a6e2523c9cc298691873087a740550b8fc85a0680830414c148ed927f615',
}

const location = (type: string, text: string, seconds = 1_700_000_000n): Hex =>
  encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), [
    seconds,
    'EPSG:4326',
    type,
    text,
    ['gps'],
    ['0x0102'],
    [],
    [],
    'memo',
  ])

/** Data of attestations: most of it valid, some not. */
const CONTENTS: readonly Hex[] = [
  ...Array.from({ length: 8 }, (_, index) =>
    location('geojson-point', `{"type":"Point","coordinates":[${index * 20},${index * 10}]}`),
  ),
  location('geojson-polygon', '{"type":"Polygon","coordinates":[[[179,1],[-179,1],[-179,2],[179,1]]]}'),
  location('coordinate-decimal+lon-lat', '2.35, 48.85'),
  location('geojson-point', 'not JSON \u0000 at all'),
  location('geojson-point', '{"type":"Point","coordinates":[500,0]}'),
  location('geojson-point', '{"type":"Point","coordinates":[0,0]}', 2n ** 256n - 1n),
  '0x1234',
]

interface Attestation {
  readonly uid: Hex
  readonly time: number
  readonly recipient: Hex
  readonly data: Hex
  readonly bump: number
}

interface ModelLog {
  readonly kind: 'attested' | 'revoked'
  readonly uid: Hex
}

interface ModelBlock {
  readonly number: number
  readonly hash: Hex
  readonly parentHash: Hex
  readonly time: number
  readonly logs: readonly ModelLog[]
}

export class ModelChain {
  readonly blocks: ModelBlock[] = []
  readonly #attestations = new Map<Hex, Attestation & { block: number; revokedTime: number; revokedBlock: number }>()
  readonly #keccak: Keccak
  readonly #random: () => number
  #serial = 0
  #time = 1_750_000_000

  constructor(keccak: Keccak, random: () => number) {
    this.#keccak = keccak
    this.#random = random
    this.mine(0, 0)
  }

  get head(): ModelBlock {
    return this.blocks.at(-1)!
  }

  /** Adds a block with new attestations and revocations. Equal attestations have UIDs that differ only by the bump. */
  mine(attestations: number, revocations: number): void {
    const number = this.blocks.length
    this.#time += this.#random() < 0.3 ? 0 : 1 // several blocks of one second
    const time = this.#time
    const logs: ModelLog[] = []
    for (let count = 0; count < attestations; count++) {
      const data = CONTENTS[Math.floor(this.#random() * CONTENTS.length)]!
      const recipient: Hex = `0x${Math.floor(this.#random() * 3)
        .toString(16)
        .padStart(40, '0')}`
      for (let bump = 0; ; bump++) {
        const uid = this.#uidOf({ time, recipient, data, bump })
        if (this.#attestations.has(uid)) continue
        this.#attestations.set(uid, {
          uid,
          time,
          recipient,
          data,
          bump,
          block: number,
          revokedTime: 0,
          revokedBlock: -1,
        })
        logs.push({ kind: 'attested', uid })
        break
      }
    }
    const valid = [...this.#attestations.values()].filter(({ revokedTime }) => revokedTime === 0)
    for (let count = 0; count < revocations && valid.length > 0; count++) {
      const [chosen] = valid.splice(Math.floor(this.#random() * valid.length), 1)
      chosen!.revokedTime = time
      chosen!.revokedBlock = number
      logs.push({ kind: 'revoked', uid: chosen!.uid })
    }
    const parentHash = this.blocks.at(-1)?.hash ?? `0x${'0'.repeat(64)}`
    const hash: Hex = `0x${(++this.#serial).toString(16).padStart(8, '0')}${Math.floor(this.#random() * 2 ** 32)
      .toString(16)
      .padStart(56, '0')}`
    this.blocks.push({ number, hash, parentHash, time, logs })
  }

  /** Removes the newest blocks and everything that was done in them. */
  drop(depth: number): void {
    const length = Math.max(1, this.blocks.length - depth)
    this.blocks.length = length
    for (const [uid, kept] of this.#attestations) {
      if (kept.block >= length) this.#attestations.delete(uid)
      else if (kept.revokedBlock >= length) Object.assign(kept, { revokedTime: 0, revokedBlock: -1 })
    }
    this.#time = this.head.time
  }

  /** Adds an attestation to an old block, as only a liar can: the hash of the block stays the same. Returns its UID. */
  forgeAttestation(block: number): Hex {
    const { time } = this.blocks[block]!
    const fields = { time, recipient: `0x${'66'.repeat(20)}`, data: CONTENTS[0]!, bump: 0 } as const
    const uid = this.#uidOf(fields)
    this.#attestations.set(uid, { uid, ...fields, block, revokedTime: 0, revokedBlock: -1 })
    this.forgeLogs(block, (logs) => [...logs, { kind: 'attested', uid }])
    return uid
  }

  /** Revokes an attestation in an old block, as only a liar can. */
  forgeRevocation(uid: Hex, block: number): void {
    const { time } = this.blocks[block]!
    Object.assign(this.#attestations.get(uid) ?? {}, { revokedTime: time, revokedBlock: block })
    this.forgeLogs(block, (logs) => [...logs, { kind: 'revoked', uid }])
  }

  /** Denies an attestation, or only its revocation, as only a liar can. */
  forget(uid: Hex, kind: ModelLog['kind']): void {
    if (kind === 'attested') this.#attestations.delete(uid)
    else Object.assign(this.#attestations.get(uid) ?? {}, { revokedTime: 0, revokedBlock: -1 })
    for (const { number } of this.blocks)
      this.forgeLogs(number, (logs) => logs.filter((log) => log.uid !== uid || log.kind !== kind))
  }

  /** Gives a block and all after it other hashes, as only a liar can without other contents. */
  forgeHashes(from: number): void {
    for (const { number } of this.blocks.slice(from)) {
      const block = this.blocks[number]!
      const parentHash = number === from ? block.parentHash : this.blocks[number - 1]!.hash
      this.blocks[number] = { ...block, parentHash, hash: `0x${'bad'.padStart(8, '0')}${block.hash.slice(10)}` }
    }
  }

  /** Changes the logs of an old block, as only a liar can: what the contract says stays the same. */
  forgeLogs(block: number, change: (logs: readonly ModelLog[]) => readonly ModelLog[]): void {
    const old = this.blocks[block]!
    this.blocks[block] = { ...old, logs: change(old.logs) }
  }

  attestation(uid: Hex, length: number): string {
    const found = this.#attestations.get(uid)
    const word = (value: number | bigint | string) =>
      (typeof value === 'string' ? value.slice(2) : value.toString(16)).padStart(64, '0')
    const tuple = (fields: readonly (number | bigint | string)[], data: string) => {
      const padded = data.padEnd(Math.ceil(data.length / 64) * 64, '0')
      return `0x${[32, ...fields, 320, data.length / 2].map(word).join('')}${padded}`
    }
    if (found === undefined || found.block >= length) return tuple([0, 0, 0, 0, 0, 0, 0, 0, 0], '')
    const revoked = found.revokedBlock >= 0 && found.revokedBlock < length ? found.revokedTime : 0
    return tuple([uid, MODEL_SCHEMA, found.time, 0, revoked, 0, found.recipient, ATTESTER, 1], found.data.slice(2))
  }

  #uidOf({ time, recipient, data, bump }: Omit<Attestation, 'uid'>): Hex {
    const fields = {
      schema: MODEL_SCHEMA,
      recipient,
      attester: ATTESTER,
      timeSeconds: time,
      expirationTimeSeconds: 0,
      revocable: true,
      refUID: ZERO,
      data,
    }
    return attestationUid(fields, this.#keccak, bump)
  }
}

const ATTESTER: Hex = `0x${'a7'.repeat(20)}`
const ZERO: Hex = `0x${'0'.repeat(64)}`
const hex = (value: number): Hex => `0x${value.toString(16)}`

/** Probabilities, per message, of each fault of an endpoint. */
export interface Faults {
  /** No response, none in time, or a status of 5xx. */
  readonly silent: number
  /** Its view ends some blocks before the head, and it does not say so. */
  readonly stale: number
  /** Logs are duplicated and in any order. */
  readonly jumbled: number
  /** Rejects block ranges as too wide. */
  readonly narrow: number
  /** Omits logs. */
  readonly partial: number
  /** Invents logs. */
  readonly inventive: number
  /** Changes bytes of attestations, or denies that they exist. */
  readonly corrupt: number
  /** Answers as another chain. */
  readonly elsewhere: number
}

export const NO_FAULTS: Faults = {
  silent: 0,
  stale: 0,
  jumbled: 0,
  narrow: 0,
  partial: 0,
  inventive: 0,
  corrupt: 0,
  elsewhere: 0,
}

/** Creates one endpoint of a model chain. Calls `faults` for each message. */
export function modelEndpoint(chain: ModelChain, random: () => number, faults: () => Faults): RpcClient {
  const happens = (chance: number) => chance > 0 && random() < chance

  function answer({ method, params }: RpcCall, length: number, wrong: Faults): RpcResult {
    const view = chain.blocks.slice(0, length)
    const [first, second] = params as [never, string | undefined]
    const value = (): unknown => {
      switch (method) {
        case 'eth_chainId':
          return happens(wrong.elsewhere) ? '0x1' : hex(MODEL_CHAIN.id)
        case 'eth_getCode':
          return '0x'
        case 'eth_getBlockByNumber': {
          const number =
            first === 'latest' ? length - 1 : first === 'finalized' ? Math.max(0, length - 9) : Number(first)
          const block = view[number]
          if (block === undefined) return null
          return { number: hex(number), hash: block.hash, parentHash: block.parentHash, timestamp: hex(block.time) }
        }
        case 'eth_call':
          return attestation(first, second === 'latest' ? length : lengthTo(Number(second), length), wrong)
        case 'eth_getLogs':
          return logs(first, view, wrong)
        default:
          throw new Error(`the model has no ${method}`)
      }
    }
    try {
      return { ok: true, value: value() }
    } catch (error) {
      if (error instanceof RpcError) return { ok: false, error }
      throw error
    }
  }

  /** Returns the number of blocks up to a requested one. As with real nodes, a block beyond the head is an error. */
  function lengthTo(number: number, length: number): number {
    if (number < length) return number + 1
    throw new RpcError('eth_call: error -32000', { code: -32000, endpointMessage: 'unknown block' })
  }

  function attestation({ data }: { data: Hex }, length: number, wrong: Faults): string {
    const uid: Hex = `0x${data.slice(10)}`
    if (!happens(wrong.corrupt)) return chain.attestation(uid, length)
    if (random() < 0.3) return chain.attestation(uid, 0)
    const text = chain.attestation(uid, length)
    const at = 66 + Math.floor(random() * (text.length - 66))
    return text.slice(0, at) + ((Number.parseInt(text[at]!, 16) + 1) % 16).toString(16) + text.slice(at + 1)
  }

  function logs(
    filter: { fromBlock?: Hex; toBlock?: Hex; blockHash?: Hex },
    view: readonly ModelBlock[],
    wrong: Faults,
  ): unknown[] {
    const { fromBlock, toBlock, blockHash } = filter
    let asked: readonly ModelBlock[]
    if (blockHash !== undefined) {
      asked = view.filter(({ hash }) => hash === blockHash)
      if (asked.length === 0)
        throw new RpcError('eth_getLogs: error -32000', { code: -32000, endpointMessage: 'unknown block' })
    } else {
      if (toBlock !== fromBlock && happens(wrong.narrow)) {
        const said =
          random() < 0.5
            ? `Try with this block range [${fromBlock}, ${fromBlock}]`
            : 'query returned more than 10000 results'
        throw new RpcError('eth_getLogs: error -32005', { code: -32005, endpointMessage: said })
      }
      // As with real nodes, a range beyond their head is simply empty.
      asked = view.slice(Number(fromBlock), Number(toBlock) + 1)
    }
    let found = asked.flatMap(({ number, hash, logs: ofBlock }) =>
      ofBlock.map(({ kind, uid }, index) => ({
        address: MODEL_CHAIN.easAddress,
        topics: [TOPICS[kind], ZERO, ZERO, MODEL_SCHEMA],
        data: uid,
        blockNumber: hex(number),
        blockHash: hash,
        logIndex: hex(index),
      })),
    )
    if (happens(wrong.partial)) found = found.filter(() => random() < 0.5)
    if (happens(wrong.inventive) && asked.length > 0) {
      const { number, hash } = asked.at(-1)!
      const uid: Hex = `0x${Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(64, 'f')}`
      const victim = found.find(({ topics }) => topics[0] === TOPICS.attested)
      const isRevocation = victim !== undefined && random() < 0.5
      found.push({
        address: MODEL_CHAIN.easAddress,
        topics: [isRevocation ? TOPICS.revoked : TOPICS.attested, ZERO, ZERO, MODEL_SCHEMA],
        data: isRevocation ? victim.data : uid,
        blockNumber: hex(number),
        blockHash: hash,
        logIndex: '0x63',
      })
    }
    if (happens(wrong.jumbled)) found = [...found, ...found].sort(() => random() - 0.5)
    return found
  }

  async function requestAll(calls: readonly RpcCall[]): Promise<readonly RpcResult[]> {
    const wrong = faults()
    if (happens(wrong.silent)) {
      throw new RpcError('no answer', {
        failure: (['silent', 'late', 'status', 'malformed'] as const)[Math.floor(random() * 4)]!,
      })
    }
    const behind = happens(wrong.stale) ? 1 + Math.floor(random() * 12) : 0
    const length = Math.max(1, chain.blocks.length - behind)
    return calls.map((call) => answer(call, length, wrong))
  }

  return {
    requestAll,
    async request(method, params) {
      const [only] = await requestAll([{ method, params }])
      if (!only!.ok) throw only!.error
      return only!.value
    },
  }
}
