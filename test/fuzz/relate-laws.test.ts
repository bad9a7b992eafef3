import { describe, expect, it } from 'vitest'
import { checkRelateLaws } from '../relate-laws.ts'
import { scaled } from '../scale.ts'
import { SEED } from '../seeded.ts'

/** `npm run test:long` tries 1,000,000. */
const cases = scaled(100_000)

describe('the matrices of geometries that touch', () => {
  it(`obey every law in ${cases} cases from seed ${SEED} on`, { timeout: 60_000 + 50 * cases }, async () => {
    const report = await checkRelateLaws(cases, SEED)
    const { broken, matrices } = report
    console.log(
      `${report.cases} cases from seed ${SEED} on, ${matrices.size} matrices, broken: ${JSON.stringify(broken)}`,
    )
    expect(report.examples).toEqual([])
    // The cases have many different matrices, none of them nearly always.
    expect(matrices.size).toBeGreaterThan(80)
    expect(Math.max(...matrices.values())).toBeLessThan(cases / 4)
  })
})
