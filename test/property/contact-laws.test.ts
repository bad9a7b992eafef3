import { describe, expect, it } from 'vitest'
import { checkLaws } from '../contact-laws.ts'
import { SEED } from '../seeded.ts'

const CASES = 1000

describe('geometries that touch', () => {
  it(`satisfy every law of predicates and distances in ${CASES} cases from seed ${SEED}`, async () => {
    expect((await checkLaws(CASES, SEED)).examples).toEqual([])
  })
})
