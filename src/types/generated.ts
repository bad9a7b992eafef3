// Made from schemas/ by scripts/generate-types.mjs. Do not edit: change the schema and run it again.

/**
 * A geometry of a compute request, in exactly one of seven forms. The service recognizes the form by the member that is present.
 */
export type Input =
  | Geometry
  | Feature
  | OnchainInput
  | OffchainInput
  | AttestationInput
  | VerifiedProofInput
  | StoredInput
  | NamedInput
  | SaltedInput
/**
 * A GeoJSON geometry (RFC 7946) on WGS 84. Positions are [longitude, latitude] in degrees; a third member (altitude) is accepted and ignored.
 */
export type Geometry = Point | MultiPoint | LineString | MultiLineString | Polygon | MultiPolygon | GeometryCollection
/**
 * @minItems 2
 * @maxItems 4
 */
export type Position = [longitude: number, latitude: number, ...rest: number[]]
/**
 * @minItems 2
 */
export type Line = Position[]
/**
 * Closed: the last position equals the first.
 *
 * @minItems 4
 */
export type Ring = Position[]
/**
 * @minItems 1
 */
export type Rings = Ring[]
/**
 * An off-chain attestation with its signer beside the other members.
 */
export type SignedOffchainAttestation = OffchainAttestation & {
  signer: string
  [k: string]: unknown
}
/**
 * Bodies of POST /compute/v0/{operation}. Unknown members are ignored, except those that resemble an option: these are rejected.
 */
export type ComputeRequest =
  | DistanceRequest
  | AreaRequest
  | LengthRequest
  | ContainsRequest
  | WithinRequest
  | IntersectsRequest
  | PredicateRequest
  | RelateRequest
  | DirectRequest
  | WaypointsRequest
  | NearestRequest
  | BufferRequest
  | RepairRequest
/**
 * A geometry without any position: `coordinates` or `geometries` is an empty array. Only operations that say so accept it.
 */
export type EmptyGeometry =
  | {
      type: 'Point' | 'MultiPoint' | 'LineString' | 'MultiLineString' | 'Polygon' | 'MultiPolygon'
      /**
       * @maxItems 0
       */
      coordinates: unknown[]
      [k: string]: unknown
    }
  | {
      type: 'GeometryCollection'
      /**
       * @maxItems 0
       */
      geometries: unknown[]
      [k: string]: unknown
    }
export type ComputeResponse = NumericComputeResponse | BooleanComputeResponse
/**
 * Extension, only if an input has a salt: for each input the salt that was hashed with it, or null. Without the salt nobody can show which input a result is about.
 *
 * @minItems 1
 * @maxItems 2
 */
export type InputSalts = (string | null)[]
/**
 * The members of a single response and the item's id. attestation and delegatedAttestation are present only with attest each; schema, recipient, data and proof only with attest merkle. error replaces the result of a failed item.
 */
export type BatchResult = (
  | {
      result?: never
      matrix?: never
      geometry?: never
      [k: string]: unknown
    }
  | {
      error?: never
      matrix?: never
      geometry?: never
      [k: string]: unknown
    }
  | {
      error?: never
      result?: never
      geometry?: never
      [k: string]: unknown
    }
  | {
      error?: never
      result?: never
      matrix?: never
      [k: string]: unknown
    }
  | {
      error?: never
      result?: never
      matrix?: never
      geometry?: never
      [k: string]: unknown
    }
) & {
  id?: string | number
  result?: number | boolean
  /**
   * Replaces result for relate without a pattern, which is never signed.
   */
  matrix?: string
  geometry?: Geometry1
  ref?: string
  /**
   * Degrees clockwise from north.
   */
  azimuthDegrees?: number
  from?: NearestPlace
  to?: NearestPlace1
  distanceMeters?: number
  lengthMeters?: number
  errorMeters?: number
  changes?: RepairChange[]
  omittedChanges?: number
  areaMovedSquareMeters?: number
  units?: 'meters' | 'square_meters'
  operation?: string
  timestamp?: number
  /**
   * @minItems 1
   * @maxItems 2
   */
  inputRefs?: string[]
  inputSalts?: InputSalts
  /**
   * @minItems 1
   */
  notes?: Note[]
  attestation?: AttestationData
  delegatedAttestation?: DelegatedAttestationData
  proofInputs?: ProofInput[]
  schema?: string
  recipient?: string
  data?: string
  /**
   * Siblings of the leaf keccak256(keccak256(abi.encode(schema, recipient, keccak256(data)))), from the bottom up.
   *
   * @maxItems 32
   */
  proof?: string[]
  resultSignature?: ResultSignature1
  submission?: Submission2
  error?: ProblemDetails
}
/**
 * A GeoJSON geometry (RFC 7946) on WGS 84. Positions are [longitude, latitude] in degrees; a third member (altitude) is accepted and ignored.
 */
export type Geometry1 = Point | MultiPoint | LineString | MultiLineString | Polygon | MultiPolygon | GeometryCollection
/**
 * keccak-256 of the canonical text of a geometry, as in inputRefs.
 */
export type GeometryRef = string
/**
 * Bodies of POST /verify/v0/stamp and POST /verify/v0/proof. Unknown members are ignored, but those of a stamp are covered by its signatures.
 */
export type VerifyRequest = VerifyStampRequest | VerifyProofRequest
/**
 * Responses of POST /verify/v0/stamp and POST /verify/v0/proof.
 */
export type VerifyResponse = VerifyStampResponse | VerifyProofResponse
export type RelateResponse = MatrixResponse | BooleanComputeResponse
/**
 * Answer of an operation whose result is a geometry. It is not signed.
 */
export type GeometryResponse = DirectResponse | WaypointsResponse | NearestResponse | BufferResponse | RepairResponse
export type SetName = string
export type KeyId = string
/**
 * What the key may be used for. admin opens the routes of keys, and nothing else.
 *
 * @minItems 1
 */
