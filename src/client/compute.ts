import type {
  AttestationData,
  BooleanComputeResponse,
  BufferResponse,
  DelegatedAttestationData,
  DirectResponse,
  MatrixResponse,
  NearestResponse,
  NumericComputeResponse,
  RepairResponse,
  ResignResponse,
  WaypointsResponse,
} from '../types/generated.ts'
import type { OperationName } from '../wire/values.ts'
import { type InputLike, requireChain, submissionCall, toInput } from './forms.ts'
import { type BatchingOptions, joinCalls, type OperationResponse, type SendOperation } from './joined-calls.ts'
import type { CallOptions, Transport } from './transport.ts'

export interface ComputeOptions extends CallOptions {
  /** The chain that the result is signed for; by default that of the client. */
  readonly chainId?: number | undefined
  /** UID of the attestation's schema; by default the service's. */
  readonly schema?: string | undefined
  /** Recipient of the attestation; by default none (the zero address). */
  readonly recipient?: string | undefined
  /** Requests `resultSignature` too, which contracts can check without EAS. */
  readonly resultSignature?: boolean | undefined
  /**
   * Asks the service to submit the result to the chain; its operator must have enabled this. Without an `idempotencyKey`, the call is
   * not retried after 503 or a broken connection.
   */
  readonly submitOnchain?: boolean | undefined
  /** With `submitOnchain`: the same key stands for the same attestation, so a repeated call is paid for once. */
  readonly idempotencyKey?: string | undefined
}

export interface BufferOptions extends ComputeOptions {
  /** The most that the boundary may leave the circle; by default 1/1000 of the radius. */
  readonly toleranceMeters?: number | undefined
}

export interface EdgeOptions extends ComputeOptions {
  /** `geodesic`: edges are shortest geodesics. By default they are straight lines in longitude and latitude. */
  readonly edges?: 'geodesic' | undefined
}

type Predicate = (a: InputLike, b: InputLike, options?: ComputeOptions) => Promise<BooleanComputeResponse>

/**
 * The operations. Inputs are geometries, Features, verified proofs or UIDs of location attestations.
 *
 * All methods throw {TypeError} on an invalid input or without a chain id, {ApiError} and {ConnectionError}.
 */
export interface Compute {
  /** Computes the distance between the nearest points of two geometries, in metres. */
  distance(from: InputLike, to: InputLike, options?: ComputeOptions): Promise<NumericComputeResponse>
  /** Computes the area of a Polygon or MultiPolygon, in square metres. */
  area(geometry: InputLike, options?: ComputeOptions): Promise<NumericComputeResponse>
  /** Computes the length of a LineString or MultiLineString, in metres. */
  length(geometry: InputLike, options?: ComputeOptions): Promise<NumericComputeResponse>
  /** Finds whether no part of the containee is outside of the container and their interiors intersect. */
  contains(container: InputLike, containee: InputLike, options?: EdgeOptions): Promise<BooleanComputeResponse>
  /** Finds whether the distance is at most a radius. @param radiusMeters metres, rounded to whole centimetres */
  within(
    geometry: InputLike,
    target: InputLike,
    radiusMeters: number,
    options?: ComputeOptions,
  ): Promise<BooleanComputeResponse>
  /** Finds whether two geometries share at least one point. */
  intersects(a: InputLike, b: InputLike, options?: EdgeOptions): Promise<BooleanComputeResponse>
  /** Computes the DE-9IM matrix of two geometries, which may be empty. It is not signed. */
  matrix(a: InputLike, b: InputLike, options?: ComputeOptions): Promise<MatrixResponse>
  /**
   * Finds whether the DE-9IM matrix of two geometries matches a pattern.
   *
   * @param pattern nine characters of `T`, `F`, `*`, `0`, `1` and `2`
   */
  relate(a: InputLike, b: InputLike, pattern: string, options?: ComputeOptions): Promise<BooleanComputeResponse>
  /** Finds whether two geometries are the same set of points. */
  equals: Predicate
  /** Finds whether two geometries share no point. */
  disjoint: Predicate
  /** Finds whether two geometries share points, but none of their interiors. */
  touches: Predicate
  /** Finds whether the interiors meet in a lower dimension, or one leaves the other: a line and a polygon, two lines, points. */
  crosses: Predicate
  /** Finds whether two geometries of one dimension share a part of that dimension, and each has another part. */
  overlaps: Predicate
  /** Finds whether no point of b is outside of a. */
  covers: Predicate
  /** Finds whether no point of a is outside of b. */
  coveredBy: Predicate
  /**
   * Computes where the geodesic ends that leaves a Point in a direction. Not signed.
   *
   * @param azimuthDegrees degrees clockwise from north
   */
  direct(
    from: InputLike,
    azimuthDegrees: number,
    distanceMeters: number,
    options?: ComputeOptions,
  ): Promise<DirectResponse>
  /** Computes the shortest geodesic between two Points, with a place every `everyMeters`. Not signed. */
  waypoints(from: InputLike, to: InputLike, everyMeters: number, options?: ComputeOptions): Promise<WaypointsResponse>
  /** Finds the place of each geometry that is nearest to the other. Not signed. */
  nearest(from: InputLike, to: InputLike, options?: ComputeOptions): Promise<NearestResponse>
  /** Computes the places within a radius of a Point as a polygon. Not signed. */
  buffer(geometry: InputLike, radiusMeters: number, options?: BufferOptions): Promise<BufferResponse>
  /** Makes a valid geometry from one whose polygons may not be. Not signed. */
  repair(geometry: InputLike, options?: ComputeOptions): Promise<RepairResponse>
  /**
   * Signs a result again, with the current nonce and a new deadline. Replace `attestation` and `delegatedAttestation` of the old
   * response with the returned ones.
   */
  resign(
    response: { readonly attestation: AttestationData; readonly delegatedAttestation: DelegatedAttestationData },
    options?: Pick<ComputeOptions, 'chainId' | keyof CallOptions>,
  ): Promise<ResignResponse>
}

