/** Geometries that accounts have stored, which requests name by their hash (decision 160). */
import { LruCache } from '../../base/lru-cache.ts'
import { ProblemError, problemAt } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { ComputePool } from '../../threads/compute-pool.ts'
import type { StoreClient } from '../../threads/store-client.ts'
import type { Input } from '../../wire/compute-messages.ts'
import type { PrepareTask, StoredGeometry, StoredShape } from '../../wire/stored-messages.ts'
import type { Hex } from '../../wire/values.ts'
import { createStoreAccess, type StoreAccess } from '../records/store-access.ts'
import type { RequestContext, ServiceResponse } from '../request.ts'

/** What the HTTP layer sees of stored geometries. All methods throw a `ProblemError`. */
export interface GeometryService {
  /** Stores the geometry of a body `{"geometry": …}` for an account. */
  put(body: Uint8Array, account: string | undefined, context: RequestContext): Promise<ServiceResponse>
  list(account: string | undefined, context: RequestContext): Promise<ServiceResponse>
  get(ref: string, account: string | undefined, context: RequestContext): Promise<ServiceResponse>
  delete(ref: string, account: string | undefined, context: RequestContext): Promise<ServiceResponse>
}

/** The stored geometries whose hashes are in the bytes of requests. */
export interface MentionedGeometries {
  readonly shapes: readonly StoredShape[]
  /** References that the account has not stored. */
  readonly missing: ReadonlySet<Hex>
}

/** Finds stored geometries for requests. */
export interface StoredShapes {
  /**
   * Finds the stored geometries whose hashes seem to be in bytes of JSON. The bytes are not parsed: a hash that is written with escapes is
   * not found, and then the compute thread asks for it (`require`).
   *
   * @returns a promise only if the store has to be asked
   */
  findMentioned(
    bytes: Uint8Array,
    account: string | undefined,
    context: RequestContext,
  ): MentionedGeometries | Promise<MentionedGeometries>
  /**
   * Finds the stored geometries of inputs.
   *
   * @param inputs of form `stored`
   * @throws {ProblemError} `unauthorized` without an account, `not-found` for a geometry that the account has not stored
   */
  require(
    inputs: readonly Input[],
    account: string | undefined,
    context: RequestContext,
    missing?: ReadonlySet<Hex>,
  ): Promise<readonly StoredShape[]>
  /** Returns the canonical text of a geometry. Throws as `require`. */
  readText(input: Input, account: string | undefined, context: RequestContext): Promise<string>
}

export interface StoredGeometriesParts {
  readonly config: Config
  readonly pool: Pick<ComputePool, 'runPrepare'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

type StoredInput = Extract<Input, { form: 'stored' }>

const REF = /^0x[0-9a-f]{64}$/
/** Part of `storedMemoryBytes` that single geometries may use; the rest is for sets. */
export const GEOMETRIES_SHARE = 1 / 4
/** Geometries in one response of `list`. */
const MAX_LISTED = 1000
/** Owned geometries that are remembered. */
const MAX_OWNED = 100_000
const DAY_MS = 86_400_000
/** Part of the time that a geometry is kept after which a use postpones its expiry, so that few uses write. */
const RENEWAL_SHARE = 1 / 30
/** References in one message: as many as the items of a chunk can name. */
const MAX_MENTIONED = 512
export const NOTHING_MENTIONED: MentionedGeometries = { shapes: [], missing: new Set() }

/** @param store undefined if the service stores nothing */
export function createStoredGeometries(
  parts: StoredGeometriesParts,
  store: StoreClient | undefined,
): GeometryService & StoredShapes {
  if (store === undefined) return NO_STORED_GEOMETRIES
  const { config, now } = parts
  return new StoredGeometries(parts, createStoreAccess({ config, store, now, answerMs: config.limits.storeWriteMs }))
}

/** The service without a store: it has no geometries. */
export const NO_STORED_GEOMETRIES: GeometryService & StoredShapes = {
  put: async () => rejectStored(),
  list: async () => rejectStored(),
  get: async () => rejectStored(),
  delete: async () => rejectStored(),
  findMentioned: () => NOTHING_MENTIONED,
  require: async () => rejectStored(),
  readText: async () => rejectStored(),
}

function rejectStored(): never {
  const detail =
    'geometries are kept in the store, and this deployment has none (RECORDS=0): start it without RECORDS=0, or send the geometry itself'
  throw new ProblemError({ type: 'not-implemented', detail })
}

class StoredGeometries implements GeometryService, StoredShapes {
  readonly #parts: StoredGeometriesParts
  readonly #ask: StoreAccess
  /** By reference. A reference identifies its geometry, so these never become wrong. */
  readonly #shapes: LruCache<StoredShape>
  /** When the store last said that an account has a geometry, in milliseconds; by account and reference. */
  readonly #owned = new LruCache<number>(MAX_OWNED)
  /** Questions to the store that are not answered yet, and geometries that are being read. */
  readonly #checks = new Map<string, Promise<ReadonlySet<Hex>>>()
  readonly #loads = new Map<Hex, Promise<StoredShape | undefined>>()