export type KeyScopes = ('compute' | 'verify' | 'records' | 'jobs' | 'admin')[]
/**
 * The key that replaced this one, which stays valid until it expires.
 */
export type KeyId1 = string

/**
 * Every schema of the contract; this type itself is not used.
 */
export interface Contract {
  input?: Input
  'compute-request'?: ComputeRequest
  'compute-response'?: ComputeResponse
  'batch-request'?: BatchRequest
  'batch-response'?: BatchResponse
  job?: Job
  stored?: StoredGeometry
  problem?: ProblemDetails
  'verified-proof'?: VerifiedLocationProof
  'resign-request'?: ResignRequest
  'resign-response'?: ResignResponse
  'verify-request'?: VerifyRequest
  'verify-response'?: VerifyResponse
  account?: Account
  'location-record'?: LocationRecord
  'location-record-list'?: LocationRecordList
  'record-config'?: RecordConfig
  'record-stats'?: RecordStats
  'record-error'?: RecordError
  relate?: RelateResponse
  geometryAnswer?: GeometryResponse
  SignInNonce?: SignInNonce
  SessionTokens?: SessionTokens
  AccountKeyRequest?: AccountKeyRequest
  StoredGeometryList?: StoredGeometryList
  DeletedGeometry?: DeletedGeometry
  StoredSet?: StoredSet
  StoredSetList?: StoredSetList
  DeletedSet?: DeletedSet
  SetFeature?: SetFeature
  MatchLine?: MatchLine
  KeyList?: KeyList
  NewKey?: NewKey
  RevokedKey?: RevokedKey
  KeyUsage?: KeyUsage
}
export interface Point {
  type: 'Point'
  coordinates: Position
  [k: string]: unknown
}
export interface MultiPoint {
  type: 'MultiPoint'
  /**
   * @minItems 1
   */
  coordinates: Position[]
  [k: string]: unknown
}
export interface LineString {
  type: 'LineString'
  coordinates: Line
  [k: string]: unknown
}
export interface MultiLineString {
  type: 'MultiLineString'
  /**
   * @minItems 1
   */
  coordinates: Line[]
  [k: string]: unknown
}
export interface Polygon {
  type: 'Polygon'
  coordinates: Rings
  [k: string]: unknown
}
export interface MultiPolygon {
  type: 'MultiPolygon'
  /**
   * @minItems 1
   */
  coordinates: Rings[]
  [k: string]: unknown
}
export interface GeometryCollection {
  type: 'GeometryCollection'
  /**
   * @minItems 1
   */
  geometries: Geometry[]
  [k: string]: unknown
}
/**
 * A GeoJSON Feature, of which only the geometry is used; the reference hash covers only the geometry.
 */
export interface Feature {
  type: 'Feature'
  geometry: Geometry
  [k: string]: unknown
}
/**
 * A location attestation on the chain named by chainId.
 */
export interface OnchainInput {
  uid: string
  [k: string]: unknown
}
/**
 * Planned; currently rejected with not-implemented.
 */
export interface OffchainInput {
  uid: string
  uri: string
  [k: string]: unknown
}
/**
 * A location attestation that its attester signed for EAS and that is not on a chain, with the address of its signer.
 */
export interface AttestationInput {
  attestation: OffchainPackage | SignedOffchainAttestation
  [k: string]: unknown
}
/**
 * An off-chain attestation and its signer, as EAS tools save it.
 */
export interface OffchainPackage {
  sig: OffchainAttestation
  signer: string
  [k: string]: unknown
}
/**
 * What signOffchainAttestation of the EAS SDK returns, version 1 or 2.
 */
export interface OffchainAttestation {
  /**
   * The same as in the message.
   */
  version?: 1 | 2
  uid: string
  domain: {
    name: 'EAS Attestation'
    /**
     * The version that the EAS contract of the chain states.
     */
    version: string
    /**
     * A number, or its decimal digits as text.
     */
    chainId: number | string
    verifyingContract: string
    [k: string]: unknown
  }
  primaryType: 'Attest'
  /**
   * The EIP-712 types of the version.
   */
  types?: {
    [k: string]: unknown
  }
  message: {
    version: 1 | 2
    schema: string
    recipient: string
    /**
     * A number, or its decimal digits as text.
     */
    time: number | string
    /**
     * A number, or its decimal digits as text.
     */
    expirationTime: number | string
    revocable: boolean
    refUID: string
    /**
     * At most 64 KiB.
     */
    data: string
    /**
     * In version 2.
     */
    salt?: string
    [k: string]: unknown
  }
  /**
   * r, s and v, or 65 bytes in hex.
   */
  signature: string | {r: string; s: string; v: number}
  [k: string]: unknown
}
/**
 * A verified proof as this service returned it.
 */
export interface VerifiedProofInput {
  verifiedProof: VerifiedLocationProof
  [k: string]: unknown
}
/**
 * A proof with its credibility vector, as POST /verify/v0/proof returns it and as compute operations accept it.
 */
export interface VerifiedLocationProof {
  proof: LocationProof
  credibility?: {
    [k: string]: unknown
  }
  evaluationMethod?: string
  evaluatedAt?: number
  chainId?: number
  attestation?: ProofAttestation
  delegatedAttestation?: ProofDelegation
  [k: string]: unknown
}
export interface LocationProof {
  claim: LocationClaim
  /**
   * @minItems 1
   * @maxItems 64
   */
  stamps: {
    [k: string]: unknown
  }[]
  [k: string]: unknown
}
export interface LocationClaim {
  lpVersion: '0.2'
  locationType: string
  /**
   * A GeoJSON geometry, or text in the notation that locationType names.
   */
  location: Geometry | string
  srs: string
  subject: SubjectIdentifier
  /**
   * Metres.
   */
  radius: number
  time: TimeRange
  eventType?: string
  [k: string]: unknown
}
export interface SubjectIdentifier {
  scheme: string
  value: string
  [k: string]: unknown
}
/**
 * Unix seconds.
 */
