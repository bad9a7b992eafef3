import { PROBLEMS, type ProblemData } from '../../base/problem.ts'
import { clip, MAX_DETAIL } from './clip.ts'

/** Returns true for paths whose errors have the shape of the record API (decisions 43 and 90). */
export function isRecordPath(path: string): boolean {
  return isBelow(path, '/api') || isBelow(path, '/proofs') || isOgcPath(path) || isGraphqlPath(path)
}

function isOgcPath(path: string): boolean {
  return isBelow(path, '/ogc')
}

function isGraphqlPath(path: string): boolean {
  return isBelow(path, '/graphql')
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/')
}

/**
 * Serializes a problem in the shape of the record API. Paths below `/ogc` add the two members of an exception (OGC API Features,
 * Part 1, 7.5.1), and GraphQL adds its `errors`.
 */
export function recordErrorJson(path: string, problem: ProblemData): string {
  const message = problem.message ?? RECORD_MESSAGES[problem.type] ?? PROBLEMS[problem.type].title
  const detail = clip(problem.detail, MAX_DETAIL)
  const text = `${message}: ${detail}`
  const more = isOgcPath(path)
    ? { code: problem.type, description: text }
    : isGraphqlPath(path)
      ? { errors: [{ message: text, extensions: { code: problem.type } }] }
      : {}
  return JSON.stringify({ status: 'error', message, detail, ...more })
}

const RECORD_MESSAGES: Readonly<Record<string, string>> = {
  'not-found': 'Not found',
  'method-not-allowed': 'Method not allowed',
}