  constructor(parts: StoredGeometriesParts, ask: StoreAccess) {
    this.#parts = parts
    this.#ask = ask
    this.#shapes = new LruCache(parts.config.limits.storedMemoryBytes * GEOMETRIES_SHARE, shapeBytes)
  }

  async put(body: Uint8Array, account: string | undefined, context: RequestContext): Promise<ServiceResponse> {
    const owner = requireAccount(account)
    const { limits } = this.#parts.config
    const { shape, text } = await this.#prepare({ type: 'prepare', source: 'request', bytes: body }, context)
    const { ref } = shape
    const nowMs = this.#parts.now()
    const bytes = Buffer.byteLength(text!)
    const maxAccountBytes = limits.maxStoredBytesPerKey
    const result = await this.#ask(
      'putGeometry',
      {
        account: owner,
        ref,
        text: text!,
        bytes,
        expiresMs: this.#expiryMs(nowMs),
        limits: { maxBytes: limits.maxStoredBytes, maxAccountBytes },
        nowMs,
      },
      context,
    )
    if (result.outcome === 'stored') {
      this.#shapes.set(ref, shape)
      this.#owned.set(ownedKey(owner, ref), nowMs)
      return { json: JSON.stringify(describe(result.geometry)) }
    }
    if (result.outcome === 'share') {
      const detail = `the geometry has ${bytes} bytes of canonical text, and this API key uses ${result.usedBytes} of ${maxAccountBytes} bytes: delete geometries that you no longer use`
      throw new ProblemError({ type: 'payload-too-large', detail })
    }
    const detail = 'the store has no room for more geometries (STORED_MAX_BYTES)'
    throw new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: 60 })
  }

  async list(account: string | undefined, context: RequestContext): Promise<ServiceResponse> {
    const owner = requireAccount(account)
    const { now, config } = this.#parts
    const listed = await this.#ask('listGeometries', { account: owner, limit: MAX_LISTED, nowMs: now() }, context)
    const { geometries, count, usedBytes } = listed
    const maxBytes = config.limits.maxStoredBytesPerKey
    return { json: JSON.stringify({ geometries: geometries.map(describe), count, usedBytes, maxBytes }) }
  }

  async get(ref: string, account: string | undefined, context: RequestContext): Promise<ServiceResponse> {
    const { text, ...geometry } = await this.#read(readRef(ref), requireAccount(account), context)
    return { json: `${JSON.stringify(describe(geometry)).slice(0, -1)},"geometry":${text}}` }
  }

  async delete(ref: string, account: string | undefined, context: RequestContext): Promise<ServiceResponse> {
    const owner = requireAccount(account)
    const hash = readRef(ref)
    this.#owned.delete(ownedKey(owner, hash))
    const argument = { account: owner, ref: hash, nowMs: this.#parts.now() }
    const wasThere = await this.#ask('deleteGeometry', argument, context)
    // A request may have asked for it meanwhile.
    this.#owned.delete(ownedKey(owner, hash))
    if (!wasThere) throw unknownGeometry(hash)
    return { json: JSON.stringify({ deleted: hash }) }
  }

  findMentioned(
    bytes: Uint8Array,
    account: string | undefined,
    context: RequestContext,
  ): MentionedGeometries | Promise<MentionedGeometries> {
    if (account === undefined) return NOTHING_MENTIONED
    const refs = findRefs(bytes)
    if (refs.length === 0) return NOTHING_MENTIONED
    const shapes: StoredShape[] = []
    for (const ref of refs) {
      const shape = this.#isFresh(account, ref) ? this.#shapes.get(ref) : undefined
      if (shape === undefined) return this.#find(refs, account, context)
      shapes.push(shape)
    }
    return { shapes, missing: NOTHING_MENTIONED.missing }
  }

  async require(
    inputs: readonly Input[],
    account: string | undefined,
    context: RequestContext,
    missing: ReadonlySet<Hex> = NOTHING_MENTIONED.missing,
  ): Promise<readonly StoredShape[]> {
    const stored = inputs.filter((input): input is StoredInput => input.form === 'stored')
    if (account === undefined) throw noAccount()
    const refs = [...new Set(stored.map(({ ref }) => ref))]
    const found = refs.some((ref) => missing.has(ref))
      ? { shapes: [], missing }
      : await this.#find(refs, account, context)
    const unknown = stored.find(({ ref }) => found.missing.has(ref))
    if (unknown !== undefined) throw unknownGeometry(unknown.ref, unknown.path)
    return found.shapes
  }

  async readText(input: Input, account: string | undefined, context: RequestContext): Promise<string> {
    if (input.form !== 'stored') throw new RangeError('not a stored geometry')
    if (account === undefined) throw noAccount()
    return (await this.#read(input.ref, account, context, input.path)).text
  }

  async #read(ref: Hex, account: string, context: RequestContext, path?: Input['path']) {
    const found = await this.#ask('readGeometry', { account, ref, nowMs: this.#parts.now() }, context)
    if (found === undefined) throw unknownGeometry(ref, path)
    return found
  }

  async #find(refs: readonly Hex[], account: string, context: RequestContext): Promise<MentionedGeometries> {
    const owned = await this.#check(refs, account)
    const shapes = await Promise.all(
      [...owned].map((ref) => this.#shapes.get(ref) ?? this.#load(ref, account, context)),
    )
    const known = shapes.filter((shape) => shape !== undefined)
    const missing = new Set(refs)
    for (const { ref } of known) missing.delete(ref)
    return { shapes: known, missing }
  }

  #isFresh(account: string, ref: Hex): boolean {
    const checkedMs = this.#owned.get(ownedKey(account, ref))
    return checkedMs !== undefined && this.#parts.now() - checkedMs < this.#parts.config.limits.storedFreshMs
  }

  /** Asks the store which of some geometries an account has. Requests that ask the same share the question. */
  #check(refs: readonly Hex[], account: string): Promise<ReadonlySet<Hex>> {
    const key = ownedKey(account, refs.join())
    const running = this.#checks.get(key)
    if (running !== undefined) return running
    const check = this.#askOwned(refs, account).finally(() => this.#checks.delete(key))
    this.#checks.set(key, check)
    return check
  }

  async #askOwned(refs: readonly Hex[], account: string): Promise<ReadonlySet<Hex>> {
    const { now, config } = this.#parts
    const nowMs = now()
    const expiresMs = this.#expiryMs(nowMs)
    const renewBeforeMs = expiresMs - RENEWAL_SHARE * config.limits.storedKeepDays * DAY_MS
    const context = { client: account, deadlineMs: nowMs + config.limits.requestDeadlineMs }
    try {
      const owned = await this.#ask('useGeometries', { account, refs, expiresMs, renewBeforeMs, nowMs }, context)
      for (const ref of refs) this.#owned.delete(ownedKey(account, ref))
      for (const ref of owned) this.#owned.set(ownedKey(account, ref), nowMs)
      return new Set(owned)
    } catch (error) {
      // What is in memory can be used while the store is away: no other process can delete it then.
      const areKnown = refs.every((ref) => this.#owned.get(ownedKey(account, ref)) !== undefined)
      if (!(error instanceof ProblemError) || !areKnown) throw error
      return new Set(refs)
    }
  }

  /** Reads a geometry from the store and prepares it for the compute threads. */
  #load(ref: Hex, account: string, context: RequestContext): Promise<StoredShape | undefined> {
    const running = this.#loads.get(ref)
    if (running !== undefined) return running
    const load = this.#loadText(ref, account, context).finally(() => this.#loads.delete(ref))
    this.#loads.set(ref, load)
    return load
  }

  async #loadText(ref: Hex, account: string, { client }: RequestContext): Promise<StoredShape | undefined> {
    const { now, config } = this.#parts
    // Others may wait for it too, so it does not end with the request that began it.
    const context = { client, aborted: false, deadlineMs: now() + config.limits.requestDeadlineMs }
    const found = await this.#ask('readGeometry', { account, ref, nowMs: now() }, context)
    if (found === undefined) return undefined
    const { shape } = await this.#prepare({ type: 'prepare', source: 'text', bytes: Buffer.from(found.text) }, context)
    if (shape.ref !== ref) throw new RangeError(`the store has another geometry under ${ref}`)
    this.#shapes.set(ref, shape)
    return shape
  }

  async #prepare(task: PrepareTask, context: RequestContext) {
    const { client, costs, deadlineMs } = context
    const job = { chunk: task, client, costs, deadlineMs, isAborted: () => context.aborted }
    const result = await this.#parts.pool.runPrepare(job)
    if (result.type === 'problem') throw new ProblemError(result.problem)
    if (result.type === 'reference') throw new RangeError('only geometries are stored')
    return result
  }

  #expiryMs(nowMs: number): number {
    return nowMs + this.#parts.config.limits.storedKeepDays * DAY_MS
  }
}

