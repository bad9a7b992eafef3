import { describe, expect, it } from 'vitest'
import { PROBLEMS, type ProblemData } from '../../src/base/problem.ts'
import { createRequestIds, isRequestId } from '../../src/http/access/request-state.ts'
import {
  contentResponse,
  isFieldValue,
  preflightResponse,
  problemResponse,
  type ResponseContext,
} from '../../src/http/routes/respond.ts'
import { framingProblem, RequestHead } from '../../src/http/transport/request-head.ts'

const context: ResponseContext = {
  requestId: 'id',
  rate: { limit: 100, remaining: 99, resetSeconds: 4600 },
  policies: '"requests";q=100;w=3600',
  remaining: '"requests";r=99;t=3600',
  nowMs: 1_000_000,
  path: '/compute/v0/area',
  errorTypeBase: 'http://a/errors',
}
const measureBody = (problem: ProblemData, path = '/compute/v0/area') => {
  const { body } = problemResponse({ ...context, path }, problem)
  JSON.parse(body)
  return Buffer.byteLength(body)
}

describe('problem details', () => {
  // Worst cases: a control character becomes six bytes in JSON, and a letter of another script three.
  it.each([
    ['letters', 'x'],
    ['control characters', '\u0001'],
    ['quotes', '"\\'],
    ['other scripts', '雨'],
    ['characters beyond 16 bits', '🌧'],
    ['lone surrogates', '\ud83c'],
  ])('stay below 4 KB with 10,000 %s in every member', (_name, unit) => {
    const text = unit.repeat(10_000)
    const error = { pointer: `#/${text}`, detail: text, code: text, hint: text }
    const size = measureBody(
      { type: 'invalid-input', detail: text, invalidParts: Array.from({ length: 50 }, () => error) },
      `/${text}`,
    )
    expect(size).toBeLessThan(4096)
    expect(size).toBeGreaterThan(200)
  })

  it.each([
    ['problem', '/compute/v0/area', (body: string) => JSON.parse(body).detail],
    ['record error', '/api/v0/config', (body: string) => JSON.parse(body).detail],
    ['error of the older API', '/v1/verify', (body: string) => JSON.parse(body).error.message],
  ])('are never cut within a character: %s', (_name, path, readDetail) => {
    for (let shift = 0; shift < 4; shift++) {
      const problem: ProblemData = { type: 'validation', detail: 'x'.repeat(shift) + '🌧'.repeat(500) }
      const detail = readDetail(problemResponse({ ...context, path }, problem).body)
      expect(detail.endsWith('…')).toBe(true)
      expect(detail.isWellFormed?.() ?? !/[\ud800-\udbff](?![\udc00-\udfff])/.test(detail)).toBe(true)
    }
  })

  it('list at most ten errors, and omit an empty list', () => {
    const errors = Array.from({ length: 12 }, (_, index) => ({ pointer: `#/${index}`, detail: 'd' }))
    const { body } = problemResponse(context, { type: 'invalid-input', detail: 'd', invalidParts: errors })
    expect(JSON.parse(body).errors).toHaveLength(10)
    expect(JSON.parse(problemResponse(context, { type: 'internal', detail: 'd' }).body)).not.toHaveProperty('errors')
  })

  it('keep a short error whole', () => {
    const error = { pointer: '#/a/0', detail: 'd', code: 'c', hint: 'h' }
    const { body } = problemResponse(context, { type: 'invalid-input', detail: 'd', invalidParts: [error] })
    expect(JSON.parse(body).errors).toEqual([error])
  })

  it.each(Object.entries(PROBLEMS))('take the status and title of %s from the table', (type, { status, title }) => {
    const response = problemResponse(context, { type: type as keyof typeof PROBLEMS, detail: 'd' })
    expect(response.status).toBe(status)
    expect(JSON.parse(response.body)).toMatchObject({ status, title, type: `http://a/errors/${type}` })
  })

  it('have a Retry-After of whole seconds, at least one', () => {
    const readRetryAfter = (problem: ProblemData) => {
      const { fields } = problemResponse(context, problem)
      const index = fields.indexOf('Retry-After')
      return index < 0 ? undefined : fields[index + 1]
    }
    expect(readRetryAfter({ type: 'rate-limited', detail: 'd' })).toBe('3600')
    expect(readRetryAfter({ type: 'overloaded', detail: 'd', retryAfterSeconds: 0.2 })).toBe('1')
    expect(readRetryAfter({ type: 'internal', detail: 'd', retryAfterSeconds: 5 })).toBe('5')
    expect(readRetryAfter({ type: 'internal', detail: 'd' })).toBeUndefined()
  })

  it('have the shape of the record API only below /api', () => {
    const problem: ProblemData = { type: 'not-found', detail: 'd' }
    expect(JSON.parse(problemResponse({ ...context, path: '/api/x' }, problem).body)).toEqual({
      status: 'error',
      message: 'Not found',
      detail: 'd',
    })
    expect(JSON.parse(problemResponse({ ...context, path: '/apiary' }, problem).body)).toHaveProperty('type')
  })
})

