/** What is asked: one operation on one or two inputs. */
import { OPERATIONS } from '../../../src/compute/operations.ts'
import type { OperationName } from '../../../src/messages.ts'
import type { Geometry, Input } from '../../../src/types/generated.ts'
import type { Reading } from '../geo/edges.ts'

export interface Question {
  readonly operation: OperationName
  /** The first input, and the second of the operations that have two. */
  readonly a: Input
  readonly b: Input
  /** Of `within` alone. */
  readonly radiusMeters: number
  readonly chainId: number
  /** Empty: anybody. */
  readonly recipient: string
}

export interface OperationWords {
  readonly title: string
  readonly question: string
  /** What the inputs are to the operation. */
  readonly roles: readonly string[]
  /** Shapes that can be drawn for each input. */
  readonly draws: readonly (readonly ('point' | 'line' | 'polygon' | 'rectangle' | 'circle')[])[]
}

const ANY = ['point', 'line', 'polygon', 'rectangle', 'circle'] as const
const AREAS = ['polygon', 'rectangle', 'circle'] as const

export const WORDS: Readonly<Record<OperationName, OperationWords>> = {
  distance: { title: 'Distance', question: 'How far is A from B?', roles: ['From', 'To'], draws: [ANY, ANY] },
  length: { title: 'Length', question: 'How long is A?', roles: ['Line'], draws: [['line']] },
  area: { title: 'Area', question: 'How large is A?', roles: ['Polygon'], draws: [AREAS] },
  within: { title: 'Within', question: 'Is A within a radius of B?', roles: ['Geometry', 'Target'], draws: [ANY, ANY] },
  contains: { title: 'Contains', question: 'Does A contain B?', roles: ['Container', 'Containee'], draws: [ANY, ANY] },
  intersects: {
    title: 'Intersects',
    question: 'Do A and B share any place?',
    roles: ['First', 'Second'],
    draws: [ANY, ANY],
  },
}

export const OPERATION_NAMES = Object.keys(WORDS) as OperationName[]

/** How an operation reads edges: measures run along geodesics, the exact predicates in the plane of longitude and latitude. */
export function readingOf(operation: OperationName): Reading {
  return operation === 'contains' || operation === 'intersects' ? 'planar' : 'geodesic'
}

export function inputsOf({ operation, a, b }: Question): readonly Input[] {
  return OPERATIONS[operation].inputs.length === 1 ? [a] : [a, b]
}

export function geometryOf(input: Input): Geometry | undefined {
  return 'type' in input && input.type !== 'Feature' ? (input as Geometry) : undefined
}

/** The operation as it is signed. */
export function operationText({ operation, radiusMeters }: Question): string {
  return operation === 'within' ? `within:${Math.round(radiusMeters * 100)}` : operation
}

/** Body of the request. */
export function bodyOf(question: Question): Record<string, unknown> {
  const { operation, radiusMeters, chainId, recipient } = question
  const names = OPERATIONS[operation].inputs
  const members = inputsOf(question).map((input, index) => [names[index]!, input])
  return {
    chainId,
    ...Object.fromEntries(members),
    ...(operation === 'within' ? { radius: radiusMeters } : {}),
    ...(recipient === '' ? {} : { recipient }),
  }
}

/** An input that the operation can take, where the present one cannot be: a polygon for `area`, a line for `length`. */
export function fitting(operation: OperationName, input: Input): Input | undefined {
  const geometry = geometryOf(input)
  const accepts = OPERATIONS[operation].accepts
  if (geometry === undefined || accepts === undefined) return input
  return accepts.some((type) => type === geometry.type) ? input : undefined
}