export interface TimeRange {
  start: number
  end: number
  [k: string]: unknown
}
export interface ProofAttestation {
  uid: string
  schema: string
  attester: string
  recipient: string
  data: string
  revocable: boolean
  refUID: string
  time: number
  expirationTime: number
  revocationTime: number
  signature?: string
  [k: string]: unknown
}
export interface ProofDelegation {
  signature: string
  attester: string
  deadline: number
  nonce: number
  [k: string]: unknown
}
/**
 * A geometry that the API key has stored with PUT /compute/v0/geometries, by its hash.
 */
export interface StoredInput {
  ref: string
  [k: string]: unknown
}
/**
 * An input that a batch in one JSON document has in its `geometries`, by its name there. Other requests reject it.
 */
export interface NamedInput {
  /**
   * 1 to 64 printable characters.
   */
  named: string
  [k: string]: unknown
}
/**
 * An input of another form, hashed together with a salt, so that nobody can guess it from inputRefs. With `random` the service draws the salt; either way it returns it in inputSalts.
 */
export interface SaltedInput {
  input: Geometry | Feature | VerifiedProofInput | StoredInput | NamedInput
  salt: string
  [k: string]: unknown
}
export interface DistanceRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  from: Input
  to: Input
  /**
   * UID of the attestation schema. Default: the service's own schema.
   */
  schema?: string
  /**
   * Address of the recipient. Default: the zero address.
   */
  recipient?: string
  options?: ComputeOptions
  [k: string]: unknown
}
/**
 * How the result is delivered. Unknown members are ignored, except those that resemble an option: these are rejected.
 */
export interface ComputeOptions {
  /**
   * true: the service submits the result to the chain itself. This needs an API key.
   */
  submitOnchain?: boolean
  [k: string]: unknown
}
export interface AreaRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  geometry: Input
  /**
   * UID of the attestation schema. Default: the service's own schema.
   */
  schema?: string
  /**
   * Address of the recipient. Default: the zero address.
   */
  recipient?: string
  options?: ComputeOptions
  [k: string]: unknown
}
export interface LengthRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  geometry: Input
  /**
   * UID of the attestation schema. Default: the service's own schema.
   */
  schema?: string
  /**
   * Address of the recipient. Default: the zero address.
   */
  recipient?: string
  options?: ComputeOptions
  [k: string]: unknown
}
/**
 * Deprecated names of the two inputs are also accepted: geometryA and geometryB, geometry1 and geometry2, container and geometry.
 */
export interface ContainsRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  container: Input
  containee: Input
  /**
   * Default: straight in longitude and latitude.
   */
  edges?: 'geodesic'
  /**
   * UID of the attestation schema. Default: the service's own schema.
   */
  schema?: string
  /**
   * Address of the recipient. Default: the zero address.
   */
  recipient?: string
  options?: ComputeOptions
  [k: string]: unknown
}
export interface WithinRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  geometry: Input
  target: Input
  /**
   * Metres.
   */
  radius: number
  /**
   * UID of the attestation schema. Default: the service's own schema.
   */
  schema?: string
  /**
   * Address of the recipient. Default: the zero address.
   */
  recipient?: string
  options?: ComputeOptions
  [k: string]: unknown
}
export interface IntersectsRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  geometry1: Input
  geometry2: Input
  /**
   * Default: straight in longitude and latitude.
   */
  edges?: 'geodesic'
  /**
   * UID of the attestation schema. Default: the service's own schema.
   */
  schema?: string
  /**
   * Address of the recipient. Default: the zero address.
   */
  recipient?: string
  options?: ComputeOptions
  [k: string]: unknown
}
/**
 * Body of equals, disjoint, touches, crosses, overlaps, covers and coveredBy.
 */
export interface PredicateRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  geometry1: Input | EmptyGeometry | SaltedEmptyInput
  geometry2: Input | EmptyGeometry | SaltedEmptyInput
  /**
   * UID of the attestation schema. Default: the service's own schema.
   */
  schema?: string
  /**
   * Address of the recipient. Default: the zero address.
   */
  recipient?: string
  options?: ComputeOptions
  [k: string]: unknown
}
/**
 * An empty geometry with a salt.
 */
export interface SaltedEmptyInput {
  input: EmptyGeometry
  salt: string
  [k: string]: unknown
}
export interface RelateRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  geometry1: Input | EmptyGeometry | SaltedEmptyInput
  geometry2: Input | EmptyGeometry | SaltedEmptyInput
  /**
   * Nine characters of T, F, *, 0, 1 and 2: asks whether the matrix matches. Without it, the matrix is returned, unsigned.
   */
  pattern?: string
  /**
   * UID of the attestation schema. Default: the service's own schema.
   */
  schema?: string
  /**
   * Address of the recipient. Default: the zero address.
   */
  recipient?: string
  options?: ComputeOptions
  [k: string]: unknown
}
export interface DirectRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  from: Input
  /**
   * Direction at the start, degrees clockwise from north.
   */
  azimuthDegrees: number
  distanceMeters: number
  [k: string]: unknown
}
export interface WaypointsRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  from: Input
  to: Input
  everyMeters: number
  [k: string]: unknown
}
export interface NearestRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  from: Input
  to: Input
  [k: string]: unknown
}
export interface BufferRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  geometry: Input
  /**
   * Metres.
   */
  radius: number
  /**
   * The most that the boundary may leave the circle. Default: 1/1000 of the radius.
   */
  toleranceMeters?: number
  [k: string]: unknown
}
export interface RepairRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  geometry: Input
  [k: string]: unknown
}
export interface NumericComputeResponse {
  result: number
  units: 'meters' | 'square_meters'
  operation: 'distance' | 'area' | 'length'
  timestamp: number
  /**
   * @minItems 1
   * @maxItems 2
   */
  inputRefs: string[]
  inputSalts?: InputSalts
  /**
   * @minItems 1
   */
  notes?: Note[]
  attestation: AttestationData
  delegatedAttestation: DelegatedAttestationData
  proofInputs?: ProofInput[]
  resultSignature?: ResultSignature
  submission?: Submission
}
/**
 * Extension, not signed: explains an input that was read in a way that a caller may not expect. `full-parallel`: an edge of a polygon from -180 to 180 was read as the whole parallel. `planar-deviation`: edges were read as straight lines in longitude and latitude, and their geodesics are up to `meters` from them. `revocation-unchecked`: the service has no RPC for chain `chainId`, so it could not ask whether the attester has revoked the off-chain attestation `ref`. More codes with other members may follow.
 */
