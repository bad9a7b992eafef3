import { freeBuffer, isLarge } from '../base/bytes.ts'
import { ProblemError } from '../base/problem.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { parseJson, type ScannedText, scanText } from '../geometry/scan.ts'
import { hashScannedGeometry, readScannedGeometry, scannedCanonicalText } from '../geometry/scanned-geometry.ts'
import type { ComputeRequest } from '../validation/compute-request.ts'
import { checkGeometry, type GeometryCheck } from '../validation/input.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../validation/json-body.ts'
import type { ComputeWorkerData, Input } from '../wire/compute-messages.ts'
import type { Hex } from '../wire/values.ts'
import type { ComputeContext, Operand } from './run.ts'

/** The most skeletons in the memo, and the most characters of one. */
const MAX_ENTRIES = 64
const MAX_CHARACTERS = 1024
const ID = '"id":'
/** Ids that the response repeats exactly as written: integers, and strings without escapes. */
const PLAIN_ID = /(?:0|-?[1-9][0-9]{0,14}|"[A-Za-z0-9_.: -]{0,128}")(?=[,}])/y

/**
 * Remembers what was read from a skeleton. The items of a batch, and the requests of one client, mostly differ only in
 * their coordinates and ids. Without the ids their skeletons are the same text, so facts read from one hold for all of
 * them.
 */
export class SkeletonMemo<Facts extends object> {
  readonly #skeletons = new Map<string, object>()
  readonly #facts = new WeakMap<object, Facts>()
  #id = ''

  /**
   * The id in the skeleton that was parsed last, as JSON text; empty when there is none, or it does not match
   * `PLAIN_ID`.
   */
  get id(): string {
    return this.#id
  }

  /** Parses a skeleton, or returns one parsed earlier that differs only in its id. */
  parse(text: string): unknown {
    const at = text.indexOf(ID)
    this.#id = ''
    if (at < 0) return this.#parseOnce(text, text)
    const start = at + ID.length
    PLAIN_ID.lastIndex = start
    const before = text[at - 1]
    const isPlain = (before === ',' || before === '{') && text.indexOf(ID, start) < 0 && PLAIN_ID.test(text)
    if (!isPlain) return parseJson(text)
    this.#id = text.slice(start, PLAIN_ID.lastIndex)
    return this.#parseOnce(text, text.slice(0, start) + text.slice(PLAIN_ID.lastIndex))
  }

  /** Returns the facts stored for a skeleton. */
  find(skeleton: object): Facts | undefined {
    return this.#facts.get(skeleton)
  }

  remember(skeleton: object, facts: Facts): void {
    this.#facts.set(skeleton, facts)
  }

