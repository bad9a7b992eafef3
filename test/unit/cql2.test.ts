import { describe, expect, it } from 'vitest'
import type { ProblemError } from '../../src/base/problem.ts'
import { readFilter } from '../../src/validation/cql2.ts'
import { CRS84 } from '../../src/validation/reference-systems.ts'

const CONTEXT = { chains: new Map([['celo', 42220]]), crs: CRS84 } as const
const text = (filter: string) => readFilter(filter, 'cql2-text', CONTEXT)
const json = (filter: unknown) => readFilter(JSON.stringify(filter), 'cql2-json', CONTEXT)
const PROVER = `0x${'Ab'.repeat(20)}`
const REVOKED = { op: '=', property: 'revoked', value: true }

describe('filters in CQL2', () => {
  it.each([
    ['revoked = TRUE', REVOKED],
    ['TRUE = "revoked"', REVOKED],
    ['true', { op: 'and', args: [] }],
    ['FALSE', { op: 'or', args: [] }],
    ['uid IS NULL', { op: 'or', args: [] }],
    ['uid is not null', { op: 'not', args: [{ op: 'or', args: [] }] }],
    [`prover='${PROVER}'`, { op: '=', property: 'prover', value: PROVER.toLowerCase() }],
    ["chain <> 'celo'", { op: '<>', property: 'chain', value: 42220 }],
    ["DATE('1970-01-02') < timestamp", { op: '>', property: 'timestamp', value: 86_400 }],
    ["timestamp >= TIMESTAMP('1970-01-01T00:00:00.5Z')", { op: '>=', property: 'timestamp', value: 1 }],
    ["timestamp > TIMESTAMP('1970-01-01T00:00:00.5Z')", { op: '>', property: 'timestamp', value: 0 }],
    ["timestamp = TIMESTAMP('1970-01-01T00:00:00.5Z')", { op: 'or', args: [] }],
    ['s_intersects(geometry, BBOX(170,-10,-170,10))', { op: 's_intersects', bbox: [170, -10, -170, 10] }],
    // NOT binds closer than AND, and AND closer than OR.
    [
      'not revoked = true and true or false',
      {
        op: 'or',
        args: [
          {
            op: 'and',
            args: [
              { op: 'not', args: [REVOKED] },
              { op: 'and', args: [] },
            ],
          },
          { op: 'or', args: [] },
        ],
      },
    ],
  ])('reads %s', (filter, expected) => {
    expect(text(filter)).toEqual(expected)
  })

  it.each([
    '',
    'revoked',
    'revoked =',
    'revoked = 1',
    "chain < 'celo'",
    "chain = 'bitcoin'",
    "chain = 'celo",
    "chain = 'celo'; drop table location_record",
    "chain = 'celo' OR",
    "memo = 'x'",
    "__proto__ = 'x'",
    "uid = '0x12'",
    "timestamp = '2026-01-01'",
    "timestamp = DATE('2026-02-30')",
    's_intersects(geometry, BBOX(1,2,3))',
    's_intersects(geometry, POINT(1 2))',
    's_intersects(uid, BBOX(1,2,3,4))',
    '(revoked = true',
    `${'('.repeat(5000)}true${')'.repeat(5000)}`,
    Array(60).fill('true').join(' and '),
  ])('rejects %.60s', (filter) => {
    expect(() => text(filter)).toThrow(expect.objectContaining({ name: 'ProblemError' }))
  })

  it.each([
    ["uid LIKE '0x%'", '"LIKE" is not supported'],
    ["chain IN ('celo')", '"IN" is not supported'],
    ["timestamp BETWEEN DATE('2026-01-01') AND DATE('2026-02-01')", '"BETWEEN" is not supported'],
    ['S_WITHIN(geometry, BBOX(1,2,3,4))', '"S_WITHIN" is not supported'],
    ["CASEI(chain) = 'celo'", '"CASEI" is not supported'],
    ['S_INTERSECTS(geometry, POINT(1 2))', '"POINT" is not supported'],
    ['S_INTERSECTS(geometry, uid)', 's_intersects takes a box, and no other geometry'],
    ['timestamp + 1 = timestamp', '"+ 1 = timestamp" is not understood'],
    ["memo = 'x'", '"memo" is not queryable'],
  ])('says what is supported instead of %s', (filter, what) => {
    let detail: string | undefined
    try {
      text(filter)
    } catch (error) {
      detail = (error as ProblemError).data.detail
    }
    expect(detail?.startsWith(`${what}; supported are AND, OR, NOT`)).toBe(true)
    expect(detail).toContain('S_INTERSECTS(geometry, BBOX(west, south, east, north))')
    expect(detail).toContain('uid, chain, prover, subject, timestamp, event_timestamp, revoked')
    expect(detail).toContain('/queryables')
  })

  it('rejects JSON that is not a filter, and nested too deeply', () => {
    let deep: unknown = true
    for (let level = 0; level < 30; level++) deep = { op: 'not', args: [deep] }
    const wrong = [
      null,
      1,
      'x',
      [],
      {},
      { op: 'and', args: [] },
      { op: 'not', args: [true, true] },
      { op: '=', args: [] },
    ]
    for (const filter of [...wrong, deep, { op: 'like', args: [{ property: 'uid' }, 'x'] }]) {
      expect(() => json(filter)).toThrow(expect.objectContaining({ name: 'ProblemError' }))
    }
    expect(() => readFilter('{', 'cql2-json', CONTEXT)).toThrow(expect.objectContaining({ name: 'ProblemError' }))
  })
})