export interface Note {
  code: string
  meters?: number
  ref?: string
  chainId?: number
  [k: string]: unknown
}
export interface AttestationData {
  schema: string
  attester: string
  recipient: string
  data: string
  revocable: true
  refUID: string
  /**
   * 65 bytes: r, s and v, with v 27 or 28.
   */
  signature: string
}
export interface DelegatedAttestationData {
  /**
   * 65 bytes: r, s and v, with v 27 or 28.
   */
  signature: string
  attester: string
  /**
   * Unix seconds.
   */
  deadline: number
  nonce: number
}
/**
 * Extension: the content of an authenticated verified proof among the inputs.
 */
export interface ProofInput {
  ref: string
  credibility: {
    [k: string]: unknown
  }
  claim: {
    [k: string]: unknown
  }
  evaluatedAt: number
  evaluationMethod: string
  [k: string]: unknown
}
/**
 * Extension, present with `Prefer: result-signature`: EIP-712 signature of SignedResult(schema, recipient, keccak256(data), deadline, salt). The domain has the name GeoResult, version 1 and the chain id, and no verifying contract.
 */
export interface ResultSignature {
  /**
   * 65 bytes: r, s and v, with v 27 or 28.
   */
  signature: string
  attester: string
  /**
   * Unix seconds.
   */
  deadline: number
  salt: string
}
/**
 * An attestation that the service submits to its chain itself; also the response of GET /verify/v0/submissions/{id}.
 */
export interface Submission {
  id: string
  status: 'queued' | 'sent' | 'mined' | 'finalized' | 'failed'
  chainId: number
  uid?: string
  time?: number
  transactionHash?: string
  blockNumber?: number
  error?: string
}
export interface BooleanComputeResponse {
  result: boolean
  operation: string
  timestamp: number
  /**
   * @minItems 2
   * @maxItems 2
   */
  inputRefs: string[]
  inputSalts?: InputSalts
  /**
   * @minItems 1
   */
  notes?: Note[]
  attestation: AttestationData
  delegatedAttestation: DelegatedAttestationData
  proofInputs?: ProofInput[]
  resultSignature?: ResultSignature
  submission?: Submission
}
/**
 * JSON body of POST /compute/v0/batch. Unknown members are ignored, except those that resemble an option: these are rejected.
 */
export interface BatchRequest {
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  /**
   * Address of the recipient. Default: the zero address.
   */
  recipient?: string
  /**
   * each: every result is signed; merkle: one signature over the root of all results, with a Merkle proof for each result; none: no signature.
   */
  attest?: 'each' | 'merkle' | 'none'
  /**
   * same: every signature has the current nonce, so only one of them can be submitted; consecutive: all can be submitted together, in the order of multi. consecutive needs attest each and at most 40 items.
   */
  sequence?: 'same' | 'consecutive'
  /**
   * Inputs that items name with {"named": "…"}. Each is read once for all items. Each name must be used. All together have the limits of one request for bytes, vertices and parts.
   */
  geometries?: {
    /**
     * An input that a batch can name. A salt goes to the places where the name is used.
     */
    [k: string]: Geometry | Feature | OnchainInput | StoredInput
  }
  options?: BatchDelivery
  items: BatchItem[]
  [k: string]: unknown
}
/**
 * How the results are delivered. Unknown members are ignored, except those that resemble an option: these are rejected.
 */
export interface BatchDelivery {
  /**
   * true: the service submits the results to the chain itself; each of them with attest each, one root with attest merkle. This needs an API key.
   */
  submitOnchain?: boolean
  [k: string]: unknown
}
/**
 * One operation: the members of its single request, and the members below. Each line of application/x-ndjson is one item.
 */
export interface BatchItem {
  op:
    | 'distance'
    | 'area'
    | 'length'
    | 'contains'
    | 'within'
    | 'intersects'
    | 'relate'
    | 'equals'
    | 'disjoint'
    | 'touches'
    | 'crosses'
    | 'overlaps'
    | 'covers'
    | 'coveredBy'
    | 'direct'
    | 'waypoints'
    | 'nearest'
    | 'buffer'
    | 'repair'
  /**
   * Returned with the result. A number must be an integer that a double represents exactly.
   */
  id?: string | number
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId?: number
  /**
   * UID of the attestation schema. Default: the service's own schema.
   */
  schema?: string
  /**
   * Address of the recipient. Default: the zero address.
   */
  recipient?: string
  [k: string]: unknown
}
/**
 * JSON response of POST /compute/v0/batch. In a response of application/x-ndjson, each line is one BatchResult.
 */
