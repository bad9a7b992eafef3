import { existsSync } from 'node:fs'
import { type InputLike, isObject } from '../../client/forms.ts'
import { usage } from '../exit-codes.ts'
import { formatCount, type Terminal } from '../terminal.ts'
import { missingFileText, type OneItemOptions, readFileBytes, type SourceOptions, sourceItems } from './source.ts'
import { isPlaceText, readPlaceText, type SourceItem } from './source-item.ts'

const UID = /^0x[0-9a-fA-F]{64}$/
/** A geometry that the service stores, by its hash. */
const STORED = /^ref:(0x[0-9a-fA-F]{64})$/
/** Matches `tracks.gpx#2`: the second geometry in the file. */
const NUMBERED_FILE = /^(.+)#([1-9]\d{0,8})$/s

/** The forms of an input on the command line, each with an example in the quotes that a shell needs. */
const INPUT_FORMS: readonly (readonly [form: string, example: string])[] = [
  ['longitude,latitude', '2.2945,48.8584'],
  ['WKT or EWKT', "'POINT (2.2945 48.8584)'"],
  ['GeoJSON', `'{"type":"Point","coordinates":[2.2945,48.8584]}'`],
  ['H3 cell', 'h3:8a1fb46622dffff'],
  ['geohash', 'geohash:u09tvw0'],
  ['WKB in hex', 'wkb:01010000004260e5d0225b024076711b0de06d4840'],
  ['attestation UID', '0x and 64 hex digits'],
  ['stored geometry', 'ref:0x and 64 hex digits'],
  ['signed attestation', 'signed.json, with the members sig and signer'],
  ['file', 'park.geojson (GeoJSON, lines of JSON, WKT, CSV, GPX)'],
  ['one item of a file', 'walk.gpx#2'],
  ['standard input', '-'],
]

function inputFormsText(): string {
  return ['an input is one of', ...INPUT_FORMS.map(([form, example]) => `  ${form.padEnd(20)}${example}`)].join('\n  ')
}

/**
 * Reads one input from the command line: `lon,lat`, WKT, `h3:…`, `geohash:…`, `wkb:…`, JSON, the UID of a location attestation,
 * `ref:0x…` for a stored geometry, a file, or `-` for standard input. For a file with several geometries, a suffix such as `#2` selects one.
 *
 * @throws {CommandError} the message says what was found and what would be valid
 */
export async function readInput(input: string, terminal: Terminal, options: OneItemOptions = {}): Promise<InputLike> {
  const text = input.trim()
  if (UID.test(text)) return { uid: text }
  const ref = STORED.exec(text)?.[1]
  if (ref !== undefined) return { ref }
  if (text.startsWith('{'))
    return toInput(await onlyItem(textBytes(text), 'the JSON text', { format: 'json' }), 'the JSON text')
  if (isPlaceText(text)) {
    const read = await readPlaceText(text)
    if ('fault' in read) throw usage(`${quoteShort(text)}: ${read.fault}`)
    return read.value
  }
  if (text === '') throw usage(`an input is empty\n  ${inputFormsText()}`)
  const [, file = text, number] = NUMBERED_FILE.exec(text) ?? []
  if (file !== '-' && !existsSync(file)) throw usage(`${file}: ${missingFileText(file)}\n  ${inputFormsText()}`)
  const name = file === '-' ? 'standard input' : file
  const pieces = readFileBytes(file, terminal)
  const item =
    number === undefined ? await onlyItem(pieces, name, options) : await nthItem(pieces, name, Number(number), options)
  return toInput(item, name)
}

async function onlyItem(pieces: AsyncIterable<Uint8Array>, name: string, options: OneItemOptions): Promise<SourceItem> {
  let only: SourceItem | undefined
  for await (const item of sourceItems(pieces, name, options)) {
    if (only !== undefined) {
      const { severalHint = selectionHint } = options
      throw usage(`${name} contains several geometries: ${severalHint(name === 'standard input' ? '-' : name)}`)
    }
    only = item
  }
  if (only === undefined) throw usage(`${name} contains no geometry`)
  return only
}

function selectionHint(file: string): string {
  return `select one, for example ${file}#1, or use \`trigpoint batch\` for all`
}

async function nthItem(
  pieces: AsyncIterable<Uint8Array>,
  name: string,
  number: number,
  options: SourceOptions,
): Promise<SourceItem> {
  let count = 0
  for await (const item of sourceItems(pieces, name, options)) {
    count++
    if (count === number) return item
  }
  throw usage(`${name} contains ${formatCount(count, 'geometry', 'geometries')}: number ${number} does not exist`)
}

function toInput({ place, value, fault }: SourceItem, name: string): InputLike {
  if (fault !== undefined) throw usage(`${name}: ${place}: ${fault}`)
  // As EAS tools save an off-chain attestation.
  if (isObject(value) && 'sig' in value && 'signer' in value) return { attestation: value }
  return value as InputLike
}

async function* textBytes(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(text)
}

function quoteShort(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text)
}

const MAX_BYTES = 64 * 1_048_576

/** Reads all bytes of a file, or of standard input for `-`. @throws {CommandError} beyond 64 MiB */
export async function readWhole(file: string, terminal: Terminal): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of readFileBytes(file, terminal)) {
    size += piece.length
    if (size > MAX_BYTES) throw usage(`${file}: is larger than 64 MiB`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** Reads a file that holds one JSON value. @throws {CommandError} if it is not JSON */
export async function readJsonFile(file: string, terminal: Terminal): Promise<unknown> {
  const text = (await readWhole(file, terminal)).toString('utf8').replace(/^\ufeff/, '')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw usage(`${file === '-' ? 'standard input' : file}: is not JSON: ${(error as Error).message}`, error)
  }
}
