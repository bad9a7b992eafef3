/** Compares responses with the OpenAPI document. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { OPERATIONS, openApiDocument, openApiPath } from '../src/http/openapi/document.ts'
import { COMMON_HEADERS } from '../src/http/openapi/operation.ts'
import { isOlderPath, isRecordPath } from '../src/http/routes/respond.ts'
import type { Method, Route } from '../src/http/routes/route.ts'
import { createRouter } from '../src/http/routes/routes.ts'

/** Statuses with which the transport or the state of the service may reject a request to any route. */
const ANYWHERE = [400, 408, 431, 500, 503]

// biome-ignore lint/suspicious/noExplicitAny: a document of another standard, walked by name
type Loose = any

let checker: ReturnType<typeof createChecker> | undefined

/**
 * Returns how a response deviates from the document: an undescribed status, another media type, a body that does not match its
 * schema, a missing header. Undefined if it does not. The first call compiles the document, for all test files of the process.
 *
 * @param body text of a JSON body; undefined if the body is not to be checked
 */
export function deviation(
  method: string,
  path: string,
  response: Response,
  body: string | undefined,
): string | undefined {
  checker ??= createChecker()
  return checker(method, path, response, body)
}

export function isSequence(headers: Headers): boolean {
  return /ndjson|json-seq/.test(mediaTypeOf(headers))
}

export function mediaTypeOf(headers: Headers): string {
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
