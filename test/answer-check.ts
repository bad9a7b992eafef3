/**
 * Setup file of the projects that talk to the built service. Checks every response that `fetch` gets from a service started by
 * `startTestService` against the OpenAPI document, whatever the test itself checks. A test file fails at its end when a response
 * deviates.
 */
import { afterAll, expect } from 'vitest'
import { deviation, isSequence, mediaTypeOf } from './openapi-checker.ts'
import { WATCHED_ORIGINS } from './watched-origins.ts'

const MAX_CHECKED_BYTES = 4 * 1_048_576
const SETTLE_MS = 5000

const violations = new Set<string>()
const pending = new Set<Promise<void>>()
const send = globalThis.fetch

globalThis.fetch = async (input, init) => {
  const response = await send(input, init)
  const url = new URL(response.url || String(input))
  if (!WATCHED_ORIGINS.has(url.origin)) return response
  const method = (init?.method ?? 'GET').toUpperCase()
  // Reads a copy of the body: the test may ignore its own or stop in the middle. Bodies that cannot be read are not checked.
  const text = hasJson(response) ? response.clone().text() : Promise.resolve(undefined)
  const check = text
    .catch(() => undefined)
    .then((body) => {
      const wrong = deviation(method, url.pathname, response, body)
      if (wrong !== undefined) violations.add(`${method} ${url.pathname} ${response.status}: ${wrong}`.slice(0, 600))
    })
  pending.add(check)
  void check.finally(() => pending.delete(check))
  return response
}

afterAll(async () => {
  globalThis.fetch = send // the next file in this process sets it again
  await Promise.race([Promise.all(pending), new Promise((resolve) => setTimeout(resolve, SETTLE_MS))])
  expect([...violations], 'answers that are not as /openapi.json describes them').toEqual([])
})

function hasJson({ headers, body }: Response): boolean {
  const length = Number(headers.get('content-length') ?? 0)
  return body !== null && length <= MAX_CHECKED_BYTES && /\bjson\b/.test(mediaTypeOf(headers)) && !isSequence(headers)
}
