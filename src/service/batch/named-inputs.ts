/** The inputs that the items of a batch name: cut out of the batch, and read once for all of its items (decision 164). */
import { setImmediate } from 'node:timers/promises'
import { ProblemError, problemAt } from '../../base/problem.ts'
import type { Limits } from '../../config/config.ts'
import type { NamedInput } from '../../wire/batch-messages.ts'
import type { Input } from '../../wire/compute-messages.ts'
import type { PrepareResult, PrepareTask, StoredShape } from '../../wire/stored-messages.ts'
import { chargeTime, type RequestContext } from '../request.ts'
import {
  BatchSplitter,
  COLON,
  endOfString,
  OPEN_BRACE,
  QUOTE,
  runSlices,
  type SplitBatch,
  skipBlank,
} from './item-cutters.ts'

/** An input as it arrived, with its name. */
export interface NamedJson {
  readonly name: string
  /** JSON of an object whose only member is the input, in shared memory. */
  readonly json: Uint8Array
}

/** The named inputs of a batch, as its chunks use them. */
export interface NamedInputs {
  readonly inputs: ReadonlyMap<string, NamedInput>
  /** The stored geometries among them. */
  readonly stored: readonly StoredShape[]
}

export const NO_NAMES: NamedInputs = { inputs: new Map(), stored: [] }

const TABLE = 'geometries'
const MAX_NAMES = 64
/** Letters, marks, numbers, punctuation, symbols and the space. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}$/u

/**
 * Cuts the named inputs out of a batch without parsing them.
 *
 * @param envelope the batch with an empty list in place of its items
 * @param maxBytes size of all named inputs together
 * @returns the names, and the envelope with an empty object in place of the inputs
 * @throws {ProblemError} if there are too many, if they are too large, or if a name cannot be used
 */
export async function cutNames(
  envelope: Uint8Array,
  maxBytes: number,
  context: Pick<RequestContext, 'costs'>,
): Promise<{ readonly names: readonly NamedJson[]; readonly envelope: Uint8Array }> {
  const splitter = new BatchSplitter(envelope, MAX_NAMES, TABLE, OPEN_BRACE, tooManyNames)
  const split = await runSlices(splitter, context)
  // If the member is something else, the schema of the envelope rejects it.
  if (split === undefined) return { names: [], envelope }
  const { starts, ends, count } = split
  const bytes = envelope.length - split.envelope.length
  if (bytes > maxBytes) {
    throw problemAt('payload-too-large', [TABLE], `has ${bytes} bytes, more than ${maxBytes}`, {
      code: 'geometries-too-large',
      hint: 'send several batches, or store the geometries with PUT /compute/v0/geometries',
    })
  }
  const names = new Map<string, NamedJson>()
  for (let index = 0; index < count; index++) {
    const entry = readEntry(envelope.subarray(starts[index], ends[index]))
    if (names.has(entry.name))
      throw problemAt('invalid-input', [TABLE, entry.name], 'appears twice', { code: 'duplicate-name' })
    names.set(entry.name, entry)
  }
  return { names: [...names.values()], envelope: split.envelope }
}

function tooManyNames(maxNames: number): ProblemError {
  return problemAt('invalid-input', [TABLE], `has more than ${maxNames} names`, {
    code: 'too-many-names',
    hint: 'send several batches, or store the geometries with PUT /compute/v0/geometries',
  })
}

/** @param member `"zone": {…}` */
function readEntry(member: Uint8Array): NamedJson {
  const quote = skipBlank(member, 0)
  const end = endOfString(member, quote)
  const isMember = member[quote] === QUOTE && member[skipBlank(member, end + 1)] === COLON
  const name = isMember ? parseString(member, quote, end) : undefined
  if (name === undefined) {
    const detail = 'is not JSON: a member has no name, or a name that is not a string'
    throw problemAt('bad-request', [TABLE], detail, { code: 'not-json', hint: 'send {"zone": {"type": …}, …}' })
  }
  if (!PRINTABLE.test(name)) {
    const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name)
    throw problemAt('invalid-input', [TABLE], `has the name ${shown}; a name is 1 to 64 printable characters`, {
      code: 'invalid-name',
    })
  }
  const json = new Uint8Array(new SharedArrayBuffer(member.length + 2))
  json[0] = OPEN_BRACE
  json.set(member, 1)
  json[json.length - 1] = CLOSE_BRACE
  return { name, json }
}