describe('a page of another origin', () => {
  const readList = (pairs: readonly string[], name: string) =>
    pairs[pairs.indexOf(name) + 1]!.split(',').map((item) => item.trim().toLowerCase())

  it.each([
    'Content-Type',
    'Authorization',
    'X-API-Key',
    'X-Request-Id',
    'Prefer',
    'Last-Event-ID',
    'Idempotency-Key',
    'If-None-Match',
  ])('may send %s', (name) => {
    const { pairs } = preflightResponse(context, 'POST, OPTIONS').headers
    expect(readList(pairs, 'Access-Control-Allow-Headers')).toContain(name.toLowerCase())
  })

  it('may read the ETag that it sends back in If-None-Match', () => {
    const { pairs } = contentResponse(context, 200, 'asset', '').headers
    expect(readList(pairs, 'Access-Control-Expose-Headers')).toContain('etag')
  })
})

describe('header lines', () => {
  it('are the same in both forms', () => {
    const { headers } = contentResponse(context, 200, 'json', '{}')
    const lines = `${headers.firstName}: ${Buffer.from(headers.remainder).toString()}`.split('\r\n')
    const pairs = lines.flatMap((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)])
    expect(pairs).toEqual(headers.pairs)
  })

  it.each([
    ['plain', true],
    ['a\rb', false],
    ['a\nb', false],
    ['a\0b', false],
    ['ä', false],
    ['\u2028', false],
  ])('may hold %j: %s', (value, isAllowed) => {
    expect(isFieldValue(value)).toBe(isAllowed)
  })
})

describe('framing', () => {
  const isUnambiguous = (lines: readonly string[], method = 'POST') => {
    const head = new RequestHead()
    for (const line of ['host: a', ...lines]) {
      head.add(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim())
    }
    return framingProblem(method, head) === undefined
  }

  it.each([
    [['content-length: 0'], true],
    [['content-length: 5'], true],
    [['content-length: 999999999999999'], true],
    [['transfer-encoding: chunked'], true],
    [['transfer-encoding: Chunked'], true],
    [[], true],
    [['content-length: 5', 'content-length: 5'], false],
    [['content-length: 5', 'transfer-encoding: chunked'], false],
    [['transfer-encoding: chunked', 'transfer-encoding: chunked'], false],
    [['transfer-encoding: gzip, chunked'], false],
    [['transfer-encoding: xchunked'], false],
    [['transfer-encoding:'], false],
    [['content-length:'], false],
    [['content-length: 5 5'], false],
    [['content-length: 5,5'], false],
    [['content-length: +5'], false],
    [['content-length: 0x5'], false],
    [['content-length: ٥'], false],
    [['content-length: 1000000000000000'], false],
    [['host: b'], false],
    [Array.from({ length: 100 }, (_, index) => `x${index}: 1`), false],
  ])('of %j is unambiguous: %s', (lines, isClear) => {
    expect(isUnambiguous(lines)).toBe(isClear)
  })

  it('requires a host and a method that is a token', () => {
    expect(framingProblem('GET', new RequestHead())).toBeDefined()
    expect(isUnambiguous([], '\nGET')).toBe(false)
    expect(isUnambiguous([], 'G`T')).toBe(false)
    expect(isUnambiguous([], 'BREW')).toBe(true)
  })
})

describe('request ids', () => {
  it('do not repeat and are valid request ids', () => {
    const next = createRequestIds()
    const ids = new Set<string>()
    for (let index = 0; index < 200_000; index++) ids.add(next())
    expect(ids.size).toBe(200_000)
    for (const id of [...ids].slice(0, 100)) expect(isRequestId(id)).toBe(true)
  })
})