const NAME = Buffer.from('"ref"')

/** Returns the hashes in members `"ref"` of JSON, each once. */
export function findRefs(bytes: Uint8Array): Hex[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = text.indexOf(NAME)
  if (at < 0) return []
  const refs = new Set<Hex>()
  for (; at >= 0 && refs.size < MAX_MENTIONED; at = text.indexOf(NAME, at + NAME.length)) {
    const ref = /^\s*:\s*"(0x[0-9a-fA-F]{64})"/.exec(
      text.toString('latin1', at + NAME.length, at + NAME.length + 80),
    )?.[1]
    if (ref !== undefined) refs.add(ref.toLowerCase() as Hex)
  }
  return [...refs]
}

function shapeBytes({ geometry }: StoredShape): number {
  const { vertices, sequenceStarts, partStarts, partDimensions, elementStarts, elementPaths } = geometry
  const arrays = [vertices, sequenceStarts, partStarts, partDimensions, elementStarts]
  // An element has a path, an array of its own.
  return arrays.reduce((sum, { byteLength }) => sum + byteLength, 1024 + 100 * elementPaths.length)
}

function ownedKey(account: string, ref: string): string {
  return `${account} ${ref}`
}

/** As a response describes a stored geometry. Times are Unix seconds. */
function describe({ ref, bytes, createdMs, expiresMs }: StoredGeometry): object {
  return { ref, bytes, created: Math.floor(createdMs / 1000), expires: Math.floor(expiresMs / 1000) }
}

function requireAccount(account: string | undefined): string {
  if (account !== undefined) return account
  throw noAccount()
}

function noAccount(): ProblemError {
  const detail = 'stored geometries belong to an API key, so they need one'
  return new ProblemError({ type: 'unauthorized', detail })
}

function readRef(ref: string): Hex {
  const lower = ref.toLowerCase()
  if (REF.test(lower)) return lower as Hex
  throw unknownGeometry(ref.slice(0, 80))
}

/** @param path of the input that names it; undefined if a path of the API does */
function unknownGeometry(ref: string, path?: Input['path']): ProblemError {
  const detail = `this API key has stored no geometry ${ref}`
  const hint = 'send the API key with which it was stored'
  if (path === undefined)
    return new ProblemError({
      type: 'not-found',
      detail,
      invalidParts: [{ pointer: '#', detail: 'names no geometry of this caller', code: 'unknown-ref', hint }],
    })
  return problemAt('not-found', [...path, 'ref'], detail, {
    code: 'unknown-ref',
    hint: `${hint}, store it with PUT /compute/v0/geometries, or send the geometry itself`,
  })
}
