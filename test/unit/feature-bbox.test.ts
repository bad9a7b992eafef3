import { expect, it } from 'vitest'
import { readItemsQuery } from '../../src/validation/ogc-query.ts'

it.each(['1,2,3', '1,2,3,4,5'])('a box of features has 4 or 6 numbers: %s', (bbox) => {
  const count = bbox.split(',').length
  expect(() => readItemsQuery(`bbox=${bbox}`, new Map())).toThrow(
    expect.objectContaining({
      data: expect.objectContaining({ detail: `Expected 4 or 6 numbers: ${count} are given` }),
    }),
  )
})
