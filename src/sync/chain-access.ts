import type { Chain } from '../attest/chains.ts'
import type { NonceReading } from '../attest/nonces.ts'
import { schemaUid } from '../attest/schemas.ts'
import { attestTypeHash, domainSeparator } from '../attest/typed-data.ts'
import { attestationUid } from '../attest/uid.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { ChainAttestation, ChainState, Hex } from '../messages.ts'
import { type EasAttestation, easCalls } from './eas-calls.ts'
import { isWrongAnswer, type Rpc, RpcError, type RpcFailure } from './rpc.ts'

/** The contracts are others than those we sign for, or the chain's clock is: said to the operator, not passed over. */
export class ChainRefusal extends Error {
  override readonly name = 'ChainRefusal'
}

export interface ChainAccessParts {
  readonly chain: Chain
  /** In the order they are tried. */
  readonly rpcs: readonly Rpc[]
  readonly keccak: Keccak
  /** Seconds since the epoch. */
  readonly nowSeconds: () => number
  readonly maxHeadAheadSeconds: number
  readonly onState: (state: ChainState) => void
}

/** Reads one chain. Nothing is read from an endpoint before it has shown that it serves the chain we sign for. */
export interface ChainAccess {
  readonly state: ChainState
  /** Compares every endpoint with the table again. */
  check(): Promise<void>
  /** Never rejects. */
  nonce(attester: Hex): Promise<NonceReading>
  /**
   * @returns undefined when the chain has no such attestation
   * @throws {RpcError | ChainRefusal} when no endpoint gives a usable answer
   */
  attestation(uid: Hex): Promise<ChainAttestation | undefined>
  /** @returns undefined when no such schema is registered; throws as `attestation` */
  schemaString(uid: Hex): Promise<string | undefined>
}

interface Endpoint {
  readonly rpc: Rpc
  verdict: ChainState
  /** How the last comparison failed. */
  failure: RpcFailure
  /** The comparison under way: callers share it. */
  verifying: Promise<void> | undefined
}

const ZERO_UID: Hex = `0x${'0'.repeat(64)}`
/** Code of a JSON-RPC error when the contract itself refuses the call. */
const REVERTED = 3
const LARGEST_NONCE = 2n ** 48n - 1n
/** Attestations with equal fields in one block differ by a counter; more than these are taken for a false answer. */
const BUMPS_TRIED = 32