export interface BatchResponse {
  chainId: number
  /**
   * each: every result is signed; merkle: one signature over the root of all results, with a Merkle proof for each result; none: no signature.
   */
  attest: 'each' | 'merkle' | 'none'
  /**
   * Present with attest merkle; null if no item has a result.
   */
  merkle?: MerkleAttestation | null
  /**
   * Present with sequence consecutive: the argument of multiAttestByDelegation, one element per schema.
   */
  multi?: MultiDelegatedRequest[]
  submission?: Submission1
  /**
   * In the order of the items.
   */
  results: BatchResult[]
  count: number
  /**
   * Number of results that are errors.
   */
  failed: number
}
export interface MerkleAttestation {
  root: string
  leafCount: number
  attestation: AttestationData
  delegatedAttestation: DelegatedAttestationData
}
export interface MultiDelegatedRequest {
  schema: string
  data: {
    recipient: string
    expirationTime: 0
    revocable: true
    refUID: string
    data: string
    value: 0
  }[]
  signatures: {
    v: 27 | 28
    r: string
    s: string
  }[]
  attester: string
  /**
   * Unix seconds.
   */
  deadline: number
  nonces: number[]
}
/**
 * An attestation that the service submits to its chain itself; also the response of GET /verify/v0/submissions/{id}.
 */
export interface Submission1 {
  id: string
  status: 'queued' | 'sent' | 'mined' | 'finalized' | 'failed'
  chainId: number
  uid?: string
  time?: number
  transactionHash?: string
  blockNumber?: number
  error?: string
}
/**
 * Replaces result for nearest, which is never signed.
 */
export interface NearestPlace {
  geometry: Point
  /**
   * The reference of the geometry as an input.
   */
  ref: string
  /**
   * Direction there of the geodesic from one place to the other, degrees clockwise from north. Absent if both are one place.
   */
  azimuthDegrees?: number
}
export interface NearestPlace1 {
  geometry: Point
  /**
   * The reference of the geometry as an input.
   */
  ref: string
  /**
   * Direction there of the geodesic from one place to the other, degrees clockwise from north. Absent if both are one place.
   */
  azimuthDegrees?: number
}
/**
 * One change of a repair.
 */
export interface RepairChange {
  code:
    | 'closed'
    | 'repeated-vertex'
    | 'spike'
    | 'no-area'
    | 'cut-at-antimeridian'
    | 'self-intersection'
    | 'self-touch'
    | 'rings-cross'
    | 'rings-touch'
    | 'hole-outside'
    | 'ring-united'
    | 'rewound'
  detail: string
  /**
   * JSON pointer of the ring in the request.
   */
  pointer: string
  /**
   * Longitude and latitude of the change.
   *
   * @minItems 2
   * @maxItems 2
   */
  place: [longitude: number, latitude: number]
}
/**
 * Extension, present with `Prefer: result-signature`: EIP-712 signature of SignedResult(schema, recipient, keccak256(data), deadline, salt). The domain has the name GeoResult, version 1 and the chain id, and no verifying contract.
 */
export interface ResultSignature1 {
  /**
   * 65 bytes: r, s and v, with v 27 or 28.
   */
  signature: string
  attester: string
  /**
   * Unix seconds.
   */
  deadline: number
  salt: string
}
/**
 * An attestation that the service submits to its chain itself; also the response of GET /verify/v0/submissions/{id}.
 */
export interface Submission2 {
  id: string
  status: 'queued' | 'sent' | 'mined' | 'finalized' | 'failed'
  chainId: number
  uid?: string
  time?: number
  transactionHash?: string
  blockNumber?: number
  error?: string
}
/**
 * Error of the verify and compute APIs (RFC 9457), with media type application/problem+json.
 */
export interface ProblemDetails {
  type: string
  title: string
  status: number
  detail: string
  instance?: string
  /**
   * @maxItems 10
   */
  errors?: ProblemItem[]
  requestId?: string
  [k: string]: unknown
}
export interface ProblemItem {
  pointer: string
  detail: string
  code?: string
  hint?: string
  [k: string]: unknown
}
/**
 * State and progress of a job.
 */
export interface Job {
  id: string
  /**
   * receiving while operations are uploaded, which may already be computed; queued until the first chunk is computed. The last three are final.
   */
  state: 'receiving' | 'queued' | 'running' | 'done' | 'cancelled' | 'failed'
  /**
   * Null if the lines name their chains.
   */
  chainId: number | null
  /**
   * each: every result is signed; merkle: one signature over the root of all results, with a Merkle proof for each result; none: no signature.
   */
  attest: 'each' | 'merkle' | 'none'
  /**
   * Present if the service submits the results to the chain itself; with attest merkle, their root.
   */
  submitOnchain?: true
  /**
   * Operations that are stored. An upload that broke off continues there.
   */
  received: number
  /**
   * Null until the upload has ended.
   */
  total: number | null
  /**
   * Operations with a result or an error.
   */
  done: number
  /**
   * Those of them with an error.
   */
  failed: number
  /**
   * Number of errors by the name of their problem type.
   */
  errors: {
    [k: string]: number
  }
  /**
   * Operations per second since the first chunk; null before it.
   */
  ratePerSecond: number | null
  /**
   * At this rate; null while it is unknown.
   */
  secondsLeft: number | null
  /**
   * Unix seconds.
   */
  created: number
  /**
   * Unix seconds after which the job and its results may be deleted.
   */
  deletedAfter: number
  /**
   * Why the job failed.
   */
  reason?: string
  submission?: Submission3
  /**
   * Why the root is not submitted.
   */
  submissionError?: string
}
/**
 * An attestation that the service submits to its chain itself; also the response of GET /verify/v0/submissions/{id}.
 */
export interface Submission3 {
  id: string
  status: 'queued' | 'sent' | 'mined' | 'finalized' | 'failed'
  chainId: number
  uid?: string
  time?: number
  transactionHash?: string
  blockNumber?: number
  error?: string
}
/**
 * A geometry that an API key has stored.
 */
export interface StoredGeometry {
  ref: GeometryRef
  /**
   * Size of its canonical text, which counts towards the quota.
   */
  bytes: number
  /**
   * When it was stored, in Unix seconds.
   */
  created: number
  /**
   * When it is deleted unless it is used, in Unix seconds.
   */
  expires: number
  geometry?: Geometry
}
/**
 * Body of POST /compute/v0/resign: two unchanged members of a compute response, and the chain that it was signed for. Unknown members are ignored.
 */
