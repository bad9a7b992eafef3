import {
  type Abi,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  parseAbi,
  universalSignatureValidatorAbi,
  universalSignatureValidatorByteCode,
} from 'viem'
import type { Chain } from '../attest/chains.ts'
import type { NonceReading } from '../attest/nonces.ts'
import { schemaUid } from '../attest/schemas.ts'
import { attestTypeHash, domainSeparator } from '../attest/typed-data.ts'
import { hasUid, ZERO_UID } from '../attest/uid.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { AccountSignature } from '../wire/sync-messages.ts'
import type { ChainAttestation, ChainState, Hex } from '../wire/values.ts'
import { attestationCall, decodeAttestation } from './eas-attestations.ts'
import { isInvalidResponse, parseQuantity, type Rpc, RpcError, type RpcFailure } from './rpc.ts'

/* Calls of the EAS contracts; these functions are the same in every version. */

const EAS = parseAbi([
  'function getDomainSeparator() view returns (bytes32)',
  'function getAttestTypeHash() view returns (bytes32)',
  'function getNonce(address account) view returns (uint256)',
  'function getRevokeOffchain(address revoker, bytes32 data) view returns (uint64)',
])
const REGISTRY = parseAbi([
  'struct SchemaRecord { bytes32 uid; address resolver; bool revocable; string schema; }',
  'function getSchema(bytes32 uid) view returns (SchemaRecord)',
])

/** The same function in ERC-20 and ERC-721. */
const TOKEN = parseAbi(['function balanceOf(address holder) view returns (uint256)'])

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
  offchainRevocation: (rpc: Rpc, eas: Hex, attester: Hex, uid: Hex) =>
    call<bigint>(rpc, eas, EAS, 'getRevokeOffchain', [attester, uid]),
  schema: (rpc: Rpc, registry: Hex, uid: Hex) => call<SchemaRecord>(rpc, registry, REGISTRY, 'getSchema', [uid]),
}

async function call<T>(rpc: Rpc, to: Hex, abi: Abi, functionName: string, args: readonly unknown[]): Promise<T> {
  const data = encodeFunctionData({ abi, functionName, args })
  const result = await rpc.request('eth_call', [{ to, data }, 'latest'])
  try {
    return decodeFunctionResult({ abi, functionName, data: result as Hex }) as T
  } catch {
    throw undecodable(functionName, result, to)
  }
}

