import { Script } from 'node:vm'
import type { EvidenceCheck } from '../types/generated.ts'
import {
  type CheckCollector,
  PLUGIN_TIMEOUT_MS,
  type PluginContext,
  type PluginFacts,
  type VerifyPlugin,
} from './plugin.ts'
import { isBuiltIn } from './plugins/plugin-table.ts'

/** The most checks for one stamp, and the most characters of its facts as JSON. */
const MAX_CHECKS = 200
const MAX_FACTS = 16_384
/** Members of a stamp's details that the service sets; plugins must not use these names. */
const RESERVED = ['checks', 'structure', 'signatures', 'evaluation', 'error']

/**
 * Loads a plugin that an operator adds. Returns the default export of its module, wrapped so that its time and results
 * are bounded.
 *
 * @param url of the module
 * @throws {TypeError} saying what the default export lacks; also any error that the module itself throws
 */
export async function loadPlugin(url: string): Promise<VerifyPlugin> {
  const module = (await import(url)) as { default?: unknown }
  return wrap(requirePlugin(module.default))
}

/**
 * Checks that a value has the shape of a plugin.
 *
 * @throws {TypeError} naming the member that is wrong
 */
export function requirePlugin(value: unknown): VerifyPlugin {
  const isObject = typeof value === 'object' && value !== null
  if (!isObject) throw new TypeError('the default export must be an object')
  const plugin = value as Record<keyof VerifyPlugin, unknown>
  const demand = (member: keyof VerifyPlugin, isValid: boolean, expected: string) => {
    if (!isValid) throw new TypeError(`${member}: must be ${expected}`)
  }
  const { name, version, environments, description, pointOnly } = plugin
  const isName = typeof name === 'string' && /^[a-z][a-z0-9-]{1,40}$/.test(name)
  demand('name', isName, '2 to 41 lower-case letters, digits and hyphens')
  demand('name', !isBuiltIn(String(name)), 'different: this plugin is built in')
  demand('version', /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(String(version)), 'three numbers separated by dots')
  const areStrings =
    Array.isArray(environments) && environments.every((text) => typeof text === 'string' && text !== '')
  demand('environments', areStrings && environments.length > 0, 'an array of strings')
  demand(
    'description',
    typeof description === 'string' && description.length <= 200,
    'a string of at most 200 characters',
  )
  demand('pointOnly', typeof pointOnly === 'boolean', 'true or false')
  for (const member of ['accuracyMeters', 'maxAccuracyMeters', 'check'] as const) {
    demand(member, typeof plugin[member] === 'function', 'a function')
  }
  return value as VerifyPlugin
}

/**
 * Wraps a plugin: bounds its time and the shape of its results, and gives it only copies, so that it cannot change our
 * objects.
 */
function wrap(plugin: VerifyPlugin): VerifyPlugin {
  const { name, version, environments, description, pointOnly } = plugin
  return {
    name,
    version,
    environments: [...environments],
    description,
    pointOnly,
    accuracyMeters: (signals) => finiteNumber(() => plugin.accuracyMeters(frozenCopy(signals))),
    // Without a maximum, the declared accuracy is not believed at all.
    maxAccuracyMeters: (signals) => finiteNumber(() => plugin.maxAccuracyMeters(frozenCopy(signals))) ?? 0,
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
      const facts = runBounded(() => plugin.check(contextFor(context), createCollector(collected)) as unknown)
      return isThenable(facts) ? withTimeout(facts).then(finish) : finish(facts)
    },
  }
}

const SLOT = Symbol.for('trigpoint.plugin.call')
const script = new Script(`globalThis[Symbol.for('trigpoint.plugin.call')]()`)

/**
 * Runs the plugin's code for at most `PLUGIN_TIMEOUT_MS`.
 *
 * @throws {Error} whatever the code throws, converted to an Error
 */
function runBounded<T>(call: () => T): T {
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

/**
 * Limits the time of a plugin's promise; a later result is dropped. Code that blocks the thread ends with it, when the
 * request's deadline passes.
 */
function withTimeout(pending: PromiseLike<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const late = new Error(`took longer than ${PLUGIN_TIMEOUT_MS} ms`)
    const timer = setTimeout(() => reject(late), PLUGIN_TIMEOUT_MS)
    Promise.resolve(pending)
      .finally(() => clearTimeout(timer))
      .then(resolve, (error: unknown) => reject(asError(error)))
  })
}

function asError(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error)
  return new Error(message.slice(0, 200))
}

function createCollector(collected: EvidenceCheck[]): CheckCollector {
  const add = (severity: EvidenceCheck['severity'], id: unknown, ok: unknown, measured: unknown, limit: unknown) => {
    if (collected.length === MAX_CHECKS) throw new RangeError(`more than ${MAX_CHECKS} checks`)
    const isId = typeof id === 'string' && /^[a-z0-9][a-z0-9-]{0,63}$/.test(id)
    if (!isId) throw new TypeError('the identifier of a check must be lower-case letters, digits and hyphens')
    if (typeof ok !== 'boolean') throw new TypeError(`check ${id}: ok must be true or false`)
    if (!isPlain(measured) || !isPlain(limit)) {
      throw new TypeError(`check ${id}: measured and limit must be a string, number, boolean or null`)
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
  const json = JSON.stringify(facts) ?? ''
  if (json.length > MAX_FACTS) throw new RangeError(`facts have more than ${MAX_FACTS} characters`)
  // Check what is actually written, because `toJSON` may return anything.
  const plain: unknown = json.startsWith('{') ? JSON.parse(json) : undefined
  if (plain === undefined) throw new TypeError('facts must be an object')
  const reserved = RESERVED.find((name) => Object.hasOwn(plain as PluginFacts, name))
  if (reserved !== undefined) throw new TypeError(`facts: the name ${reserved} is reserved`)
  return plain as PluginFacts
}

function finiteNumber(read: () => unknown): number | undefined {
  try {
    const value = runBounded(read)
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Returns the context for a plugin. The stamp is a frozen copy, because the original goes into the response. */
function contextFor(context: PluginContext): PluginContext {
  const stamp = frozenCopy(context.stamp)
  const { allowMock } = context.config
  return Object.freeze({
    ...context,
    stamp,
    signals: stamp.signals,
    media: undefined,
    config: Object.freeze({ allowMock }),
  })
}

function frozenCopy<T>(value: T): T {
  return freeze(structuredClone(value))
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
