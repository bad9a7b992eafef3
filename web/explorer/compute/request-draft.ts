/** The request that the compute page edits: one operation on one or two inputs. */
import { OPERATIONS } from '../../../src/compute/operations.ts'
import type { Geometry, Input, SaltedInput, VerifiedProofInput } from '../../../src/types/generated.ts'
import type { Reading } from '../geo/edges.ts'

export type Slot = 'a' | 'b'

/** The operations of the page: those whose request is one or two geometries and a radius. */
export type PageOperation = 'distance' | 'length' | 'area' | 'within' | 'contains' | 'intersects'

export interface RequestDraft {
  readonly operation: PageOperation
  /** `a` is the first input; `b` is the second one, for operations that take two. Without it they cannot be computed. */
  readonly a: Input
  readonly b: Input | undefined
  /** Used by `within` only. */
  readonly radiusMeters: number
  /** Used by `contains` and `intersects` only. Without it, edges are straight in longitude and latitude. */
  readonly edges?: 'geodesic' | undefined
  readonly chainId: number
  /** An address; empty for anyone. */
  readonly recipient: string
  /** Whether the service hashes each input with a salt that it draws, so that nobody can guess it from the result. */
  readonly isPrivate?: boolean | undefined
}

export interface OperationWords {
  readonly title: string
  readonly question: string
  /** The role of each input in the operation. */
  readonly roles: readonly string[]
  /** The shapes that can be drawn for each input. */
  readonly draws: readonly (readonly ('point' | 'line' | 'polygon' | 'rectangle' | 'circle')[])[]
}

const ANY = ['point', 'line', 'polygon', 'rectangle', 'circle'] as const
const AREAS = ['polygon', 'rectangle', 'circle'] as const

export const WORDS: Readonly<Record<PageOperation, OperationWords>> = {
  distance: { title: 'Distance', question: 'How far is A from B?', roles: ['From', 'To'], draws: [ANY, ANY] },
  length: { title: 'Length', question: 'How long is A?', roles: ['Line'], draws: [['line']] },
  area: { title: 'Area', question: 'How large is A?', roles: ['Polygon'], draws: [AREAS] },
  within: { title: 'Within', question: 'Is A within a radius of B?', roles: ['Geometry', 'Target'], draws: [ANY, ANY] },
  contains: { title: 'Contains', question: 'Does A contain B?', roles: ['Container', 'Containee'], draws: [ANY, ANY] },
  intersects: {
    title: 'Intersects',
    question: 'Do A and B share a point?',
    roles: ['First', 'Second'],
    draws: [ANY, ANY],
  },
}

export const OPERATION_NAMES = Object.keys(WORDS) as PageOperation[]

/** Returns how a request reads edges: `contains` and `intersects` use planar edges unless asked otherwise, all others geodesics. */
export function readingOf({ operation, edges }: RequestDraft): Reading {
  return OPERATIONS[operation].takesEdges && edges === undefined ? 'planar' : 'geodesic'
}

/** Returns the inputs of the operation that are set. */
export function inputsOf({ operation, a, b }: RequestDraft): readonly Input[] {
  return takesTwo(operation) && b !== undefined ? [a, b] : [a]
}

/** Returns the inputs as they are sent. An attestation gets no salt, because its UID is public. */
export function sentInputs(draft: RequestDraft): readonly Input[] {
  const inputs = inputsOf(draft)
  return draft.isPrivate === true ? inputs.map((input) => (canHide(input) ? { input, salt: 'random' } : input)) : inputs
}

function canHide(input: Input): input is SaltedInput['input'] {
  const { verifiedProof } = input as Partial<VerifiedProofInput>
  if (verifiedProof !== undefined) return verifiedProof?.attestation === undefined
  return 'type' in input || 'ref' in input
}

export function takesTwo(operation: PageOperation): boolean {
  return OPERATIONS[operation].inputs.length === 2
}

/** Tells whether every input of the operation is set. */
export function isComplete({ operation, b }: RequestDraft): boolean {
  return !takesTwo(operation) || b !== undefined
}

export function geometryOf(input: Input | undefined): Geometry | undefined {
  return input !== undefined && 'type' in input && input.type !== 'Feature' ? (input as Geometry) : undefined
}

/** Returns the operation text that is signed. */
export function operationText({ operation, radiusMeters, edges }: RequestDraft): string {
  if (operation === 'within') return `within:${Math.round(radiusMeters * 100)}`
  return OPERATIONS[operation].takesEdges && edges !== undefined ? `${operation}:${edges}` : operation
}

/** Returns the body of the HTTP request. */
export function bodyOf(draft: RequestDraft): Record<string, unknown> {
  const { operation, radiusMeters, edges, chainId, recipient } = draft
  const names = OPERATIONS[operation].inputs
  const members = sentInputs(draft).map((input, index) => [names[index]!, input])
  return {
    chainId,
    ...Object.fromEntries(members),
    ...(operation === 'within' ? { radius: radiusMeters } : {}),
    ...(OPERATIONS[operation].takesEdges && edges !== undefined ? { edges } : {}),
    ...(recipient === '' ? {} : { recipient }),
  }
}

/** Returns the input if the operation accepts its type, else undefined: `area` needs a polygon, `length` a line. */
function fitting(operation: PageOperation, input: Input): Input | undefined {
  const geometry = geometryOf(input)
  const accepts = OPERATIONS[operation].accepts
  if (geometry === undefined || accepts === undefined) return input
  return accepts.some((type) => type === geometry.type) ? input : undefined
}

/**
 * Returns the draft for another operation: input A stays if it fits, or B takes its place and A becomes B.
 *
 * @returns undefined if neither input fits
 */
export function switchOperation(draft: RequestDraft, operation: PageOperation): RequestDraft | undefined {
  const { a, b } = draft
  if (fitting(operation, a) !== undefined) return { ...draft, operation }
  if (b === undefined || fitting(operation, b) === undefined) return undefined
  return { ...draft, operation, a: b, b: a }
}

/**
 * Returns the input that the next point sets; undefined if the operation takes one input. A line or a polygon stays, unless
 * there is no point to replace. A missing input is set first.
 *
 * @param last the input that the point before replaced
 */
export function nextSlot(draft: RequestDraft, last: Slot | undefined): Slot | undefined {
  if (!takesTwo(draft.operation)) return undefined
  if (draft.b === undefined) return 'b'
  const slots = ['a', 'b'] as const
  const points = slots.filter((slot) => geometryOf(draft[slot])?.type === 'Point')
  const candidates = points.length === 0 ? slots : points
  return last === 'a' && candidates.includes('b') ? 'b' : candidates[0]
}