/**
 * Creates the compute methods.
 *
 * @param chainId default for calls without one
 * @param batching joins calls; without it, each call is one request
 * @throws {RangeError} on options of batching outside their range
 */
export function createCompute(
  transport: Transport,
  chainId: number | undefined,
  batching: BatchingOptions | undefined,
): Compute {
  const post = <T>(
    operation: string,
    body: object,
    options: CallOptions,
    headers?: Record<string, string>,
    mayRepeat = true,
  ) =>
    transport.json<T>(
      { method: 'POST', path: `/compute/v0/${operation}`, body: JSON.stringify(body), headers, mayRepeat },
      options,
    )
  const sendSingle: SendOperation = ({ operation, body, options }) => post(operation, body, options)
  const send = batching === undefined ? sendSingle : joinCalls(transport, batching, sendSingle)

  async function compute<T extends OperationResponse>(
    operation: OperationName,
    members: object,
    options: ComputeOptions,
  ): Promise<T> {
    const { schema, recipient, resultSignature = false, submitOnchain = false } = options
    const body = { chainId: requireChain(options.chainId ?? chainId), ...members, schema, recipient }
    // A batch has no result signatures, and each submitted result has a key of its own.
    if (resultSignature || submitOnchain) {
      const submission = submitOnchain ? submissionCall(options) : { headers: {}, mayRepeat: true, members: {} }
      const headers = { ...submission.headers, ...(resultSignature ? { prefer: 'result-signature' } : {}) }
      return post(operation, { ...body, ...submission.members }, options, headers, submission.mayRepeat)
    }
    return (await send({ operation, body, options })) as T
  }
  const predicate =
    (operation: OperationName): Predicate =>
    async (a, b, options = {}) =>
      compute(operation, toPair(a, b), options)
  return {
    distance: async (from, to, options = {}) => compute('distance', { from: toInput(from), to: toInput(to) }, options),
    area: async (geometry, options = {}) => compute('area', { geometry: toInput(geometry) }, options),
    length: async (geometry, options = {}) => compute('length', { geometry: toInput(geometry) }, options),
    contains: async (container, containee, { edges, ...options } = {}) =>
      compute('contains', { container: toInput(container), containee: toInput(containee), edges }, options),
    within: async (geometry, target, radius, options = {}) =>
      compute('within', { geometry: toInput(geometry), target: toInput(target), radius }, options),
    intersects: async (a, b, { edges, ...options } = {}) => compute('intersects', { ...toPair(a, b), edges }, options),
    matrix: async (a, b, options = {}) => compute('relate', toPair(a, b), options),
    relate: async (a, b, pattern, options = {}) => compute('relate', { ...toPair(a, b), pattern }, options),
    equals: predicate('equals'),
    disjoint: predicate('disjoint'),
    touches: predicate('touches'),
    crosses: predicate('crosses'),
    overlaps: predicate('overlaps'),
    covers: predicate('covers'),
    coveredBy: predicate('coveredBy'),
    direct: async (from, azimuthDegrees, distanceMeters, options = {}) =>
      compute('direct', { from: toInput(from), azimuthDegrees, distanceMeters }, options),
    waypoints: async (from, to, everyMeters, options = {}) =>
      compute('waypoints', { from: toInput(from), to: toInput(to), everyMeters }, options),
    nearest: async (from, to, options = {}) => compute('nearest', { from: toInput(from), to: toInput(to) }, options),
    buffer: async (geometry, radius, { toleranceMeters, ...options } = {}) =>
      compute('buffer', { geometry: toInput(geometry), radius, toleranceMeters }, options),
    repair: async (geometry, options = {}) => compute('repair', { geometry: toInput(geometry) }, options),
    resign: async ({ attestation, delegatedAttestation }, options = {}) => {
      const body = { chainId: requireChain(options.chainId ?? chainId), attestation, delegatedAttestation }
      return post('resign', body, options)
    },
  }
}

