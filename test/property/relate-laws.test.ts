import { describe, expect, it } from 'vitest'
import { checkRelateLaws } from '../relate-laws.ts'
import { SEED } from '../seeded.ts'

const CASES = 1000

describe('the matrices of geometries that touch', () => {
  it(`satisfy every law in ${CASES} cases from seed ${SEED}`, async () => {
    expect((await checkRelateLaws(CASES, SEED)).examples).toEqual([])
  })
})