export function createChainAccess(parts: ChainAccessParts): ChainAccess {
  const { chain, rpcs, keccak, nowSeconds, maxHeadAheadSeconds, onState } = parts
  const expected = { separator: hex(domainSeparator(chain, keccak)), type: hex(attestTypeHash(chain.profile, keccak)) }
  const endpoints: Endpoint[] = rpcs.map((rpc) => ({
    rpc,
    verdict: { state: 'unverified', reason: 'not asked yet' },
    failure: 'silent',
    verifying: undefined,
  }))
  let state: ChainState = { state: 'unverified', reason: 'not asked yet' }
  // The endpoint that answered last comes first: a dead one costs its time-out once.
  let preferred = 0

  return {
    get state() {
      return state
    },

    async check() {
      await Promise.all(endpoints.map(verify))
    },

    async nonce(attester) {
      try {
        const nonce = await read(({ rpc }) => easCalls.nonce(rpc, chain.easAddress, attester).then(requireNonce))
        return { ok: true, nonce }
      } catch (error) {
        return { ok: false, refusal: error instanceof ChainRefusal ? error.message : undefined }
      }
    },

    attestation: (uid) =>
      read(async ({ rpc }) => {
        const found = await easCalls.attestation(rpc, chain.easAddress, uid)
        if (found.uid === ZERO_UID) return undefined
        requireUid(found, uid)
        return plain(found)
      }),

    schemaString: (uid) =>
      read(async ({ rpc }) => {
        const { resolver, revocable, schema, ...found } = await easCalls.schema(rpc, chain.schemaRegistryAddress, uid)
        if (found.uid === ZERO_UID) return undefined
        if (found.uid === uid && schemaUid(schema, resolver, revocable, keccak) === uid) return schema
        throw new RpcError('getSchema: the answer is not of the schema asked for')
      }),
  }

  /** By the first endpoint that gives a usable answer; one wrong endpoint refuses the chain. */
  async function read<T>(ask: (endpoint: Endpoint) => Promise<T>): Promise<T> {
    let failure = new RpcError('no endpoint', { failure: 'silent' })
    for (let turn = 0; turn < endpoints.length; turn++) {
      const index = (preferred + turn) % endpoints.length
      const endpoint = endpoints[index]!
      try {
        if (endpoint.verdict.state === 'unverified') await verify(endpoint)
        if (state.state === 'refused') throw new ChainRefusal(state.reason)
        if (endpoint.verdict.state !== 'ok') throw new RpcError(endpoint.verdict.reason, { failure: endpoint.failure })
        const answer = await ask(endpoint)
        preferred = index
        return answer
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        failure = error
      }
    }
    throw failure
  }

  function verify(endpoint: Endpoint): Promise<void> {
    endpoint.verifying ??= compare(endpoint).finally(() => {
      endpoint.verifying = undefined
      conclude()
    })
    return endpoint.verifying
  }

  /** Sets the verdict of an endpoint; one that was right and is silent now stays right. */
  async function compare(endpoint: Endpoint): Promise<void> {
    try {
      const mismatch = await mismatchOf(endpoint.rpc)
      endpoint.verdict = mismatch === undefined ? { state: 'ok' } : { state: 'refused', reason: mismatch }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      const reason = isWrongAnswer(error) ? `wrong answer of an RPC: ${error.message}` : error.message
      endpoint.failure = error.failure
      if (error.code === REVERTED) endpoint.verdict = { state: 'refused', reason }
      else if (endpoint.verdict.state === 'unverified') endpoint.verdict = { state: 'unverified', reason }
    }
  }

  function conclude(): void {
    const verdicts = endpoints.map(({ verdict }) => verdict)
    const next =
      verdicts.find((verdict) => verdict.state === 'refused') ??
      verdicts.find((verdict) => verdict.state === 'ok') ??
      verdicts[0]!
    if (JSON.stringify(next) === JSON.stringify(state)) return
    state = next
    onState(state)
  }

  /** What differs from the table, or undefined. */
  async function mismatchOf(rpc: Rpc): Promise<string | undefined> {
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
    if (type !== expected.type) return `the contract at ${easAddress} has another layout than profile ${profile}`
    if (separator === expected.separator) return undefined
    return `the contract at ${easAddress} has another EIP-712 domain than version ${easVersion} on chain ${id}`
  }

  /** The UID is a hash of the fields: an answer with other fields is no attestation of that UID. */
  function requireUid(found: EasAttestation, uid: Hex): void {
    const fields = { ...found, timeSeconds: found.time, expirationTimeSeconds: found.expirationTime }
    for (let bump = 0; bump < BUMPS_TRIED && found.uid === uid; bump++) {
      if (attestationUid(fields, keccak, bump) === uid) return
    }
    throw new RpcError('getAttestation: the answer does not have the UID asked for')
  }
}

/** An integer as JSON-RPC writes it: 0x and hex digits. */
function requireQuantity(value: unknown): number {
  const number = typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value) ? Number(value) : Number.NaN
  if (Number.isSafeInteger(number)) return number
  throw new RpcError('not a quantity of JSON-RPC')
}

function requireNonce(nonce: bigint): number {
  if (nonce > LARGEST_NONCE) throw new RpcError('getNonce: no nonce can be that high')
  return Number(nonce)
}

function plain(found: EasAttestation): ChainAttestation {
  return {
    uid: found.uid,
    schema: found.schema,
    timeSeconds: Number(found.time),
    expirationTimeSeconds: Number(found.expirationTime),
    revocationTimeSeconds: Number(found.revocationTime),
    refUID: found.refUID,
    recipient: found.recipient.toLowerCase() as Hex,
    attester: found.attester.toLowerCase() as Hex,
    revocable: found.revocable,
    data: found.data,
  }
}

function hex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`
}
