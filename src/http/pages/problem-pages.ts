import { PROBLEMS, type ProblemData, type ProblemType, problemAt } from '../../base/problem.ts'
import { readConfig } from '../../config/config.ts'
import { rateLimitProblem } from '../access/rate-limit.ts'
import { isRecordPath, problemJson, recordErrorJson } from '../routes/respond.ts'
import { type ExampleError, type ExplanationRow, PROBLEM_EXPLANATIONS, RECORD_EXPLANATIONS } from './explanations.ts'

/** The content of one page below `/errors`. */
export interface ProblemPage {
  /** Last segment of its path. */
  readonly name: string
  readonly type: string
  /** Title of a problem type, or message of the record API. */
  readonly title: string
  readonly status: number
  readonly cause: string
  readonly remedy: string
  readonly example: { readonly request: string; readonly answer: object }
}

/** Base URLs of the service that shows the pages. */
export interface PageAddresses {
  readonly baseUrl: string
  readonly errorTypeBase: string
}

/** Maximum UTF-16 units of a request body in an example. */
const MAX_BODY_LENGTH = 400

/** Converts a message to a page name: `Invalid bbox format` becomes `invalid-bbox-format`. */
export function pageName(message: string): string {
  return message.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

/** An explanation with the title of its page: the title of a problem type, or a message of the record API. */
export interface Explanation {
  /** Last segment of the path of its page. */
  readonly name: string
  readonly title: string
  readonly cause: string
  readonly remedy: string
  readonly example: ExampleError
}

/** Returns every explanation: problem types first, then the messages of the record API. */
export function explanations(): readonly Explanation[] {
  const config = readConfig({}, 1)
  const publicPerHour = config.requestsPerHour.public
  const { smallBodyBytes, maxWork } = config.limits
  const padding = ' '.repeat(smallBodyBytes)
  const values: Readonly<Record<string, string | number>> = {
    nextRequest: publicPerHour + 1,
    smallBodyBytes,
    maxWork,
    countedWork: maxWork + 1,
    padding,
    sentBytes: JSON.stringify({ padding }).length,
  }
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (match, name) => String(values[name] ?? match))
  const explain = (name: string, title: string, row: ExplanationRow, type: ProblemType, message = row.message) => {
    const { cause, remedy, detail } = row
    const problem =
      detail === undefined
        ? rateLimitProblem(publicPerHour, 'public', 'answer')
        : exampleProblem({ ...row, detail: fill(detail) }, type, message)
    return { name, title, cause, remedy, example: { request: exampleRequest(row, fill), problem } }
  }
  return [
    ...Object.entries(PROBLEM_EXPLANATIONS).map(([name, row]) => {
      const type = name as ProblemType
      return explain(name, PROBLEMS[type].title, row, type)
    }),
    ...Object.entries(RECORD_EXPLANATIONS).map(([message, row]) =>
      explain(pageName(message), message, row, row.type ?? 'invalid-input', message),
    ),
  ]
}

function exampleRequest(row: ExplanationRow, fill: (text: string) => string): ExampleError['request'] {
  const { path, situation, method = 'GET', headers, body } = row
  if (situation !== undefined) return { path, situation: fill(situation) }
  return {
    method,
    path,
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body: fill(body) }),
  }
}

function exampleProblem(
  { detail, pointer, code, hint, retryAfterSeconds }: ExplanationRow & { readonly detail: string },
  type: ProblemType,
  message: string | undefined,
): ProblemData {
  const rule = { ...(code === undefined ? {} : { code }), ...(hint === undefined ? {} : { hint }) }
  return {
    ...(pointer === undefined ? { type, detail } : problemAt(type, pointer, detail, rule).data),
    ...(message === undefined ? {} : { message }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
}

/** Returns every page, in the order of `explanations`. */
export function problemPages(addresses: PageAddresses): readonly ProblemPage[] {
  return explanations().map((explanation) => buildPage(explanation, addresses))
}

/** Returns the body of `GET /errors`. */
export function problemListJson(addresses: PageAddresses): string {
  return JSON.stringify({ problems: problemPages(addresses).map(toJsonMembers) })
}

/** Returns the body of `GET /errors/:type`; undefined if there is no such page. */
export function problemPageJson(name: string, addresses: PageAddresses): string | undefined {
  const page = problemPages(addresses).find((candidate) => candidate.name === name)
  return page === undefined ? undefined : JSON.stringify(toJsonMembers(page))
}

function toJsonMembers({ name: _, ...members }: ProblemPage): object {
  return members
}

function buildPage(explanation: Explanation, addresses: PageAddresses): ProblemPage {
  const { name, title, cause, remedy, example } = explanation
  return {
    name,
    type: `${addresses.errorTypeBase}/${name}`,
    title,
    status: PROBLEMS[example.problem.type].status,
    cause,
    remedy,
    example: {
      request: describeRequest(example, addresses.baseUrl),
      answer: exampleAnswer(example, addresses.errorTypeBase),
    },
  }
}

/** Returns the body of the error response, with `example` as the request id. */
export function exampleAnswer({ request, problem }: ExampleError, errorTypeBase: string): object {
  const path = request.path.replace(/\?.*/, '')
  const context = { path, errorTypeBase, requestId: 'example' }
  return JSON.parse(isRecordPath(path) ? recordErrorJson(path, problem) : problemJson(context, problem))
}

/** Describes the request as a command line, or in words. */
function describeRequest({ request }: ExampleError, baseUrl: string): string {
  if ('situation' in request) return request.situation
  const { method, path, headers = {}, body } = request
  const parts = [`curl -s '${baseUrl}${path}'`]
  if (method === 'POST' && body === undefined) parts.push('-X POST')
  for (const [name, value] of Object.entries(headers)) parts.push(`-H '${name}: ${value}'`)
  if (body !== undefined)
    parts.push(`-d '${body.length > MAX_BODY_LENGTH ? `${body.slice(0, MAX_BODY_LENGTH)}…` : body}'`)
  return parts.join(' ')
}
