/** Values that most messages between threads contain. */

/** `0x` and hex digits. */
export type Hex = `0x${string}`

/** Kinds of attested data. The signer knows their layouts and signs nothing else (decision 95). */
export type AttestationKind = 'numeric' | 'boolean' | 'verify' | 'merkle-root'

export type OperationName =
  | 'distance'
  | 'area'
  | 'length'
  | 'contains'
  | 'within'
  | 'intersects'
  | 'relate'
  | MatrixPredicate
  | GeometryOperation

/** Predicates by name that a DE-9IM matrix decides. */
export type MatrixPredicate = 'equals' | 'disjoint' | 'touches' | 'crosses' | 'overlaps' | 'covers' | 'coveredBy'

/** Operations whose answer is a geometry, which is not signed. */
export type GeometryOperation = 'direct' | 'waypoints' | 'nearest' | 'buffer' | 'repair'

/** An EAS attestation as read from a chain. Integers that fit into a number are numbers. */
export interface ChainAttestation {
  readonly uid: Hex
  readonly schema: Hex
  readonly timeSeconds: number
  readonly expirationTimeSeconds: number
  readonly revocationTimeSeconds: number
  readonly refUID: Hex
  readonly recipient: Hex
  readonly attester: Hex
  readonly revocable: boolean
  readonly data: Hex
}

/** Whether a chain's contracts are the ones we sign for: they match, could not be read yet, or differ. */
export type ChainState =
  | { readonly state: 'ok' }
  | { readonly state: 'unverified'; readonly reason: string }
  | { readonly state: 'refused'; readonly reason: string }

/** Result of a lookup on a chain. `value` is undefined if nothing is there. `wrong`: the RPC response cannot be correct. */
export type ChainResult<T> =
  | { readonly ok: true; readonly value: T | undefined }
  | { readonly ok: false; readonly reason: string; readonly cause: 'unreachable' | 'wrong' }
