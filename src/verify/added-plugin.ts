import { Script } from 'node:vm'
import type { EvidenceCheck } from '../types/generated.ts'
import {
  type CheckCollector,
  PLUGIN_TIMEOUT_MS,
  type PluginContext,
  type PluginFacts,
  type VerifyPlugin,
} from './plugin.ts'
import { isBuiltIn } from './plugin-table.ts'

/** Checks of one stamp, and characters of its facts as JSON. */
const MAX_CHECKS = 200
const MAX_FACTS = 16_384
/** Members of a stamp's details that are ours. */
const RESERVED = ['checks', 'structure', 'signatures', 'evaluation', 'error']

/**
 * Loads a kind of evidence that an operator adds: the default export of a module, guarded.
 *
 * @param url of the module
 * @throws {TypeError} saying what its default export lacks; whatever the module itself throws
 */
export async function loadPlugin(url: string): Promise<VerifyPlugin> {
  const module = (await import(url)) as { default?: unknown }
  return guarded(requirePlugin(module.default))
}

/** @throws {TypeError} naming the member that is wrong */
export function requirePlugin(value: unknown): VerifyPlugin {
  const isObject = typeof value === 'object' && value !== null
  if (!isObject) throw new TypeError('the default export must be an object')
  const plugin = value as Record<keyof VerifyPlugin, unknown>
  const demand = (member: keyof VerifyPlugin, isFine: boolean, wanted: string) => {
    if (!isFine) throw new TypeError(`${member}: must be ${wanted}`)
  }
  const { name, version, environments, description, pointOnly } = plugin
  const isName = typeof name === 'string' && /^[a-z][a-z0-9-]{1,40}$/.test(name)
  demand('name', isName, 'small letters, digits and hyphens, 2 to 41 of them')
  demand('name', !isBuiltIn(String(name)), 'another: this kind is built in')
  demand('version', /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(String(version)), 'three numbers with dots')
  const areTexts = Array.isArray(environments) && environments.every((text) => typeof text === 'string' && text !== '')
  demand('environments', areTexts && environments.length > 0, 'a list of texts')
  demand(
    'description',
    typeof description === 'string' && description.length <= 200,
    'a text of at most 200 characters',
  )
  demand('pointOnly', typeof pointOnly === 'boolean', 'true or false')
  for (const member of ['accuracyMeters', 'maxAccuracyMeters', 'check'] as const) {
    demand(member, typeof plugin[member] === 'function', 'a function')
  }
  return value as VerifyPlugin
}

/** The same rules, with their time and the shape of their answers bounded, and nothing of ours in their reach to change. */
function guarded(plugin: VerifyPlugin): VerifyPlugin {
  const { name, version, environments, description, pointOnly } = plugin
  return {
    name,
    version,
    environments: [...environments],
    description,
    pointOnly,
    accuracyMeters: (signals) => numericOf(() => plugin.accuracyMeters(frozen(signals))),
    // One that cannot say how far it is to be believed is not believed at all.
    maxAccuracyMeters: (signals) => numericOf(() => plugin.maxAccuracyMeters(frozen(signals))) ?? 0,
    check(context, checks) {
      const collected: EvidenceCheck[] = []
      const finish = (facts: unknown) => {
        const plain = plainFacts(facts)
        for (const { severity, id, ok, measured, limit } of collected) {
          if (severity === 'info') checks.info(id, measured, limit)
          else checks[severity](id, ok, measured, limit)
        }
        return plain
      }
      const answer = bounded(() => plugin.check(contextFor(context), collectorOf(collected)) as unknown)
      return isThenable(answer) ? inTime(answer).then(finish) : finish(answer)
    },
  }
}

const SLOT = Symbol.for('trigpoint.plugin.call')
const script = new Script(`globalThis[Symbol.for('trigpoint.plugin.call')]()`)

/** Runs foreign code for at most `PLUGIN_TIMEOUT_MS`. @throws {Error} whatever it throws, as an Error */
function bounded<T>(call: () => T): T {
  const slot = globalThis as unknown as Record<symbol, unknown>
  slot[SLOT] = call
  try {
    return script.runInThisContext({ timeout: PLUGIN_TIMEOUT_MS }) as T
  } catch (error) {
    throw asError(error)
  } finally {
    delete slot[SLOT]
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** What comes later is dropped. What never lets go of the thread ends with it, by the request's deadline. */
function inTime(answer: PromiseLike<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const late = new Error(`took longer than ${PLUGIN_TIMEOUT_MS} ms`)
    const timer = setTimeout(() => reject(late), PLUGIN_TIMEOUT_MS)
    Promise.resolve(answer)
      .finally(() => clearTimeout(timer))
      .then(resolve, (error: unknown) => reject(asError(error)))
  })
}

function asError(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  return new Error(message.slice(0, 200))
}

function collectorOf(collected: EvidenceCheck[]): CheckCollector {
  const add = (severity: EvidenceCheck['severity'], id: unknown, ok: unknown, measured: unknown, limit: unknown) => {
    if (collected.length === MAX_CHECKS) throw new RangeError(`more than ${MAX_CHECKS} checks`)
    const isId = typeof id === 'string' && /^[a-z0-9][a-z0-9-]{0,63}$/.test(id)
    if (!isId) throw new TypeError('the identifier of a check must be small letters, digits and hyphens')
    if (typeof ok !== 'boolean') throw new TypeError(`check ${id}: ok must be true or false`)
    if (!isPlain(measured) || !isPlain(limit)) {
      throw new TypeError(`check ${id}: measured and limit must be text, number, true, false or null`)
    }
    collected.push({ severity, id, ok, measured, limit })
    return ok
  }
  return {
    fail: (id, ok, measured, limit) => add('fail', id, ok, measured, limit),
    warn: (id, ok, measured, limit) => add('warn', id, ok, measured, limit),
    info: (id, measured, limit = null) => void add('info', id, true, measured, limit),
  }
}

function isPlain(value: unknown): value is EvidenceCheck['measured'] {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function plainFacts(facts: unknown): PluginFacts {
  if (facts === undefined) return {}
  if (typeof facts !== 'object' || facts === null || Array.isArray(facts))
    throw new TypeError('facts must be an object')
  const text = JSON.stringify(facts) ?? ''
  if (text.length > MAX_FACTS) throw new RangeError(`facts of more than ${MAX_FACTS} characters`)
  // What is asked is what is written: `toJSON` may make anything else of them.
  const written: unknown = text.startsWith('{') ? JSON.parse(text) : undefined
  if (written === undefined) throw new TypeError('facts must be an object')
  const reserved = RESERVED.find((name) => Object.hasOwn(written as PluginFacts, name))
  if (reserved !== undefined) throw new TypeError(`facts: the name ${reserved} is taken`)
  return written as PluginFacts
}

function numericOf(read: () => unknown): number | undefined {
  try {
    const value = bounded(read)
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The stamp goes on to other rules and into the answer: theirs is a copy. */
function contextFor(context: PluginContext): PluginContext {
  const stamp = frozen(context.stamp)
  const { allowMock } = context.config
  return Object.freeze({
    ...context,
    stamp,
    signals: stamp.signals,
    media: undefined,
    config: Object.freeze({ allowMock }),
  })
}

function frozen<T>(value: T): T {
  return freeze(structuredClone(value))
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
