import { describe, expect, it } from 'vitest'
import { checkLaws, rareCombinations } from '../contact-laws.ts'
import { scaled } from '../scale.ts'
import { SEED } from '../seeded.ts'

/** `npm run test:long` tries 1,000,000. */
const cases = scaled(100_000)

describe('geometries that touch', () => {
  it(`obey every law of predicates and distances in ${cases} cases from seed ${SEED} on`, {
    timeout: 60_000 + 50 * cases,
  }, async () => {
    const report = await checkLaws(cases, SEED)
    console.log(`${report.cases} cases from seed ${SEED} on, laws broken: ${JSON.stringify(report.broken)}`)
    expect(report.examples).toEqual([])
    // Every combination occurs often enough for the laws to be tested.
    expect(rareCombinations(report, Math.floor(cases / 5000))).toEqual([])
    for (const outcome of ['contains: true', 'intersects: false', 'isWithin: true']) {
      expect(report.tally.get(outcome), outcome).toBeGreaterThan(cases / 1000)
    }
  })
})
