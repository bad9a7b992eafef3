import type { LocationStamp } from '../types/generated.ts'
import type { Finding } from '../wire/evidence-messages.ts'
import { StampMessages } from './message.ts'
import type { VerifyPlugin } from './plugin.ts'
import { type ReadStamp, type StampVerdict, type VerifyEngine, verifyStamp } from './stamp.ts'

/** A stamp with which a module demonstrates its rules. Its signatures are ignored. */
interface Example {
  readonly stamp: LocationStamp
  readonly nowSeconds: number
  /** For an example to reject: the check that must fail. */
  readonly check?: string
}

/** The export `examples` of a plugin module. */
export interface Examples {
  readonly accepts: readonly Example[]
  readonly rejects: readonly Example[]
}

/** What the conformance kit needs. */
export interface ConformanceKit {
  readonly engine: VerifyEngine
  readGeometry(stamp: LocationStamp): ReadStamp['geometry']
  /** Runs a call and names what it used that rules must not use: network, files, processes, clock, randomness. */
  watch<T>(call: () => Promise<T>): Promise<{ readonly value: T; readonly reached: readonly string[] }>
}

const RUNS = 100
const MAX_EXAMPLES = 20
/** The values that replace each leaf of the signals: every kind of JSON value, and extreme sizes. */
const HOSTILE: readonly unknown[] = [null, true, -1e308, 1e308, 0, '', '\u0000', 'x'.repeat(10_000), [], {}, [[[[]]]]]

/**
 * Tests a loaded plugin with its own examples and with hostile variants of them.
 *
 * @param examples the module's export of that name
 */
export async function tryPlugin(
  plugin: VerifyPlugin,
  examples: unknown,
  kit: ConformanceKit,
): Promise<readonly Finding[]> {
  const read = readExamples(examples, plugin.name)
  if (typeof read === 'string') return [{ ok: false, rule: 'has examples', detail: read }]
  const { accepts, rejects } = read
  const findings: Finding[] = [
    { ok: true, rule: 'has examples', detail: `${accepts.length} to accept, ${rejects.length} to reject` },
  ]
  const judge = (example: Example, changes: Partial<LocationStamp> = {}) => judgeExample(plugin, example, changes, kit)

  for (const [index, example] of accepts.entries()) {
    const failed = failedChecks(await judge(example))
    findings.push({
      ok: failed.length === 0,
      rule: `accepts example ${index + 1}`,
      detail: failed.join(', ') || 'consistent',
    })
  }
  for (const [index, example] of rejects.entries()) {
    const failed = failedChecks(await judge(example))
    const isMet = example.check === undefined ? failed.length > 0 : failed.includes(example.check)
    const expected = example.check ?? 'any check'
    findings.push({
      ok: isMet,
      rule: `rejects counter-example ${index + 1}`,
      detail: `${expected}; failed: ${failed.join(', ') || 'none'}`,
    })
  }
  const empty = await judge(accepts[0]!, { signals: {} })
  findings.push({
    ok: !empty.signalsConsistent,
    rule: 'rejects signals without members',
    detail: failedChecks(empty).join(', ') || 'accepted',
  })
  findings.push(await tryHostile(accepts, judge))
  findings.push(...(await findIgnoredSignals(accepts, judge)))
  findings.push(await tryDeterminism(accepts[0]!, judge))
  const { reached } = await kit.watch(async () => {
    for (const example of [...accepts, ...rejects]) await judge(example)
  })
  findings.push({
    ok: reached.length === 0,
    rule: 'uses nothing outside the context',
    detail: reached.join(', ') || 'nothing',
  })
  return findings
}

type Judge = (example: Example, changes?: Partial<LocationStamp>) => Promise<StampVerdict>

/**
 * Tests hostile signals. Rules that throw or hang on unexpected JSON would mark honest stamps as inconsistent for the
 * wrong reason.
 */
