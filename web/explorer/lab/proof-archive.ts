/** Reads evidence from a file: a ProofMode archive, or a stamp as JSON. */
import type { LocationStamp } from '../../../src/types/generated.ts'

const MAX_BYTES = 32 * 2 ** 20
/** Bytes that one entry may inflate to; records and keys have a few kilobytes. */
const MAX_ENTRY_BYTES = 2 ** 20
const MAX_ENTRIES = 200
const END_OF_DIRECTORY = 0x06054b50
const DIRECTORY_ENTRY = 0x02014b50

/** @throws {Error} with a message for people, if the file cannot be read as evidence */
export async function readProofArchive(file: File): Promise<LocationStamp> {
  if (file.size > MAX_BYTES) throw new Error('The file is larger than 32 MiB')
  const bytes = new Uint8Array(await file.arrayBuffer())
  if (bytes[0] === 0x7b) return readStamp(new TextDecoder().decode(bytes))
  return stampFromEntries(await readEntries(bytes))
}

function readStamp(text: string): LocationStamp {
  const value = JSON.parse(text)
  const stamp = value.stamp ?? value
  if (typeof stamp.plugin !== 'string' || !Array.isArray(stamp.signatures))
    throw new Error('This JSON is not a stamp: `plugin` or `signatures` is missing')
  return stamp
}

/** Returns an unsigned `proofmode` stamp for the record in the archive. The signatures of the device are among its signals. */
function stampFromEntries(entries: ReadonlyMap<string, string>): LocationStamp {
  const find = (pattern: RegExp) => [...entries].find(([name]) => pattern.test(name))
  const [, json] = find(/\.proof\.json$/) ?? []
  const [, csv] = find(/\.proof\.csv$/) ?? []
  if (json === undefined && csv === undefined)
    throw new Error('The archive has neither a .proof.json nor a .proof.csv file')
  const record: Record<string, unknown> = json === undefined ? readCsv(csv!) : JSON.parse(json)
  const number = (name: string) => Number(record[name])
  const [longitude, latitude, timeMs] = [
    number('Location.Longitude'),
    number('Location.Latitude'),
    number('Location.Time'),
  ]
  if (!Number.isFinite(longitude) || !Number.isFinite(latitude))
    throw new Error('The record in the archive has no position')
  const start =
    Number.isFinite(timeMs) && timeMs > 0
      ? Math.floor(timeMs / 1000)
      : Math.floor(Date.parse(String(record['DateCreated'])) / 1000)
  if (!Number.isFinite(start)) throw new Error('The record in the archive has no time')
  const publicKey = find(/pubkey\.asc$/)?.[1]
  const signature = find(json === undefined ? /\.proof\.csv\.asc$/ : /\.proof\.json\.asc$/)?.[1]
  return {
    lpVersion: '0.2',
    locationType: 'geojson-point',
    location: { type: 'Point', coordinates: [longitude, latitude] },
    srs: 'EPSG:4326',
    temporalFootprint: { start, end: start },
    plugin: 'proofmode',
    pluginVersion: '0.1.0',
    signals: {
      ...record,
      ...(publicKey === undefined || signature === undefined
        ? {}
        : { 'PGP.PublicKey': publicKey, 'PGP.MetadataSignature': signature, 'PGP.Metadata': json ?? csv }),
    },
    signatures: [],
  }
}

/** Reads a CSV file of two lines: names and values. */
function readCsv(text: string): Record<string, string> {
  const [names = [], values = []] = text
    .trim()
    .split(/\r?\n/)
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
      ),
    )
  return Object.fromEntries(names.map((name, index) => [name.trim(), (values[index] ?? '').trim()]))
}

/** Returns the .json, .csv and .asc entries of a ZIP file (APPNOTE 6.3) up to 1 MiB each, by name; stored or deflated. */
async function readEntries(bytes: Uint8Array): Promise<ReadonlyMap<string, string>> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let end = bytes.length - 22
  while (end >= 0 && end > bytes.length - 65_600 && view.getUint32(end, true) !== END_OF_DIRECTORY) end--
  if (end < 0 || view.getUint32(end, true) !== END_OF_DIRECTORY)
    throw new Error('The file is neither a ZIP archive nor JSON')
  const count = view.getUint16(end + 10, true)
  if (count > MAX_ENTRIES) throw new Error(`The archive has ${count} entries; at most ${MAX_ENTRIES} are allowed`)
  let at = view.getUint32(end + 16, true)
  const entries = new Map<string, string>()
  for (let index = 0; index < count; index++) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== DIRECTORY_ENTRY)
      throw new Error('The archive is damaged')
    const method = view.getUint16(at + 10, true)
    const compressed = view.getUint32(at + 20, true)
    const size = view.getUint32(at + 24, true)
    const nameLength = view.getUint16(at + 28, true)
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength))
    const local = view.getUint32(at + 42, true)
    if (/\.(json|csv|asc)$/.test(name) && size <= MAX_ENTRY_BYTES && local + 30 <= bytes.length) {
      const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true)
      entries.set(name, await readEntryText(bytes.subarray(start, start + compressed), method))
    }
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true)
  }
  return entries
}

async function readEntryText(compressed: Uint8Array, method: number): Promise<string> {
  if (method === 0) return new TextDecoder().decode(compressed)
  if (method !== 8) throw new Error(`The archive uses compression method ${method}, which is not supported`)
  const reader = new Blob([compressed as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream('deflate-raw'))
    .getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text
    text += decoder.decode(value, { stream: true })
    if (text.length > MAX_ENTRY_BYTES) {
      await reader.cancel()
      throw new Error('An entry of the archive is larger than it declares')
    }
  }
}
