import type { Finding } from '../evidence-messages.ts'
import type { LocationStamp } from '../types/generated.ts'
import { StampMessages } from './message.ts'
import type { VerifyPlugin } from './plugin.ts'
import { type ReadStamp, type StampVerdict, type VerifyEngine, verifyStamp } from './stamp.ts'

/** A stamp (its signatures are not looked at) that a module brings to show its rules by. */
interface Example {
  readonly stamp: LocationStamp
  readonly nowSeconds: number
  /** Of a rejected one: the check that must fail. */
  readonly check?: string
}

export interface Examples {
  readonly accepts: readonly Example[]
  readonly rejects: readonly Example[]
}

/** What the kit needs besides an engine. */
export interface Kit {
  readonly engine: VerifyEngine
  readGeometry(stamp: LocationStamp): ReadStamp['geometry']
  /** Names what the rules reached for – network, files, clock, chance – while the call ran. */
  watched<T>(call: () => Promise<T>): Promise<{ readonly value: T; readonly reached: readonly string[] }>
}

const RUNS = 100
const MAX_EXAMPLES = 20
/** What a leaf of the signals is replaced by: every kind of JSON value, and sizes nobody expects. */
const HOSTILE: readonly unknown[] = [null, true, -1e308, 1e308, 0, '', '\u0000', 'x'.repeat(10_000), [], {}, [[[[]]]]]

/**
 * Tries a guarded kind of evidence by its own examples and by hostile variants of them.
 *
 * @param examples the module's export of that name
 */
export async function tryPlugin(plugin: VerifyPlugin, examples: unknown, kit: Kit): Promise<readonly Finding[]> {
  const read = readExamples(examples, plugin.name)
  if (typeof read === 'string') return [{ ok: false, rule: 'brings examples', detail: read }]
  const { accepts, rejects } = read
  const found: Finding[] = [
    { ok: true, rule: 'brings examples', detail: `${accepts.length} to accept, ${rejects.length} to reject` },
  ]
  const judge = (example: Example, changes: Partial<LocationStamp> = {}) => judgeExample(plugin, example, changes, kit)

  for (const [index, example] of accepts.entries()) {
    const failed = failuresOf(await judge(example))
    found.push({
      ok: failed.length === 0,
      rule: `accepts example ${index + 1}`,
      detail: failed.join(', ') || 'consistent',
    })
  }
  for (const [index, example] of rejects.entries()) {
    const failed = failuresOf(await judge(example))
    const isMet = example.check === undefined ? failed.length > 0 : failed.includes(example.check)
    const wanted = example.check ?? 'any check'
    found.push({
      ok: isMet,
      rule: `rejects counter-example ${index + 1}`,
      detail: `${wanted}; failed: ${failed.join(', ') || 'none'}`,
    })
  }
  const empty = await judge(accepts[0]!, { signals: {} })
  found.push({
    ok: !empty.signalsConsistent,
    rule: 'refuses signals without members',
    detail: failuresOf(empty).join(', ') || 'accepted',
  })
  found.push(await tryHostile(accepts, judge))
  found.push(...(await tryUnread(accepts, judge)))
  found.push(await tryDeterminism(accepts[0]!, judge))
  const { reached } = await kit.watched(async () => {
    for (const example of [...accepts, ...rejects]) await judge(example)
  })
  found.push({ ok: reached.length === 0, rule: 'reaches for nothing outside', detail: reached.join(', ') || 'nothing' })
  return found
}

type Judge = (example: Example, changes?: Partial<LocationStamp>) => Promise<StampVerdict>

/** Rules that throw or hang on foreign JSON would mark honest stamps inconsistent for the wrong reason. */
async function tryHostile(accepts: readonly Example[], judge: Judge): Promise<Finding> {
  const rule = 'answers hostile signals with checks'
  let tried = 0
  for (const example of accepts) {
    for (const path of leavesOf(example.stamp.signals)) {
      for (const value of HOSTILE) {
        const { details } = await judge(example, { signals: replaced(example.stamp.signals, path, value) })
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

/** Leaves that no rule looks at: not wrong, but a forger writes there what he likes. */
async function tryUnread(accepts: readonly Example[], judge: Judge): Promise<Finding[]> {
  const example = accepts[0]!
  const usual = textOf(await judge(example))
  const unread: string[] = []
  for (const path of leavesOf(example.stamp.signals)) {
    const texts: string[] = []
    for (const value of HOSTILE)
      texts.push(textOf(await judge(example, { signals: replaced(example.stamp.signals, path, value) })))
    if (texts.every((text) => text === usual)) unread.push(path.join('.'))
  }
  if (unread.length === 0) return []
  return [{ ok: true, isNote: true, rule: 'signals that no rule looks at', detail: unread.join(', ') }]
}

async function tryDeterminism(example: Example, judge: Judge): Promise<Finding> {
  const texts = new Set<string>()
  for (let run = 0; run < RUNS; run++) texts.add(textOf(await judge(example)))
  return { ok: texts.size === 1, rule: `judges the same ${RUNS} times`, detail: `${texts.size} different answers` }
}

function judgeExample(plugin: VerifyPlugin, { stamp, nowSeconds }: Example, changes: Partial<LocationStamp>, kit: Kit) {
  const whole = { ...stamp, ...changes, signatures: [] } as unknown as LocationStamp
  const messages = new StampMessages(whole, kit.engine.crypto.keccak)
  return verifyStamp({ stamp: whole, plugin, geometry: kit.readGeometry(whole), messages }, nowSeconds, kit.engine)
}

function failuresOf({ details }: StampVerdict): string[] {
  return details.checks.filter(({ ok, severity }) => !ok && severity === 'fail').map(({ id }) => id)
}

function textOf({ details, signalsConsistent, accuracyCapped }: StampVerdict): string {
  return JSON.stringify([signalsConsistent, accuracyCapped, details])
}

function readExamples(value: unknown, name: string): Examples | string {
  const { accepts, rejects } = (value ?? {}) as Partial<Record<keyof Examples, unknown>>
  for (const [list, title] of [
    [accepts, 'accepts'],
    [rejects, 'rejects'],
  ] as const) {
    if (!Array.isArray(list) || list.length === 0 || list.length > MAX_EXAMPLES) {
      return `export examples = { accepts: […], rejects: […] } with 1 to ${MAX_EXAMPLES} each: ${title} is not so`
    }
    const odd = list.findIndex((example) => !isExample(example, name))
    if (odd >= 0) return `${title}[${odd}] needs a stamp of plugin ${name} with signals, and nowSeconds`
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

function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, [...path, name]))
}

function replaced(signals: LocationStamp['signals'], path: Path, value: unknown): LocationStamp['signals'] {
  const copy = structuredClone(signals) as Record<string, unknown>
  let holder = copy
  for (const name of path.slice(0, -1)) holder = holder[name] as Record<string, unknown>
  holder[path.at(-1)!] = value
  return copy as LocationStamp['signals']
}
