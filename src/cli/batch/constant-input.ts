/** Checks what all items of a batch share, before the first item is read. */
import { pack } from '../../base/bytes.ts'
import { isObject } from '../../client/forms.ts'
import type { ProblemDetails } from '../../types/generated.ts'
import { usage } from '../exit-codes.ts'
import type { SourceItem } from '../inputs/source-item.ts'
import type { LocalEngine } from '../local-engine.ts'
import { DEFAULT_CHAIN_ID, OPERATION_INPUTS } from '../options.ts'
import { composeItem, type ItemRule, oneInputFault } from './feeder.ts'

/** Stands for the input of the items, which are not read yet. */
const ANY_POINT = { type: 'Point', coordinates: [0, 0] }
/** Members that an operation needs and that the items may have. Their values do not affect whether a geometry is valid. */
const ANY_MEMBERS: Readonly<Record<string, object>> = { within: { radius: 1 }, waypoints: { everyMeters: 1_000_000 } }

/**
 * Computes one item with the input of `--with` and a point, as the service would.
 *
 * @param engine an engine with the limits of this run; a service may have other limits, so for a service `ignoresLimits` is true
 * @throws {CommandError} if the input of `--with` is invalid, because every item would be rejected for that reason
 */
export async function requireValidFixed(rule: ItemRule, engine: LocalEngine, ignoresLimits: boolean): Promise<void> {
  const { operation, fixed } = rule
  const [member] = Object.keys(fixed)
  if (operation === 'mixed' || member === undefined) return
  const [open] = OPERATION_INPUTS[operation].filter((name) => name !== member)
  const value = { ...ANY_MEMBERS[operation], [open!]: ANY_POINT }
  const composed = composeItem({ place: '', value }, 1, { ...rule, radius: undefined, parameters: {} })
  if ('fault' in composed) throw usage(`--with: ${composed.fault}`)
  // The engine in this process cannot read the geometry of an attestation.
  if (!isGeometry((composed.item as unknown as Record<string, unknown>)[member])) return
  const items = pack([Buffer.from(JSON.stringify(composed.item))])
  const { others } = await engine.computeItems(items, {
    chainId: DEFAULT_CHAIN_ID,
    recipient: undefined,
    attest: 'none',
  })
  const result = others.get(0)
  if (result === undefined || !('error' in result) || !isAbout(member, result.error)) return
  if (ignoresLimits && isLimit(result.error)) return
  const [part] = result.error.errors ?? []
  throw usage(`--with ${result.error.detail}${part?.hint === undefined ? '' : `; ${part.hint}`}`)
}

function isGeometry(input: unknown): boolean {
  return isObject(input) && 'type' in input
}

function isAbout(member: string, { errors = [] }: ProblemDetails): boolean {
  return (
    errors.length > 0 && errors.every(({ pointer }) => pointer === `#/${member}` || pointer.startsWith(`#/${member}/`))
  )
}

function isLimit({ status, errors = [] }: ProblemDetails): boolean {
  return status !== 400 || errors.some(({ code }) => code?.startsWith('too-many') || code === 'collection-depth')
}

/**
 * Checks that the items at the beginning of a file have all inputs of the operation.
 *
 * @throws {CommandError} if every readable one of them is one input, so that `--with` is missing
 */
export function requireSecondInput(items: readonly SourceItem[], name: string, rule: ItemRule): void {
  if (rule.operation === 'mixed') return
  const fault = oneInputFault(rule.operation)
  const readable = items.filter((item) => item.fault === undefined)
  const lacksInput = (item: SourceItem) => {
    const composed = composeItem(item, 1, rule)
    return 'fault' in composed && composed.fault === fault
  }
  if (readable.length > 0 && readable.every(lacksInput)) throw usage(`${name}: each item ${fault}`)
}
