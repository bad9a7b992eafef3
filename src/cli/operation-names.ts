/** Operations and their inputs, for the help. A test checks that the engine's table is the same. */
export const OPERATION_INPUTS = {
  distance: ['from', 'to'],
  area: ['geometry'],
  length: ['geometry'],
  contains: ['container', 'containee'],
  within: ['geometry', 'target'],
  intersects: ['geometry1', 'geometry2'],
} as const

export type Operation = keyof typeof OPERATION_INPUTS

export const OPERATION_NAMES = Object.keys(OPERATION_INPUTS) as readonly Operation[]