function undecodable(functionName: string, result: unknown, address: Hex): RpcError {
  // A call to an address without code returns `0x`.
  const what = result === '0x' ? 'no contract' : 'undecodable response'
  return new RpcError(`${functionName}: ${what} at ${address}`, { code: REVERTED })
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

/** Reads one chain. An endpoint is used only after it has shown that it serves the chain that we sign for. */
export class ChainAccess {
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

  /** Compares every endpoint with the chain table again. */
  async check(): Promise<void> {
    await Promise.all(this.#endpoints.map((endpoint) => this.#verify(endpoint)))
  }

  /** Reads the nonce of an attester. Never rejects. */
  async nonce(attester: Hex): Promise<NonceReading> {
    const { easAddress } = this.#parts.chain
    try {
      const nonce = await this.#read(({ rpc }) => easCalls.nonce(rpc, easAddress, attester).then(requireNonce))
      return { ok: true, nonce }
    } catch (error) {
      return { ok: false, refusalReason: error instanceof ChainRefusal ? error.message : undefined }
    }
  }

  /**
   * Reads an attestation.
   *
   * @returns undefined when the chain has no such attestation
   * @throws {RpcError | ChainRefusal} when no endpoint gives a usable response
   */
  attestation(uid: Hex): Promise<ChainAttestation | undefined> {
    const { chain, keccak } = this.#parts
    const { method, params } = attestationCall(chain.easAddress, uid)
    return this.#read(async ({ rpc }) => {
      const response = await rpc.request(method, params)
      const attestation = decodeAttestation(String(response))
      if (attestation === undefined) throw undecodable('getAttestation', response, chain.easAddress)
      if (attestation.uid === ZERO_UID) return undefined
      // Unless the fields hash to the UID, the response is not the requested attestation.
      if (attestation.uid !== uid || !hasUid(attestation, uid, keccak))
        throw new RpcError('getAttestation: the response does not have the requested UID')
      return { ...attestation, expirationTimeSeconds: Number(attestation.expirationTimeSeconds) }
    })
  }

  /** Reads a schema string. Returns undefined when the schema is not registered. Throws as `attestation` does. */
  schemaString(uid: Hex): Promise<string | undefined> {
    const { chain, keccak } = this.#parts
    return this.#read(async ({ rpc }) => {
      const { resolver, revocable, schema, ...record } = await easCalls.schema(rpc, chain.schemaRegistryAddress, uid)
      if (record.uid === ZERO_UID) return undefined
      if (record.uid === uid && schemaUid(schema, resolver, revocable, keccak) === uid) return schema
      throw new RpcError('getSchema: the response is not the requested schema')
    })
  }

  /** Reads when an address revoked an off-chain attestation, in Unix seconds; 0 if it has not. Throws as `attestation` does. */
  offchainRevocation(attester: Hex, uid: Hex): Promise<bigint> {
    const { easAddress } = this.#parts.chain
    return this.#read(({ rpc }) => easCalls.offchainRevocation(rpc, easAddress, attester, uid))
  }

  /** Reads how much of a token an address holds, in the smallest units of an ERC-20, or in pieces of an ERC-721. Throws as `attestation` does. */
  tokenBalance(token: Hex, holder: Hex): Promise<bigint> {
    return this.#read(({ rpc }) => call<bigint>(rpc, token, TOKEN, 'balanceOf', [holder]))
  }

  /**
   * Asks the contract of an account whether it takes a signature. The call deploys the universal validator of ERC-6492, which calls the
   * contract, after it has deployed it if the signature says how. Nothing is written to the chain. Throws as `attestation` does.
   */
  accountSignature({ address, digest, signature }: AccountSignature): Promise<boolean> {
    const data = encodeDeployData({
      abi: universalSignatureValidatorAbi,
      bytecode: universalSignatureValidatorByteCode,
      args: [address, digest, signature],
    })
    return this.#read(async ({ rpc }) => {
      try {
        const result = await rpc.request('eth_call', [{ data }, 'latest'])
        if (result === '0x01') return true
        if (result === '0x00') return false
        throw new RpcError('eth_call: the signature validator returned neither 1 nor 0')
      } catch (error) {
        // A contract that reverts does not take the signature. Nodes differ in the code of the error.
        if (error instanceof RpcError && error.failure === 'error' && isRevert(error)) return false
        throw error
      }
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
      rpc.request('eth_chainId', []).then(parseQuantity),
      rpc.request('eth_getBlockByNumber', ['latest', false]),
    ])
    if (servedId !== id) return `an RPC for chain ${id} serves chain ${servedId}`
    const aheadSeconds = parseQuantity((block as { timestamp?: unknown } | null)?.timestamp) - nowSeconds()
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
}

function requireNonce(nonce: bigint): number {
  if (nonce > LARGEST_NONCE) throw new RpcError('getNonce: the nonce is impossibly high')
  return Number(nonce)
}

function hex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`
}

function isRevert({ code, endpointMessage }: RpcError): boolean {
  return code === REVERTED || /revert|invalid opcode|out of gas/i.test(endpointMessage)
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
export function createSchemaCache({ fetchSchema: readSchema, maxEntries, unregisteredMs, now }: SchemaCacheOptions) {
  const cached = new Map<Hex, { readonly text: string | undefined; readonly untilMs: number }>()
  const pending = new Map<Hex, Promise<string | undefined>>()

  async function fetchSchema(uid: Hex): Promise<string | undefined> {
    try {
      const text = await readSchema(uid)
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