export interface ResignRequest {
  attestation: SignedAttestationData
  delegatedAttestation: ProofDelegation
  /**
   * EIP-155 id of the chain that the delegated attestation is formatted for.
   */
  chainId: number
  [k: string]: unknown
}
export interface SignedAttestationData {
  schema: string
  attester: string
  recipient: string
  data: string
  revocable: boolean
  refUID: string
  signature?: string
  [k: string]: unknown
}
/**
 * The members of a compute response that a new signature changes.
 */
export interface ResignResponse {
  attestation: AttestationData
  delegatedAttestation: DelegatedAttestationData
}
export interface VerifyStampRequest {
  stamp: LocationStamp
  /**
   * The file whose hash a proofmode stamp has as FileHash, in base64; it is hashed and not stored.
   */
  media?: string
  [k: string]: unknown
}
/**
 * One observation by one proof-of-location system.
 */
export interface LocationStamp {
  lpVersion: '0.2'
  locationType: string
  /**
   * A GeoJSON geometry, or text in the notation that locationType names.
   */
  location: Geometry | string
  srs: string
  temporalFootprint: TemporalFootprint
  plugin: string
  pluginVersion: string
  signals: {
    [k: string]: unknown
  }
  /**
   * @maxItems 16
   */
  signatures: StampSignature[]
  [k: string]: unknown
}
/**
 * Unix seconds.
 */
export interface TemporalFootprint {
  start: number
  end: number
  [k: string]: unknown
}
export interface StampSignature {
  signer: SubjectIdentifier
  algorithm: string
  /**
   * Hex with the prefix 0x.
   */
  value: string
  /**
   * Unix seconds.
   */
  timestamp: number
  [k: string]: unknown
}
export interface VerifyProofRequest {
  proof: EvidenceProof
  options?: VerifyOptions
  [k: string]: unknown
}
export interface EvidenceProof {
  claim: LocationClaim
  /**
   * @minItems 1
   * @maxItems 64
   */
  stamps: LocationStamp[]
  [k: string]: unknown
}
export interface VerifyOptions {
  /**
   * Signs the result for this chain; without chainId nothing is signed.
   */
  chainId?: number
  submitOnchain?: boolean
  /**
   * Recipient of the attestation. Default: the zero address.
   */
  recipient?: string
  [k: string]: unknown
}
export interface VerifyStampResponse {
  valid: boolean
  signaturesValid: boolean
  structureValid: boolean
  signalsConsistent: boolean
  pluginResult: StampDetails
  details: StampDetails
  [k: string]: unknown
}
/**
 * The checks that were made, and the members that the plugin adds.
 */
export interface StampDetails {
  checks: EvidenceCheck[]
  structure: EvidenceCheck[]
  signatures: SignatureVerdict[]
  evaluation?: {
    [k: string]: unknown
  }
  [k: string]: unknown
}
export interface EvidenceCheck {
  id: string
  ok: boolean
  severity: 'fail' | 'warn' | 'info'
  measured: number | string | boolean | null
  limit: number | string | boolean | null
  [k: string]: unknown
}
export interface SignatureVerdict {
  index: number
  ok: boolean
  reason: string
  recovered: string | null
  message?: string | null
  boundToSubject?: boolean
  [k: string]: unknown
}
export interface VerifyProofResponse {
  proof: {
    [k: string]: unknown
  }
  credibility: CredibilityVector
  evaluationMethod: string
  evaluatedAt: number
  chainId?: number
  attestation?: ProofAttestation
  delegatedAttestation?: ProofDelegation
  submission?: Submission
  [k: string]: unknown
}
export interface CredibilityVector {
  dimensions: CredibilityDimensions
  stampResults: StampResult[]
  meta: CredibilityMeta
  extensions: CredibilityExtensions
  [k: string]: unknown
}
export interface CredibilityDimensions {
  spatial: SpatialDimension
  temporal: TemporalDimension
  validity: ValidityDimension
  independence: IndependenceDimension
  [k: string]: unknown
}
export interface SpatialDimension {
  meanDistanceMeters: number
  maxDistanceMeters: number
  withinRadiusFraction: number
  [k: string]: unknown
}
export interface TemporalDimension {
  meanOverlap: number
  minOverlap: number
  fullyOverlappingFraction: number
  [k: string]: unknown
}
export interface ValidityDimension {
  signaturesValidFraction: number
  structureValidFraction: number
  signalsConsistentFraction: number
  [k: string]: unknown
}
export interface IndependenceDimension {
  uniquePluginRatio: number
  spatialAgreement: number
  pluginNames: string[]
  [k: string]: unknown
}
export interface StampResult {
  stampIndex: number
  plugin: string
  signaturesValid: boolean
  structureValid: boolean
  signalsConsistent: boolean
  distanceMeters: number
  temporalOverlap: number
  withinRadius: boolean
  details: StampDetails
  [k: string]: unknown
}
export interface CredibilityMeta {
  stampCount: number
  evaluatedAt: number
  evaluationMode: 'local' | 'tee' | 'zk'
  [k: string]: unknown
}
export interface CredibilityExtensions {
  distinctSigners: number
  duplicateStamps: number
  weightedMeanDistance: number
  maxImpliedSpeedMps: number
  mockStamps: number
  boundToSubjectFraction: number
  supportingStamps: number
  supportingSigners: number
  [k: string]: unknown
}
/**
 * An account of a wallet, and what it may use.
 */
