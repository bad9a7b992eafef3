import { PROBLEMS } from '../../base/problem.ts'
import { isRecordPath, recordErrorJson } from '../routes/error-bodies.ts'
import { problemJson } from '../routes/respond.ts'
import type { ExampleError, Explanation } from './explanation.ts'
import { PROBLEM_EXPLANATIONS } from './problem-explanations.ts'
import { RECORD_EXPLANATIONS } from './record-explanations.ts'

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

/** Returns every page: problem types first, then the messages of the record API. */
export function problemPages(addresses: PageAddresses): readonly ProblemPage[] {
  const typePages = Object.entries(PROBLEM_EXPLANATIONS).map(([name, explanation]) =>
    buildPage(name, PROBLEMS[name as keyof typeof PROBLEMS].title, explanation, addresses),
  )
  const recordPages = Object.entries(RECORD_EXPLANATIONS).map(([message, explanation]) =>
    buildPage(pageName(message), message, explanation, addresses),
  )
  return [...typePages, ...recordPages]
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

function buildPage(name: string, title: string, explanation: Explanation, addresses: PageAddresses): ProblemPage {
  const { cause, remedy, example } = explanation
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