async function tryHostile(accepts: readonly Example[], judge: Judge): Promise<Finding> {
  const rule = 'handles hostile signals without errors'
  let tried = 0
  for (const example of accepts) {
    for (const path of leafPaths(example.stamp.signals)) {
      for (const value of HOSTILE) {
        const { details } = await judge(example, { signals: withLeaf(example.stamp.signals, path, value) })
        tried++
        const error = details.checks.find(({ id }) => id === 'plugin-error')
        if (error !== undefined) {
          return {
            ok: false,
            rule,
            detail: `${path.join('.')} = ${JSON.stringify(value)?.slice(0, 40)}: ${error.measured}`,
          }
        }
      }
    }
  }
  return { ok: true, rule, detail: `${tried} variants` }
}

/** Finds leaves that no rule looks at. They are not wrong, but a forger can write anything there. */
async function findIgnoredSignals(accepts: readonly Example[], judge: Judge): Promise<Finding[]> {
  const example = accepts[0]!
  const baseline = resultJson(await judge(example))
  const ignored: string[] = []
  for (const path of leafPaths(example.stamp.signals)) {
    const texts: string[] = []
    for (const value of HOSTILE)
      texts.push(resultJson(await judge(example, { signals: withLeaf(example.stamp.signals, path, value) })))
    if (texts.every((text) => text === baseline)) ignored.push(path.join('.'))
  }
  if (ignored.length === 0) return []
  return [{ ok: true, isNote: true, rule: 'signals that no rule looks at', detail: ignored.join(', ') }]
}

async function tryDeterminism(example: Example, judge: Judge): Promise<Finding> {
  const texts = new Set<string>()
  for (let run = 0; run < RUNS; run++) texts.add(resultJson(await judge(example)))
  return {
    ok: texts.size === 1,
    rule: `gives the same result ${RUNS} times`,
    detail: `${texts.size} different results`,
  }
}

function judgeExample(
  plugin: VerifyPlugin,
  { stamp, nowSeconds }: Example,
  changes: Partial<LocationStamp>,
  kit: ConformanceKit,
) {
  const whole = { ...stamp, ...changes, signatures: [] } as unknown as LocationStamp
  const messages = new StampMessages(whole, kit.engine.crypto.keccak)
  return verifyStamp({ stamp: whole, plugin, geometry: kit.readGeometry(whole), messages }, nowSeconds, kit.engine)
}

function failedChecks({ details }: StampVerdict): string[] {
  return details.checks.filter(({ ok, severity }) => !ok && severity === 'fail').map(({ id }) => id)
}

function resultJson({ details, signalsConsistent, accuracyCapped }: StampVerdict): string {
  return JSON.stringify([signalsConsistent, accuracyCapped, details])
}

function readExamples(value: unknown, name: string): Examples | string {
  const { accepts, rejects } = (value ?? {}) as Partial<Record<keyof Examples, unknown>>
  for (const [list, title] of [
    [accepts, 'accepts'],
    [rejects, 'rejects'],
  ] as const) {
    if (!Array.isArray(list) || list.length === 0 || list.length > MAX_EXAMPLES) {
      return `export examples = { accepts: […], rejects: […] } with 1 to ${MAX_EXAMPLES} each; ${title} is wrong`
    }
    const invalid = list.findIndex((example) => !isExample(example, name))
    if (invalid >= 0) return `${title}[${invalid}] needs a stamp of plugin ${name} with signals, and nowSeconds`
  }
  return { accepts, rejects } as Examples
}

function isExample(value: unknown, name: string): value is Example {
  const { stamp, nowSeconds } = (value ?? {}) as Partial<Example>
  return (
    typeof nowSeconds === 'number' &&
    stamp?.plugin === name &&
    typeof stamp.signals === 'object' &&
    stamp.signals !== null
  )
}

type Path = readonly string[]

function leafPaths(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, member]) => leafPaths(member, [...path, name]))
}

/** Returns a copy of the signals with another value at `path`. */
function withLeaf(signals: LocationStamp['signals'], path: Path, value: unknown): LocationStamp['signals'] {
  const copy = structuredClone(signals) as Record<string, unknown>
  let holder = copy
  for (const name of path.slice(0, -1)) holder = holder[name] as Record<string, unknown>
  holder[path.at(-1)!] = value
  return copy as LocationStamp['signals']
}
