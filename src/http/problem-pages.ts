import { PROBLEMS } from '../problem.ts'
import type { ExplainedRefusal, Explanation } from './explanation.ts'
import { PROBLEM_EXPLANATIONS } from './problem-explanations.ts'
import { isRecordPath, recordErrorJson } from './record-error.ts'
import { RECORD_EXPLANATIONS } from './record-explanations.ts'
import { problemJson } from './respond.ts'

/** What one page below `/errors` says. */
export interface ProblemPage {
  /** Last part of its address. */
  readonly name: string
  readonly type: string
  /** Title of a problem type, or message of the record API. */
  readonly title: string
  readonly status: number
  readonly cause: string
  readonly remedy: string
  readonly example: { readonly request: string; readonly answer: object }
}

/** Where the service that shows the pages is reached. */
export interface PageAddresses {
  readonly baseUrl: string
  readonly errorTypeBase: string
}

/** UTF-16 units of a body that examples show. */
const MAX_SHOWN = 400

/** `Invalid bbox format` → `invalid-bbox-format`. */
export function pageName(message: string): string {
  return message.toLowerCase().replace(/[^a-z0-9]+/g, '-')
}

/** Every page: problem types first, then what the record API says. */
export function problemPages(addresses: PageAddresses): readonly ProblemPage[] {
  const ofTypes = Object.entries(PROBLEM_EXPLANATIONS).map(([name, explanation]) =>
    pageOf(name, PROBLEMS[name as keyof typeof PROBLEMS].title, explanation, addresses),
  )
  const ofRecords = Object.entries(RECORD_EXPLANATIONS).map(([message, explanation]) =>
    pageOf(pageName(message), message, explanation, addresses),
  )
  return [...ofTypes, ...ofRecords]
}

/** Body of `GET /errors`. */
export function problemListJson(addresses: PageAddresses): string {
  return JSON.stringify({ problems: problemPages(addresses).map(membersOf) })
}

/** Body of `GET /errors/:type`; undefined when there is no such page. */
export function problemPageJson(name: string, addresses: PageAddresses): string | undefined {
  const page = problemPages(addresses).find((candidate) => candidate.name === name)
  return page === undefined ? undefined : JSON.stringify(membersOf(page))
}

function membersOf({ name: _, ...members }: ProblemPage): object {
  return members
}

function pageOf(name: string, title: string, explanation: Explanation, addresses: PageAddresses): ProblemPage {
  const { cause, remedy, example } = explanation
  return {
    name,
    type: `${addresses.errorTypeBase}/${name}`,
    title,
    status: PROBLEMS[example.problem.type].status,
    cause,
    remedy,
    example: {
      request: requestText(example, addresses.baseUrl),
      answer: exampleAnswer(example, addresses.errorTypeBase),
    },
  }
}

/** The body that the refused request gets, with `example` for the id of the request. */
export function exampleAnswer({ request, problem }: ExplainedRefusal, errorTypeBase: string): object {
  const path = request.path.replace(/\?.*/, '')
  const context = { path, errorTypeBase, requestId: 'example' }
  return JSON.parse(isRecordPath(path) ? recordErrorJson(path, problem) : problemJson(context, problem))
}

/** As a command line, or in words. */
function requestText({ request }: ExplainedRefusal, baseUrl: string): string {
  if ('situation' in request) return request.situation
  const { method, path, headers = {}, body } = request
  const parts = [`curl -s '${baseUrl}${path}'`]
  if (method === 'POST' && body === undefined) parts.push('-X POST')
  for (const [name, value] of Object.entries(headers)) parts.push(`-H '${name}: ${value}'`)
  if (body !== undefined) parts.push(`-d '${body.length > MAX_SHOWN ? `${body.slice(0, MAX_SHOWN)}…` : body}'`)
  return parts.join(' ')
}
