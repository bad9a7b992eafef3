import { type Abi, decodeFunctionResult, encodeFunctionData, parseAbi } from 'viem'
import type { Chain } from '../attest/chains.ts'
import type { NonceReading } from '../attest/nonces.ts'
import { schemaUid } from '../attest/schemas.ts'
import { attestTypeHash, domainSeparator } from '../attest/typed-data.ts'
import { hasUid, ZERO_UID } from '../attest/uid.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { ChainAttestation, ChainState, Hex } from '../wire/values.ts'
import { isInvalidResponse, type Rpc, RpcError, type RpcFailure } from './rpc.ts'

/* Calls of the EAS contracts; these functions are the same in every version. */

const EAS = parseAbi([
  'function getDomainSeparator() view returns (bytes32)',
  'function getAttestTypeHash() view returns (bytes32)',
  'function getNonce(address account) view returns (uint256)',
  'struct Attestation { bytes32 uid; bytes32 schema; uint64 time; uint64 expirationTime; uint64 revocationTime; bytes32 refUID; address recipient; address attester; bool revocable; bytes data; }',
  'function getAttestation(bytes32 uid) view returns (Attestation)',
])
const REGISTRY = parseAbi([
  'struct SchemaRecord { bytes32 uid; address resolver; bool revocable; string schema; }',
  'function getSchema(bytes32 uid) view returns (SchemaRecord)',
])

/** An attestation as the contract returns it; all fields are zero when there is none. */
interface EasAttestation {
  readonly uid: Hex
  readonly schema: Hex
  readonly time: bigint
  readonly expirationTime: bigint
  readonly revocationTime: bigint
  readonly refUID: Hex
  readonly recipient: Hex
  readonly attester: Hex
  readonly revocable: boolean
  readonly data: Hex
}

interface SchemaRecord {
  readonly uid: Hex
  readonly resolver: Hex
  readonly revocable: boolean
  readonly schema: string
}

/** Calls the EAS contracts. Every function throws {RpcError} when there is no usable response. */
export const easCalls = {
  domainSeparator: (rpc: Rpc, eas: Hex) => call<Hex>(rpc, eas, EAS, 'getDomainSeparator', []),
  attestTypeHash: (rpc: Rpc, eas: Hex) => call<Hex>(rpc, eas, EAS, 'getAttestTypeHash', []),
  nonce: (rpc: Rpc, eas: Hex, attester: Hex) => call<bigint>(rpc, eas, EAS, 'getNonce', [attester]),
  attestation: (rpc: Rpc, eas: Hex, uid: Hex) => call<EasAttestation>(rpc, eas, EAS, 'getAttestation', [uid]),
  schema: (rpc: Rpc, registry: Hex, uid: Hex) => call<SchemaRecord>(rpc, registry, REGISTRY, 'getSchema', [uid]),
}

async function call<T>(rpc: Rpc, to: Hex, abi: Abi, functionName: string, args: readonly unknown[]): Promise<T> {
  const data = encodeFunctionData({ abi, functionName, args })
  const result = await rpc.request('eth_call', [{ to, data }, 'latest'])
  try {
    return decodeFunctionResult({ abi, functionName, data: result as Hex }) as T
  } catch {
    // A call to an address without code returns `0x`.
    throw new RpcError(`${functionName}: ${result === '0x' ? 'no contract' : 'undecodable response'} at ${to}`, {
      code: 3,
    })
  }
}

/** Thrown when the contracts or the clock of a chain are not those that we sign for. It is reported to the operator. */
export class ChainRefusal extends Error {
  override readonly name = 'ChainRefusal'
}

interface ChainAccessParts {
  readonly chain: Chain
  /** In the order in which they are tried. */
  readonly rpcs: readonly Rpc[]
  readonly keccak: Keccak
  /** Seconds since the epoch. */
  readonly nowSeconds: () => number
  readonly maxHeadAheadSeconds: number
  readonly onState: (state: ChainState) => void
}

/** Reads one chain. An endpoint is used only after it has shown that it serves the chain that we sign for. */
export interface ChainAccess {
  readonly state: ChainState
  /** Compares every endpoint with the chain table again. */
  check(): Promise<void>
  /** Reads the nonce of an attester. Never rejects. */
  nonce(attester: Hex): Promise<NonceReading>
  /**
   * Reads an attestation.
   *
   * @returns undefined when the chain has no such attestation
   * @throws {RpcError | ChainRefusal} when no endpoint gives a usable response
   */
  attestation(uid: Hex): Promise<ChainAttestation | undefined>
  /** Reads a schema string. Returns undefined when the schema is not registered. Throws as `attestation` does. */
  schemaString(uid: Hex): Promise<string | undefined>
}

