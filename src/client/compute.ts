import type {
  AttestationData,
  BooleanComputeResponse,
  DelegatedAttestationData,
  NumericComputeResponse,
  ResignResponse,
} from '../types/generated.ts'
import { type InputLike, toInput } from './inputs.ts'
import type { CallOptions, Transport } from './transport.ts'

export interface ComputeOptions extends CallOptions {
  /** The chain the answer is signed for; the client's when absent. */
  readonly chainId?: number | undefined
  /** Attestation schema UID; the service's own when absent. */
  readonly schema?: string | undefined
  /** Address the result is for; anybody when absent. */
  readonly recipient?: string | undefined
  /** Asks for `resultSignature` too, which contracts check without EAS. */
  readonly resultSignature?: boolean | undefined
}

/** The six operations. Inputs are geometries, Features, verified proofs or UIDs of location attestations. */
export interface Compute {
  /** Metres between the nearest places. */
  distance(from: InputLike, to: InputLike, options?: ComputeOptions): Promise<NumericComputeResponse>
  /** Square metres of a Polygon or MultiPolygon. */
  area(geometry: InputLike, options?: ComputeOptions): Promise<NumericComputeResponse>
  /** Metres of a LineString or MultiLineString. */
  length(geometry: InputLike, options?: ComputeOptions): Promise<NumericComputeResponse>
  contains(container: InputLike, containee: InputLike, options?: ComputeOptions): Promise<BooleanComputeResponse>
  /** @param radiusMeters true up to it, in whole centimetres */
  within(
    geometry: InputLike,
    target: InputLike,
    radiusMeters: number,
    options?: ComputeOptions,
  ): Promise<BooleanComputeResponse>
  intersects(a: InputLike, b: InputLike, options?: ComputeOptions): Promise<BooleanComputeResponse>
  /** The same result with the nonce and a deadline of now. Put both members in the place of the old ones. */
  resign(
    answer: { readonly attestation: AttestationData; readonly delegatedAttestation: DelegatedAttestationData },
    options?: Pick<ComputeOptions, 'chainId' | keyof CallOptions>,
  ): Promise<ResignResponse>
}

/**
 * @param chainId of calls that name none
 * @throws each method: {TypeError} on an input that is none, and as `Transport.json`
 */
export function createCompute(transport: Transport, chainId: number | undefined): Compute {
  async function ask<T>(operation: string, members: object, options: ComputeOptions): Promise<T> {
    const { schema, recipient, resultSignature } = options
    const body = { chainId: requireChain(options.chainId ?? chainId), ...members, schema, recipient }
    const headers = resultSignature === true ? { prefer: 'result-signature' } : undefined
    return transport.json<T>(
      { method: 'POST', path: `/compute/v0/${operation}`, body: JSON.stringify(body), headers },
      options,
    )
  }
  return {
    distance: async (from, to, options = {}) => ask('distance', { from: toInput(from), to: toInput(to) }, options),
    area: async (geometry, options = {}) => ask('area', { geometry: toInput(geometry) }, options),
    length: async (geometry, options = {}) => ask('length', { geometry: toInput(geometry) }, options),
    contains: async (container, containee, options = {}) =>
      ask('contains', { container: toInput(container), containee: toInput(containee) }, options),
    within: async (geometry, target, radius, options = {}) =>
      ask('within', { geometry: toInput(geometry), target: toInput(target), radius }, options),
    intersects: async (a, b, options = {}) =>
      ask('intersects', { geometry1: toInput(a), geometry2: toInput(b) }, options),
    resign: async ({ attestation, delegatedAttestation }, options = {}) =>
      ask('resign', { attestation, delegatedAttestation }, options),
  }
}

/** @throws {TypeError} without one: the service does not guess what is signed for whom */
export function requireChain(chainId: number | undefined): number {
  if (chainId === undefined) throw new TypeError('no chainId: give one to createClient or to the call')
  return chainId
}
