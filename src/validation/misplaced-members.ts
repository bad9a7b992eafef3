/**
 * Rejects members that were certainly meant to have an effect and would have none (decision 176). Other unknown members are ignored:
 * clients of later versions may send them.
 */
import { type ProblemError, problemAt } from '../base/problem.ts'
import { isJsonObject, type JsonObject } from './json-body.ts'
import { nearest, type Path } from './sentences.ts'

const OPTION = 'submitOnchain'
const SALT = /^(?:input)?[_-]?salts?$/i
/** Optional members of a request that change what is signed. */
const REQUEST_MEMBERS = ['chainId', 'recipient', 'schema', 'edges', 'pattern', 'options']
const BATCH_MEMBERS = ['chainId', 'recipient', 'attest', 'sequence', 'options']
/** Members that a client may take for options. */
const BESIDE_OPTIONS = ['recipient', 'schema', 'attest', 'sequence']
/** A chainId or attest in the query too, as for lines of a batch, is not wrong: the response shows which was used. */
const PARAMETERS = ['recipient', 'schema']

const SALT_HINT = 'replace each input that is to be hidden by {"input": …, "salt": "random"}'
const OPTION_HINT = 'send "options": {"submitOnchain": true} in the body'

/**
 * Checks the members of a compute request, or of an item of a batch.
 *
 * @throws {ProblemError} `invalid-input` for a misspelt or misplaced member
 */
export function rejectMisplaced(body: JsonObject): void {
  rejectMembers(body, REQUEST_MEMBERS)
  rejectMisplacedOptions(body['options'])
}

/** Checks the members of a batch, as `rejectMisplaced`. */
export function rejectMisplacedInBatch(envelope: JsonObject): void {
  if (envelope['schema'] !== undefined)
    throw misplaced(['schema'], 'is beside the items, and each item has its own', 'send it in each item')
  rejectMembers(envelope, BATCH_MEMBERS)
  rejectMisplacedOptions(envelope['options'])
}

/** Checks the members of a request to verify a proof. */
export function rejectMisplacedInProof(body: JsonObject): void {
  const { options } = body
  if (body['recipient'] !== undefined && (!isJsonObject(options) || options['recipient'] === undefined))
    throw misplaced(['recipient'], 'is an option, and is not in "options"', 'send "options": {"recipient": …}')
  // A chainId beside `options` is not rejected: the response shows that it has no attestation.
  rejectMembers(body, ['options', 'recipient'])
  rejectMisplacedOptions(options, ['chainId', 'recipient'])
}

/** Checks `options`, if there are any. @param others names of other options than submitOnchain */
export function rejectMisplacedOptions(options: unknown, others: readonly string[] = []): void {
  if (!isJsonObject(options)) return
  for (const name of Object.keys(options)) {
    if (name === OPTION || others.includes(name) || options[name] === undefined) continue
    const path = ['options', name]
    if (SALT.test(name)) throw saltProblem(path)
    const near = resembled(name, [OPTION, ...others])
    if (near !== undefined) throw misspelt(path, near)
    const member = resembled(name, BESIDE_OPTIONS)
    if (member !== undefined) throw misplaced(path, 'is not an option', `send "${member}" beside "options"`)
  }
}

/**
 * Checks the query of a route that takes its parameters from the body.
 *
 * @throws {ProblemError} `invalid-input` for a parameter that belongs into the body
 */
export function rejectMisplacedQuery(query: string): void {
  if (query === '') return
  for (const name of new URLSearchParams(query).keys()) {
    const near = SALT.test(name) ? 'salt' : resembled(name, [OPTION, ...PARAMETERS])
    if (near === undefined) continue
    const hint = near === 'salt' ? SALT_HINT : near === OPTION ? OPTION_HINT : `send "${near}" in the body`
    throw problemAt(
      'invalid-input',
      [name.slice(0, 40)],
      'is in the query, and this request has its parameters in the body',
      {
        code: 'unknown-parameter',
        hint,
      },
    )
  }
}

function rejectMembers(body: JsonObject, members: readonly string[]): void {
  for (const name of Object.keys(body)) {
    if (COMMON.has(name) || members.includes(name) || body[name] === undefined) continue
    const path = [name]
    if (SALT.test(name)) throw saltProblem(path)
    const near = resembled(name, [OPTION, ...members])
    if (near === OPTION) throw misplaced(path, 'is an option, and is not in "options"', OPTION_HINT)
    if (near !== undefined) throw misspelt(path, near)
  }
}

/** Names that most bodies have: they are not compared. */
const COMMON: ReadonlySet<string> = new Set([
  'chainId',
  'op',
  'id',
  'items',
  'proof',
  'from',
  'to',
  'geometry',
  'geometries',
  'target',
  'radius',
  'container',
  'containee',
  'geometry1',
  'geometry2',
])

/** Returns the name that another one resembles: in other case, or with one edit, or with two if it is long. */
function resembled(name: string, names: readonly string[]): string | undefined {
  return names.find((known) => nearest(name, [known], known.length > 7 ? 2 : 1) !== undefined)
}

function saltProblem(path: Path): ProblemError {
  const detail = path.length > 1 ? 'is not an option' : 'is beside the inputs, where it hides none of them'
  return problemAt('invalid-input', path, detail, { code: 'salt-without-input', hint: SALT_HINT })
}

function misspelt(path: Path, near: string): ProblemError {
  return misplaced(path, 'is unknown', `did you mean "${near}"?`)
}

function misplaced(path: Path, detail: string, hint: string): ProblemError {
  return problemAt('invalid-input', path, detail, { code: 'misplaced-member', hint })
}