  #parseOnce(text: string, key: string): unknown {
    const cached = this.#skeletons.get(key)
    // A skeleton without facts cannot be reused: it holds the id of another item.
    if (cached !== undefined && this.#facts.has(cached)) return cached
    const skeleton = parseJson(text)
    if (!isJsonObject(skeleton) || key.length > MAX_CHARACTERS) return skeleton
    if (this.#skeletons.size >= MAX_ENTRIES) this.#skeletons.clear()
    this.#skeletons.set(key, skeleton)
    return skeleton
  }
}

type Limits = ComputeWorkerData['limits']
type GeometryInput = Extract<Input, { form: 'geometry' }>

/** A validated request, with its geometries as operands. */
export interface ReadRequest {
  readonly request: ComputeRequest
  /**
   * Returns the operand for an input. Call it before the kernel computes anything: the bytes to hash are in the
   * kernel's arena.
   *
   * @param index of `input` among the inputs
   */
  toOperand(input: GeometryInput, index: number): Operand
  /**
   * Frees memory after everything is computed. Left to the garbage collector, large geometries made it scan the whole
   * heap.
   */
  release(): void
}

/** Turns a body into a request; calls `check` for each geometry in it. */
type Reader = (body: JsonObject, check: GeometryCheck) => ComputeRequest

/**
 * Reads a body with the scanner, or with the parser where the scanner declines. Both give the same result. The parser
 * takes several times longer for many coordinates; it also produces every error text.
 *
 * @param parse replaces `JSON.parse` for the skeleton
 * @param canScan false uses only the parser, for tests that compare the two
 * @throws {ProblemError} at the first thing that is wrong
 */
export function readRequest(
  bytes: Uint8Array,
  read: Reader,
  engine: ComputeContext,
  limits: Limits,
  canScan: boolean,
  parse?: (skeleton: string) => unknown,
): ReadRequest {
  return (canScan ? scanRequest(bytes, read, engine, limits, parse) : undefined) ?? parseRequest(bytes, read, limits)
}

function parseRequest(bytes: Uint8Array, read: Reader, limits: Limits): ReadRequest {
  return {
    request: read(parseJsonObject(bytes, limits.maxJsonDepth), checkGeometry),
    toOperand: ({ geometry, path }) => ({ geometry, path, ref: undefined }),
    release: () => {},
  }
}

/** @returns undefined when anything in the body is unusual or wrong */
function scanRequest(
  bytes: Uint8Array,
  read: Reader,
  engine: ComputeContext,
  limits: Limits,
  parse: ((skeleton: string) => unknown) | undefined,
): ReadRequest | undefined {
  engine.kernel.release()
  const text = scanText(engine.kernel, bytes, limits, parse)
  if (text === undefined || !isJsonObject(text.skeleton)) return undefined
  const request = readSkeleton(text.skeleton, read)
  if (request === undefined) return undefined
  const flats: (FlatGeometry | undefined)[] = []
  for (const input of request.inputs) {
    if (input.form === 'proof') return undefined // its hashes cover the coordinates, which the skeleton lacks
    const flat = input.form === 'geometry' ? readScannedGeometry(text, input.geometry, limits) : undefined
    if (flat === undefined && input.form === 'geometry') return undefined
    flats.push(flat)
  }
  return new ScannedRequest(request, text, flats, engine)
}

class ScannedRequest implements ReadRequest {
  readonly request: ComputeRequest
  readonly #text: ScannedText
  readonly #flats: readonly (FlatGeometry | undefined)[]
  readonly #engine: ComputeContext
  /** References of the operands that were requested so far, by input index. */
  readonly #refs: Hex[] = []

  constructor(
    request: ComputeRequest,
    text: ScannedText,
    flats: readonly (FlatGeometry | undefined)[],
    engine: ComputeContext,
  ) {
    this.request = request
    this.#text = text
    this.#flats = flats
    this.#engine = engine
  }

  toOperand({ geometry, path }: GeometryInput, index: number): Operand {
    const ref = scannedRef(this.#text, geometry, this.#engine)
    this.#refs[index] = ref
    return { flat: this.#flats[index]!, path, ref }
  }

  release(): void {
    this.#refs.forEach((ref, index) => {
      const flat = this.#flats[index]!
      const { vertices } = flat
      if (isLarge(vertices) && !this.#engine.prepared?.holds(ref, flat)) freeBuffer(vertices.buffer)
    })
  }
}

function readSkeleton(skeleton: JsonObject, read: Reader): ComputeRequest | undefined {
  try {
    return read(skeleton, () => {}) // `readScannedGeometry` checks the geometries
  } catch (error) {
    if (error instanceof ProblemError) return undefined
    throw error
  }
}

/** Returns keccak-256 of the canonical text, equal to what `runOperation` computes for a parsed geometry. */
function scannedRef(text: ScannedText, value: unknown, { kernel, keccak }: ComputeContext): Hex {
  const hash = hashScannedGeometry(kernel, text, value)
  if (hash !== undefined) return `0x${hash}`
  return keccak.hashHex(Buffer.from(scannedCanonicalText(kernel, text, value), 'latin1'))
}