interface Endpoint {
  readonly rpc: Rpc
  verdict: ChainState
  /** Why the last comparison failed. */
  failure: RpcFailure
  /** The running comparison, which concurrent callers share. */
  verifying: Promise<void> | undefined
}

/** JSON-RPC error code for a call that the contract reverted. */
const REVERTED = 3
const LARGEST_NONCE = 2n ** 48n - 1n

export function createChainAccess(parts: ChainAccessParts): ChainAccess {
  return new CheckedChain(parts)
}

class CheckedChain implements ChainAccess {
  readonly #parts: ChainAccessParts
  /** What the contract has to return for its EIP-712 domain and its attestation type. */
  readonly #expected: { readonly separator: Hex; readonly type: Hex }
  readonly #endpoints: readonly Endpoint[]
  #state: ChainState = { state: 'unverified', reason: 'not checked yet' }
  // The endpoint that answered last is tried first, so a dead endpoint costs its timeout only once.
  #preferred = 0

  constructor(parts: ChainAccessParts) {
    const { chain, rpcs, keccak } = parts
    this.#parts = parts
    this.#expected = {
      separator: hex(domainSeparator(chain, keccak)),
      type: hex(attestTypeHash(chain.profile, keccak)),
    }
    this.#endpoints = rpcs.map((rpc) => ({
      rpc,
      verdict: { state: 'unverified', reason: 'not checked yet' },
      failure: 'silent',
      verifying: undefined,
    }))
  }

  get state(): ChainState {
    return this.#state
  }

  async check(): Promise<void> {
    await Promise.all(this.#endpoints.map((endpoint) => this.#verify(endpoint)))
  }

  async nonce(attester: Hex): Promise<NonceReading> {
    const { easAddress } = this.#parts.chain
    try {
      const nonce = await this.#read(({ rpc }) => easCalls.nonce(rpc, easAddress, attester).then(requireNonce))
      return { ok: true, nonce }
    } catch (error) {
      return { ok: false, rejectionReason: error instanceof ChainRefusal ? error.message : undefined }
    }
  }

  attestation(uid: Hex): Promise<ChainAttestation | undefined> {
    return this.#read(async ({ rpc }) => {
      const attestation = await easCalls.attestation(rpc, this.#parts.chain.easAddress, uid)
      if (attestation.uid === ZERO_UID) return undefined
      this.#requireUid(attestation, uid)
      return toChainAttestation(attestation)
    })
  }

  schemaString(uid: Hex): Promise<string | undefined> {
    const { chain, keccak } = this.#parts
    return this.#read(async ({ rpc }) => {
      const { resolver, revocable, schema, ...record } = await easCalls.schema(rpc, chain.schemaRegistryAddress, uid)
      if (record.uid === ZERO_UID) return undefined
      if (record.uid === uid && schemaUid(schema, resolver, revocable, keccak) === uid) return schema
      throw new RpcError('getSchema: the response is not the requested schema')
    })
  }

  /** Reads from the first endpoint that gives a usable response. One endpoint with a mismatch blocks the whole chain. */
  async #read<T>(ask: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    let failure = new RpcError('no endpoint', { failure: 'silent' })
    for (let attempt = 0; attempt < this.#endpoints.length; attempt++) {
      const index = (this.#preferred + attempt) % this.#endpoints.length
      const endpoint = this.#endpoints[index]!
      try {
        if (endpoint.verdict.state === 'unverified') await this.#verify(endpoint)
        if (this.#state.state === 'refused') throw new ChainRefusal(this.#state.reason)
        if (endpoint.verdict.state !== 'ok') throw new RpcError(endpoint.verdict.reason, { failure: endpoint.failure })
        const result = await ask(endpoint)
        this.#preferred = index
        return result
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        failure = error
      }
    }
    throw failure
  }

  /** Compares an endpoint with the chain table, once for all concurrent callers. */
  #verify(endpoint: Endpoint): Promise<void> {
    endpoint.verifying ??= this.#compare(endpoint).finally(() => {
      endpoint.verifying = undefined
      this.#updateState()
    })
    return endpoint.verifying
  }

  /** Sets the verdict of an endpoint. An endpoint that matched before and does not respond now keeps its verdict. */
  async #compare(endpoint: Endpoint): Promise<void> {
    try {
      const mismatch = await this.#findMismatch(endpoint.rpc)
      endpoint.verdict = mismatch === undefined ? { state: 'ok' } : { state: 'refused', reason: mismatch }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      const reason = isInvalidResponse(error) ? `wrong response of an RPC: ${error.message}` : error.message
      endpoint.failure = error.failure
      if (error.code === REVERTED) endpoint.verdict = { state: 'refused', reason }
      else if (endpoint.verdict.state === 'unverified') endpoint.verdict = { state: 'unverified', reason }
    }
  }

  /** Sets the state of the chain from the verdicts, and reports it if it changed. */
  #updateState(): void {
    const verdicts = this.#endpoints.map(({ verdict }) => verdict)
    const next =
      verdicts.find((verdict) => verdict.state === 'refused') ??
      verdicts.find((verdict) => verdict.state === 'ok') ??
      verdicts[0]!
    if (JSON.stringify(next) === JSON.stringify(this.#state)) return
    this.#state = next
    this.#parts.onState(next)
  }

  /** Returns what differs from the chain table, or undefined. */
  async #findMismatch(rpc: Rpc): Promise<string | undefined> {
    const { chain, nowSeconds, maxHeadAheadSeconds } = this.#parts
    const { easAddress, easVersion, profile, id } = chain
    const [servedId, block] = await Promise.all([
      rpc.request('eth_chainId', []).then(requireQuantity),
      rpc.request('eth_getBlockByNumber', ['latest', false]),
    ])
    if (servedId !== id) return `an RPC for chain ${id} serves chain ${servedId}`
    const aheadSeconds = requireQuantity((block as { timestamp?: unknown } | null)?.timestamp) - nowSeconds()
    if (aheadSeconds > maxHeadAheadSeconds) return `its head is ${aheadSeconds} s ahead of the clock of this service`
    const [type, separator] = await Promise.all([
      easCalls.attestTypeHash(rpc, easAddress),
      easCalls.domainSeparator(rpc, easAddress),
    ])
    if (type !== this.#expected.type)
      return `the contract at ${easAddress} does not have the layout of profile ${profile}`
    if (separator === this.#expected.separator) return undefined
    return `the contract at ${easAddress} does not have the EIP-712 domain of version ${easVersion} on chain ${id}`
  }

  /** Throws unless the fields hash to the UID; otherwise the response is not the requested attestation. */
  #requireUid(attestation: EasAttestation, uid: Hex): void {
    const fields = { ...attestation, timeSeconds: attestation.time, expirationTimeSeconds: attestation.expirationTime }
    if (attestation.uid === uid && hasUid(fields, uid, this.#parts.keccak)) return
    throw new RpcError('getAttestation: the response does not have the requested UID')
  }
}

/** Parses an integer as JSON-RPC writes it: 0x and hex digits. */
function requireQuantity(value: unknown): number {
  const number = typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value) ? Number(value) : Number.NaN
  if (Number.isSafeInteger(number)) return number
  throw new RpcError('not a JSON-RPC quantity')
}

function requireNonce(nonce: bigint): number {
  if (nonce > LARGEST_NONCE) throw new RpcError('getNonce: the nonce is impossibly high')
  return Number(nonce)
}

function toChainAttestation(attestation: EasAttestation): ChainAttestation {
  return {
    uid: attestation.uid,
    schema: attestation.schema,
    timeSeconds: Number(attestation.time),
    expirationTimeSeconds: Number(attestation.expirationTime),
    revocationTimeSeconds: Number(attestation.revocationTime),
    refUID: attestation.refUID,
    recipient: attestation.recipient.toLowerCase() as Hex,
    attester: attestation.attester.toLowerCase() as Hex,
    revocable: attestation.revocable,
    data: attestation.data,
  }
}

function hex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

interface SchemaCacheOptions {
  /** Reads a schema string from the chain; undefined when the schema is not registered. */
  readonly fetchSchema: (uid: Hex) => Promise<string | undefined>
  readonly maxEntries: number
  /** How long "not registered" is cached. */
  readonly unregisteredMs: number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

/**
 * Creates a cache of the schema strings of one chain. A registered schema never changes and stays until it is evicted. A schema
 * that is not registered is read again after a while. Concurrent lookups of one schema share one call.
 */
export function createSchemaCache({ fetchSchema: look, maxEntries, unregisteredMs, now }: SchemaCacheOptions) {
  const cached = new Map<Hex, { readonly text: string | undefined; readonly untilMs: number }>()
  const pending = new Map<Hex, Promise<string | undefined>>()

  async function fetchSchema(uid: Hex): Promise<string | undefined> {
    try {
      const text = await look(uid)
      if (cached.size >= maxEntries) cached.delete(cached.keys().next().value!)
      cached.set(uid, { text, untilMs: text === undefined ? now() + unregisteredMs : Number.POSITIVE_INFINITY })
      return text
    } finally {
      pending.delete(uid)
    }
  }

  return (uid: Hex): Promise<string | undefined> => {
    const entry = cached.get(uid)
    if (entry !== undefined && now() < entry.untilMs) return Promise.resolve(entry.text)
    cached.delete(uid)
    let lookup = pending.get(uid)
    if (lookup === undefined) {
      lookup = fetchSchema(uid)
      pending.set(uid, lookup)
    }
    return lookup
  }
}
