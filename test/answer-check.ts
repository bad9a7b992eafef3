/**
 * Setup file of the projects that talk to the built service. Checks every response that `fetch` gets from a service started by
 * `startTestService` against the OpenAPI document, whatever the test itself checks. A test file fails at its end when a response
 * deviates: an undescribed status, another media type, a body that does not match its schema, a missing header.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, expect } from 'vitest'
import { OPERATIONS, openApiDocument, openApiPath } from '../src/http/openapi/document.ts'
import { COMMON_HEADERS } from '../src/http/openapi/operation.ts'
import { isOlderPath, isRecordPath } from '../src/http/routes/respond.ts'
import type { Method, Route } from '../src/http/routes/route.ts'
import { createRouter } from '../src/http/routes/routes.ts'
import { WATCHED_ORIGINS } from './watched-origins.ts'

/** Statuses with which the transport or the state of the service may reject a request to any route. */
const ANYWHERE = [400, 408, 431, 500, 503]
const MAX_CHECKED_BYTES = 4 * 1_048_576
const SETTLE_MS = 5000

// biome-ignore lint/suspicious/noExplicitAny: a document of another standard, walked by name
type Loose = any

const violations = new Set<string>()
const pending = new Set<Promise<void>>()
let checker: ReturnType<typeof createChecker> | undefined
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
      checker ??= createChecker()
      const wrong = checker(method, url.pathname, response, body)
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

function isSequence(headers: Headers): boolean {
  return /ndjson|json-seq/.test(mediaTypeOf(headers))
}

function mediaTypeOf(headers: Headers): string {
  return (headers.get('content-type') ?? '').split(';')[0]!.trim()
}

function createChecker() {
  const document: Loose = JSON.parse(JSON.stringify(openApiDocument()))
  const keys = Object.keys(OPERATIONS).map((key) => key.split(' ') as [Method, string])
  const find = createRouter(keys.map(([method, path]) => ({ method, path }) as Route))
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'document', components: document.components })
  const compiled = new Map<string, ValidateFunction>()

  return (
    method: string,
    path: string,
    { status, headers }: Response,
    body: string | undefined,
  ): string | undefined => {
    const missing = COMMON_HEADERS.find((name) => headers.get(name) === null)
    if (missing !== undefined) return `has no ${missing}`
    if (method === 'OPTIONS' && status === 204) return undefined
    const route = find(path)?.byMethod[(method === 'HEAD' ? 'GET' : method) as Method]
    const operation =
      route === undefined ? undefined : document.paths[openApiPath(route.path)][route.method.toLowerCase()]
    if (operation === undefined) {
      if (![...ANYWHERE, 404, 405].includes(status)) return 'the document describes no such operation'
      // Outside of the APIs a browser gets a page for an unknown path; the document does not describe that.
      if (status === 404 && mediaTypeOf(headers) === 'text/html' && familyOf(path) === 'problem') return undefined
      return contentProblem(document.components.responses[familyOf(path)], headers, body, method)
    }
    const response =
      operation.responses[status] ?? (ANYWHERE.includes(status) ? operation.responses.default : undefined)
    return response === undefined
      ? 'the status is not described'
      : contentProblem(resolved(response), headers, body, method)
  }

  function resolved(response: Loose): Loose {
    return response.$ref === undefined ? response : document.components.responses[response.$ref.split('/').at(-1)]
  }

  function familyOf(path: string): string {
    return isOlderPath(path)
      ? 'older'
      : !isRecordPath(path)
        ? 'problem'
        : path.startsWith('/ogc')
          ? 'ogc'
          : path.startsWith('/graphql')
            ? 'graphql'
            : 'record'
  }

  function contentProblem(
    response: Loose,
    headers: Headers,
    body: string | undefined,
    method: string,
  ): string | undefined {
    if (response.content === undefined) return undefined
    const type = mediaTypeOf(headers)
    const content = response.content[type] ?? response.content['*/*']
    if (content === undefined) return `${type || 'no type'} is not described`
    if (content.schema === undefined || body === undefined || method === 'HEAD' || isSequence(headers)) return undefined
    const text = JSON.stringify(content.schema).replaceAll('"#/components', '"document#/components')
    const isValid = compiled.get(text) ?? ajv.compile(JSON.parse(text))
    compiled.set(text, isValid)
    return isValid(JSON.parse(body))
      ? undefined
      : `${JSON.stringify(isValid.errors?.slice(0, 3))} in ${body.slice(0, 200)}`
  }
}