function toPair(a: InputLike, b: InputLike) {
  return { geometry1: toInput(a), geometry2: toInput(b) }
}

/** Arguments of the operations by name: inputs, and the other members of requests. The service checks them. */
// biome-ignore lint/suspicious/noExplicitAny: the client and the service check the content
export type OperationArguments = Readonly<Record<string, any>>

const CALLS: Readonly<
  Record<
    OperationName,
    (compute: Compute, given: OperationArguments, options: ComputeOptions) => Promise<OperationResponse>
  >
> = {
  distance: (compute, { from, to }, options) => compute.distance(from, to, options),
  area: (compute, { geometry }, options) => compute.area(geometry, options),
  length: (compute, { geometry }, options) => compute.length(geometry, options),
  contains: (compute, { container, containee, edges }, options) =>
    compute.contains(container, containee, { ...options, edges }),
  within: (compute, { geometry, target, radius }, options) => compute.within(geometry, target, radius, options),
  intersects: (compute, { geometry1, geometry2, edges }, options) =>
    compute.intersects(geometry1, geometry2, { ...options, edges }),
  relate: (compute, { geometry1, geometry2, pattern }, options) =>
    pattern === undefined
      ? compute.matrix(geometry1, geometry2, options)
      : compute.relate(geometry1, geometry2, pattern, options),
  equals: (compute, { geometry1, geometry2 }, options) => compute.equals(geometry1, geometry2, options),
  disjoint: (compute, { geometry1, geometry2 }, options) => compute.disjoint(geometry1, geometry2, options),
  touches: (compute, { geometry1, geometry2 }, options) => compute.touches(geometry1, geometry2, options),
  crosses: (compute, { geometry1, geometry2 }, options) => compute.crosses(geometry1, geometry2, options),
  overlaps: (compute, { geometry1, geometry2 }, options) => compute.overlaps(geometry1, geometry2, options),
  covers: (compute, { geometry1, geometry2 }, options) => compute.covers(geometry1, geometry2, options),
  coveredBy: (compute, { geometry1, geometry2 }, options) => compute.coveredBy(geometry1, geometry2, options),
  buffer: (compute, { geometry, radius, toleranceMeters }, options) =>
    compute.buffer(geometry, radius, { ...options, toleranceMeters }),
  direct: (compute, { from, azimuthDegrees, distanceMeters }, options) =>
    compute.direct(from, azimuthDegrees, distanceMeters, options),
  nearest: (compute, { from, to }, options) => compute.nearest(from, to, options),
  repair: (compute, { geometry }, options) => compute.repair(geometry, options),
  waypoints: (compute, { from, to, everyMeters }, options) => compute.waypoints(from, to, everyMeters, options),
}

/** Calls an operation by its name, for callers that do not know it in advance. @throws as its method in {Compute} */
export function callOperation(
  compute: Compute,
  name: OperationName,
  given: OperationArguments,
  options: ComputeOptions,
): Promise<OperationResponse> {
  return CALLS[name](compute, given, options)
}