const CLOSE_BRACE = 0x7d

/** Parses the string between two quotes. @returns undefined if it has an invalid escape or character */
function parseString(bytes: Uint8Array, quote: number, end: number): string | undefined {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8', quote, end + 1))
  } catch {
    return undefined
  }
}

const NAMED = Buffer.from('"named"')
/** Uses of names that are searched at a time, in less than a millisecond. */
const SLICE_USES = 1000

/**
 * Rejects a batch with a name that no item uses: most likely the name is misspelt, or its items are missing.
 *
 * @throws {ProblemError} `invalid-input`
 */
export async function rejectUnused(
  names: readonly NamedJson[],
  body: Uint8Array,
  { starts, ends, count }: SplitBatch,
  context: Pick<RequestContext, 'costs'>,
): Promise<void> {
  const unused = new Set(names.map(({ name }) => name))
  if (unused.size === 0) return
  const items = Buffer.from(body.buffer, body.byteOffset, body.byteLength).subarray(starts[0], ends[count - 1] ?? 0)
  let at = 0
  const searchSlice = () => {
    for (let uses = 0; uses < SLICE_USES && unused.size > 0; uses++) {
      at = items.indexOf(NAMED, at)
      if (at < 0) return true
      at += NAMED.length
      const name = readUse(items, at)
      if (name !== undefined) unused.delete(name)
    }
    return unused.size === 0
  }
  while (!chargeTime(context, searchSlice)) await setImmediate()
  const [name] = unused
  // An escape may hide a use: "\u006eamed" is the same member.
  if (name === undefined || items.includes('\\u')) return
  throw problemAt('invalid-input', [TABLE, name], 'is used by no item', {
    code: 'unused-name',
    hint: `leave it out, or use it in an item as {"named": ${JSON.stringify(name)}}`,
  })
}

/** Returns the string value of the member whose name ends at `offset`; undefined if that is something else. */
function readUse(items: Uint8Array, offset: number): string | undefined {
  const colon = skipBlank(items, offset)
  const quote = skipBlank(items, colon + 1)
  if (items[colon] !== COLON || items[quote] !== QUOTE) return undefined
  return parseString(items, quote, endOfString(items, quote))
}

export interface NameReaders {
  /** Reads one input on a compute thread. */
  readonly prepare: (task: PrepareTask) => Promise<PrepareResult>
  /** Finds stored geometries of the client, as `StoredShapes.require`. */
  readonly requireStored: (inputs: readonly Input[]) => Promise<readonly StoredShape[]>
}

/**
 * Reads the named inputs of a batch: checks them, hashes geometries, and finds those that are stored. They cost what they cost in
 * one request, and have the limits of one request.
 *
 * @throws {ProblemError} for the first input that cannot be used
 */
export async function readNames(
  names: readonly NamedJson[],
  { maxVertices, maxParts }: Pick<Limits, 'maxVertices' | 'maxParts'>,
  { prepare, requireStored }: NameReaders,
): Promise<NamedInputs> {
  const inputs = new Map<string, NamedInput>()
  const references: Input[] = []
  let vertices = 0
  let parts = 0
  for (const { name, json } of names) {
    const path = [TABLE, name]
    const prepared = await prepare({ type: 'prepare', source: 'named', bytes: json })
    if (prepared.type === 'problem') throw new ProblemError(prepared.problem)
    const shape = prepared.type === 'prepared' ? prepared.shape : undefined
    inputs.set(name, { json, shape })
    if (prepared.type === 'reference' && prepared.ref !== undefined)
      references.push({ form: 'stored', ref: prepared.ref, path })
    if (shape === undefined) continue
    vertices += shape.geometry.vertices.length / 2
    parts += shape.geometry.sequenceStarts.length - 1
    if (vertices <= maxVertices && parts <= maxParts) continue
    const most = vertices > maxVertices ? `${maxVertices} vertices` : `${maxParts} rings, lines and points`
    throw problemAt('invalid-input', path, `brings the named geometries to more than ${most}`, {
      code: vertices > maxVertices ? 'too-many-vertices' : 'too-many-parts',
      hint: 'send several batches, or store the geometries with PUT /compute/v0/geometries',
    })
  }
  const stored = references.length === 0 ? [] : await requireStored(references)
  return { inputs, stored }
}
