import type { InputLike } from '../../client/inputs.ts'
import { usage } from '../exit-codes.ts'
import { counted, type Terminal } from '../terminal.ts'
import { isPlaceText, readPlaceText } from './place-text.ts'
import { bytesOf, type SourceOptions, sourceItems } from './source.ts'
import type { SourceItem } from './source-item.ts'

const UID = /^0x[0-9a-fA-F]{64}$/
/** `tracks.gpx#2`: the second thing in the file. */
const PICKED = /^(.+)#([1-9]\d{0,8})$/s

/**
 * One input as people give it: `lon,lat`, WKT, `h3:`, `geohash:` or `wkb:` with what follows, JSON, the UID of a location
 * attestation, a file, or `-` for standard input. A file with several geometries needs `#2` behind its name, to name one.
 *
 * @throws {CommandError} that says what was found and what would do
 */
export async function readInput(given: string, terminal: Terminal, options: SourceOptions = {}): Promise<InputLike> {
  const text = given.trim()
  if (UID.test(text)) return { uid: text }
  if (text.startsWith('{'))
    return inputOf(await onlyItem(once(text), 'the JSON text', { format: 'json' }), 'the JSON text')
  if (isPlaceText(text)) {
    const read = await readPlaceText(text)
    if ('fault' in read) throw usage(`${shortened(text)}: ${read.fault}`)
    return read.value
  }
  if (text === '') throw usage('an input is empty: give a place, a UID, a file or -')
  const [, file = text, number] = PICKED.exec(text) ?? []
  const name = file === '-' ? 'standard input' : file
  const pieces = bytesOf(file, terminal)
  const item =
    number === undefined ? await onlyItem(pieces, name, options) : await nthItem(pieces, name, Number(number), options)
  return inputOf(item, name)
}

async function onlyItem(pieces: AsyncIterable<Uint8Array>, name: string, options: SourceOptions): Promise<SourceItem> {
  let only: SourceItem | undefined
  for await (const item of sourceItems(pieces, name, options)) {
    if (only !== undefined) {
      const first = name === 'standard input' ? '-#1' : `${name}#1`
      throw usage(`${name} holds several geometries: name one, as in ${first}, or use \`trigpoint batch\` for all`)
    }
    only = item
  }
  if (only === undefined) throw usage(`${name} holds no geometry`)
  return only
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
  throw usage(`${name} holds ${counted(count, 'geometry', 'geometries')}: there is no number ${number}`)
}

function inputOf({ place, value, fault }: SourceItem, name: string): InputLike {
  if (fault !== undefined) throw usage(`${name}: ${place}: ${fault}`)
  return value as InputLike
}

async function* once(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(text)
}

function shortened(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text)
}