export interface Account {
  /**
   * eip155:<chain>:<address>, in lower case. Chain 0 stands for all chains.
   */
  account: string
  /**
   * With its checksum (EIP-55).
   */
  address: string
  /**
   * The chain of the contract that is the account. Null for an address that signs with a key of its own, on all chains.
   */
  chainId: number | null
  tier: 'public' | 'developer' | 'internal'
  /**
   * What the sessions and keys of the account may use together.
   */
  requestsPerHour: number
  /**
   * What all accounts of wallets may use together from one network address.
   */
  addressRequestsPerHour: number
  scopes: ('compute' | 'verify' | 'records' | 'jobs')[]
  /**
   * How many API keys the account may have.
   */
  maxKeys: number
  /**
   * When the token of this request ends, ISO 8601.
   */
  expiresAt: string
}
/**
 * A location attestation as the record API returns it
 */
export interface LocationRecord {
  /**
   * UID of the attestation, lower case
   */
  uid: string
  /**
   * Name of the chain where it is registered
   */
  chain: string
  /**
   * Address of the attester, lower case
   */
  prover: string
  /**
   * Address of the recipient, lower case
   */
  subject: string
  /**
   * Block time
   */
  timestamp: string
  /**
   * When the location event occurred, as attested
   */
  event_timestamp: string
  /**
   * Spatial reference system, as attested
   */
  srs: string
  /**
   * Format of the location, as attested
   */
  location_type: string
  /**
   * GeoJSON geometry as JSON text
   */
  location: string
  /**
   * Present for points; null for other geometries
   */
  longitude: number | null
  /**
   * Present for points; null for other geometries
   */
  latitude: number | null
  /**
   * Names of proof recipes
   */
  recipe_types: string[]
  /**
   * Their payloads, base64
   */
  recipe_payloads: string[]
  /**
   * MIME types of attached media
   */
  media_types: string[]
  /**
   * The media, or references to them
   */
  media_data: string[]
  /**
   * Free text; null if there is none
   */
  memo: string | null
  revoked: boolean
  /**
   * When this service stored it
   */
  created_at: string
  /**
   * When this service last changed it
   */
  updated_at: string
  /**
   * Whether the block of the attestation is final on its chain; false if the service does not read that chain
   */
  finalized: boolean
}
/**
 * A page of records, newest block first
 */
export interface LocationRecordList {
  data: LocationRecord[]
  /**
   * Number of all matching records, not only those of this page
   */
  count: number
  limit: number
  offset: number
}
export interface RecordConfig {
  /**
   * Whether records are read from the chain
   */
  chains: {
    arbitrum: boolean
    celo: boolean
    sepolia: boolean
    base: boolean
  }
  /**
   * The same for every chain, by its name
   */
  chains_all: {
    [k: string]: boolean
  }
  schema: string
  schema_fields: string
  version: 'v0'
}
export interface RecordStats {
  total: number
  by_chain: {
    [k: string]: number
  }
  /**
   * Counts by block time
   */
  by_time: {
    last_24_hours: number
    last_7_days: number
    last_30_days: number
  }
  revoked: number
}
/**
 * An error of the record and sync API
 */
export interface RecordError {
  status: 'error'
  message: string
  detail: string
}
/**
 * Answer of relate without a pattern. A matrix is not signed: ask with a pattern for a signed answer.
 */
export interface MatrixResponse {
  /**
   * Dimensions in which interior, boundary and exterior of geometry1 (rows) meet those of geometry2 (columns); F if they do not.
   */
  matrix: string
  operation: 'relate'
  timestamp: number
  /**
   * @minItems 2
   * @maxItems 2
   */
  inputRefs: string[]
  inputSalts?: InputSalts
  /**
   * @minItems 1
   */
  notes?: Note[]
  proofInputs?: ProofInput[]
}
/**
 * Answer of direct: the end of the geodesic, not signed.
 */
export interface DirectResponse {
  geometry: Point
  /**
   * The reference of the geometry as an input.
   */
  ref: string
  /**
   * Degrees clockwise from north.
   */
  azimuthDegrees: number
  operation: 'direct'
  timestamp: number
  /**
   * @minItems 1
   * @maxItems 1
   */
  inputRefs: string[]
  inputSalts?: InputSalts
  /**
   * @minItems 1
   */
  notes?: Note[]
  proofInputs?: ProofInput[]
}
/**
 * Answer of waypoints: the geodesic with a place every everyMeters, not signed. A MultiLineString if it crosses longitude ±180.
 */
export interface WaypointsResponse {
  geometry: LineString | MultiLineString
  /**
   * The reference of the geometry as an input.
   */
  ref: string
  lengthMeters: number
  operation: 'waypoints'
  timestamp: number
  /**
   * @minItems 2
   * @maxItems 2
   */
  inputRefs: string[]
  inputSalts?: InputSalts
  /**
   * @minItems 1
   */
  notes?: Note[]
  proofInputs?: ProofInput[]
}
/**
 * Answer of nearest: the two places between which distance measures, not signed.
 */
export interface NearestResponse {
  from: NearestPlace1
  to: NearestPlace1
  /**
   * The result of distance.
   */
  distanceMeters: number
  operation: 'nearest'
  timestamp: number
  /**
   * @minItems 2
   * @maxItems 2
   */
  inputRefs: string[]
  inputSalts?: InputSalts
  /**
   * @minItems 1
   */
  notes?: Note[]
  proofInputs?: ProofInput[]
}
/**
 * Answer of buffer: the places within a radius of a Point, not signed. A MultiPolygon if it crosses longitude ±180.
 */
export interface BufferResponse {
  geometry: Polygon | MultiPolygon
  /**
   * The reference of the geometry as an input.
   */
  ref: string
  /**
   * The boundary is nowhere farther than this from the circle, with straight and with geodesic edges.
   */
  errorMeters: number
  operation: 'buffer'
  timestamp: number
  /**
   * @minItems 1
   * @maxItems 1
   */
  inputRefs: string[]
  inputSalts?: InputSalts
  /**
   * @minItems 1
   */
  notes?: Note[]
  proofInputs?: ProofInput[]
}
/**
 * Answer of repair: a valid geometry, not signed. It is that of the request if that is valid.
 */
