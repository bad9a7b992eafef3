/** Packs the rows of a table. Making an object of each row and writing it as JSON took longer than computing its result. */
import { toInput } from '../../client/forms.ts'
import { type Columns, type CsvRecord, csvRecords, readRow } from '../inputs/csv-source.ts'
import { OPERATION_INPUTS } from '../options.ts'
import { createEntry, type ItemRule, operationComposer } from './feeder.ts'
import { ItemPacker, type PackedGroup, requireItems } from './packed-items.ts'

interface RowOptions {
  readonly columns: string | undefined
  /** Number of items at the beginning that are left out. */
  readonly skippedItems: number
  /** False if the results need no id, because they are in a table with the columns of the input. */
  readonly hasIds: boolean
}

/**
 * Yields the items of a table. A row with anything but points is parsed.
 *
 * @throws {SourceError} as `csvRecords`, and if there are fewer items than `skippedItems`
 */
export async function* packRows(
  texts: AsyncIterable<string>,
  rule: ItemRule,
  { columns: columnNames, skippedItems, hasIds }: RowOptions,
): AsyncGenerator<PackedGroup, void, undefined> {
  const packer = new ItemPacker()
  const compose = operationComposer(rule)
  let composeText: RowComposer | undefined
  let number = 0
  for await (const { columns, records } of csvRecords(texts, columnNames)) {
    composeText ??= createRowComposer(columns, rule, hasIds)
    let packed: CsvRecord[] = []
    const takeGroup = () => {
      const [rows, first] = [packed, number - packed.length + 1]
      packed = []
      return packer.take({
        read: (index) => createEntry(readRow(rows[index]!, columns), first + index, compose),
        shown: (index) => {
          const row = { columns: columns.header, fields: rows[index]!.fields }
          return { id: first + index, row, value: undefined }
        },
      })
    }
    for (const record of records) {
      if (++number <= skippedItems) continue
      packed.push(record)
      const text = composeText(record, number)
      if (text === undefined) packer.addEntry(createEntry(readRow(record, columns), number, compose))
      else packer.addText(text)
      if (packer.isFull) yield takeGroup()
    }
    if (!packer.isEmpty) yield takeGroup()
  }
  requireItems(number, skippedItems)
}

/** Composes the item of a row as JSON. Returns undefined if the row has to be parsed. */
type RowComposer = (record: CsvRecord, number: number) => string | undefined

/** A number that JSON and a table write in the same way. The engine rejects one that is out of range. */
const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/
/** Longest id that the engine accepts, in characters. */
const MAX_ID_LENGTH = 128

/** Returns the composer of a table. If it composes an item, that item is the one that `createEntry` makes of the row. */
export function createRowComposer(columns: Columns, rule: ItemRule, hasIds: boolean): RowComposer {
  const shared = sharedMembers(rule)
  const points = shared === undefined ? undefined : findPoints(columns, rule)
  if (points === undefined) return () => undefined
  const beginning = JSON.stringify(shared).slice(0, -1)
  return ({ fields }, number) => {
    if (fields.length > columns.names.length) return undefined
    let text = beginning
    for (const { before, lon, lat } of points) {
      const [longitude, latitude] = [fields[lon], fields[lat]]
      if (longitude === undefined || latitude === undefined) return undefined
      if (!JSON_NUMBER.test(longitude) || !JSON_NUMBER.test(latitude)) return undefined
      text += `${before}${longitude},${latitude}]}`
    }
    const id = fields[columns.id] ?? ''
    if (id.length > MAX_ID_LENGTH) return undefined
    return hasIds ? `${text},"id":${id === '' ? number : JSON.stringify(id)}}` : `${text}}`
  }
}

/** Returns the columns of the points, each with the text before its coordinates; undefined if the rows have other inputs too. */
function findPoints({ inputs, radius }: Columns, { operation, fixed, radius: sharedRadius }: ItemRule) {
  if (operation === 'mixed' || radius >= 0 || (operation === 'within' && sharedRadius === undefined)) return undefined
  const open = OPERATION_INPUTS[operation].filter((name) => !(name in fixed))
  const names = inputs.size === 1 && inputs.has('') ? [''] : open
  if (names.length !== open.length || inputs.size !== open.length) return undefined
  const points = names.map((name, index) => {
    const input = inputs.get(name)
    const before = `,"${open[index]}":{"type":"Point","coordinates":[`
    return input?.kind === 'point' ? { before, lon: input.lon, lat: input.lat } : undefined
  })
  return points.every((point) => point !== undefined) ? points : undefined
}

/**
 * Returns the members that all items of a run share.
 *
 * @returns undefined if a fixed input is invalid; then every item is parsed, and reports it
 */
function sharedMembers({
  operation,
  fixed,
  radius,
  pattern,
  parameters,
}: ItemRule): Record<string, unknown> | undefined {
  try {
    return {
      ...(operation === 'mixed' ? {} : { op: operation }),
      ...(radius === undefined ? {} : { radius }),
      ...(pattern === undefined ? {} : { pattern }),
      ...parameters,
      ...Object.fromEntries(Object.entries(fixed).map(([name, input]) => [name, toInput(input)])),
    }
  } catch {
    return undefined
  }
}