export interface RepairResponse {
  geometry: Geometry
  /**
   * The reference of the geometry as an input.
   */
  ref: string
  /**
   * What was changed, in the order of the rings. Empty if the geometry was valid.
   *
   * @maxItems 1000
   */
  changes: RepairChange[]
  /**
   * Number of changes that are not listed. Present if there are more than 1000.
   */
  omittedChanges?: number
  /**
   * Area of the places that are inside of one of the two geometries only, rounded to the square centimetre.
   */
  areaMovedSquareMeters: number
  operation: 'repair'
  timestamp: number
  /**
   * @minItems 1
   * @maxItems 1
   */
  inputRefs: string[]
  inputSalts?: InputSalts
  /**
   * @minItems 1
   */
  notes?: Note[]
  proofInputs?: ProofInput[]
}
export interface SignInNonce {
  /**
   * For one message, within a few minutes.
   */
  nonce: string
  /**
   * The time of the service, ISO 8601, for the field Issued At of the message. With the clock of its own machine, a client that is over a minute ahead could not sign in.
   */
  issuedAt: string
}
/**
 * The only response that ever has these tokens.
 */
export interface SessionTokens {
  /**
   * For Authorization: Bearer.
   */
  token: string
  /**
   * When the token ends, ISO 8601.
   */
  expiresAt: string
  /**
   * For one request to /auth/refresh.
   */
  refreshToken: string
  /**
   * The tier of the token.
   */
  tier: 'public' | 'developer' | 'internal'
  /**
   * Why the token does not have the tier that WALLET_TIER_TOKEN gives to holders, if the service has such a tier.
   */
  tierNote?: string
}
/**
 * Properties of a new API key of an account. Its tier and its limit are those of the account.
 */
export interface AccountKeyRequest {
  label?: string
  /**
   * @minItems 1
   */
  scopes?: ('compute' | 'verify' | 'records' | 'jobs')[]
  /**
   * ISO 8601, in the future. Without it, the key is valid until it is revoked.
   */
  expiresAt?: string
  /**
   * @minItems 1
   * @maxItems 32
   */
  origins?: string[]
  /**
   * @minItems 1
   * @maxItems 32
   */
  addresses?: string[]
}
export interface StoredGeometryList {
  /**
   * Newest first, at most 1000.
   */
  geometries: StoredGeometry[]
  /**
   * Number of all geometries of the key.
   */
  count: number
  /**
   * The part of the quota that they and the sets of the key use.
   */
  usedBytes: number
  /**
   * The quota.
   */
  maxBytes: number
}
export interface DeletedGeometry {
  deleted: GeometryRef
}
/**
 * A set of features that an API key has stored.
 */
export interface StoredSet {
  name: SetName
  /**
   * Number of its features.
   */
  features: number
  vertices: number
  /**
   * Size of its features as lines of GeoJSON, which counts towards the quota.
   */
  bytes: number
  /**
   * When it was stored, in Unix seconds.
   */
  created: number
  /**
   * When it is deleted unless it is used, in Unix seconds.
   */
  expires: number
}
export interface StoredSetList {
  /**
   * By name.
   */
  sets: StoredSet[]
}
export interface DeletedSet {
  deleted: SetName
}
/**
 * A feature of a set. Heights are not kept.
 */
export interface SetFeature {
  type: 'Feature'
  id?: string | number
  geometry: Geometry
  properties?: {
    [k: string]: unknown
  } | null
  [k: string]: unknown
}
/**
 * One line of the response of a match.
 */
export interface MatchLine {
  /**
   * The id of the line, if it has one.
   */
  id?: string | number
  /**
   * The features that match: in the order of the set, or the nearest first.
   */
  matches?: Match[]
  /**
   * True if more features match than limit allows.
   */
  truncated?: true
  error?: ProblemDetails
}
/**
 * With attest each, it also has the members of the response of contains, intersects or distance.
 */
export interface Match {
  /**
   * The id of the feature or, if it has none, its index in the set.
   */
  feature: string | number
  properties?: {
    [k: string]: unknown
  } | null
  /**
   * Metres, rounded to the centimetre.
   */
  distance?: number
  [k: string]: unknown
}
export interface KeyList {
  keys: ApiKey[]
}
/**
 * An API key, without its secret.
 */
export interface ApiKey {
  id: KeyId
  tier: 'public' | 'developer' | 'internal'
  label: string
  /**
   * ISO 8601, as all times here.
   */
  createdAt: string
  scopes: KeyScopes
  expiresAt?: string
  requestsPerHour?: number
  origins?: string[]
  addresses?: string[]
  /**
   * The account that made the key, for keys of accounts.
   */
  owner?: string
  replacedBy?: KeyId1
  /**
   * When the key was last used, to about a minute. Only for keys in the database.
   */
  lastUsedAt?: string
}
/**
 * The only response that ever has the key itself.
 */
export interface NewKey {
  key: string
  properties: ApiKey
}
export interface RevokedKey {
  revoked: KeyId
}
/**
 * What an API key used. Days are those of UTC, and both are included.
 */
export interface KeyUsage {
  from: string
  to: string
  /**
   * Everything before this time is included; null if no process has stored anything yet.
   */
  completeUntil: string | null
  /**
   * By day and kind of request, without days and kinds that were not used.
   */
  usage: UsageOfDay[]
}
export interface UsageOfDay {
  day: string
  /**
   * A compute operation, batch, verify, records, graphql, jobs or other.
   */
  kind: string
  /**
   * Requests answered.
   */
  requests: number
  /**
   * Results of single requests and items of batches.
   */
  operations: number
  /**
   * Bytes charged.
   */
  bytes: number
  /**
   * Vertices charged.
   */
  vertices: number
  /**
   * Milliseconds of processor time charged.
   */
  cpuMs: number
  /**
   * Responses with a status of 400 to 499.
   */
  errors4xx: number
  /**
   * Responses with a status of 500 to 599.
   */
  errors5xx: number
}
