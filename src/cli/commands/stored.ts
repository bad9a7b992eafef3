import { toInput } from '../../client/forms.ts'
import type { SetFeatureLike } from '../../client/sets.ts'
import { timeText } from '../../client/verify/signed-data.ts'
import type { Geometry, StoredGeometry } from '../../types/generated.ts'
import { usage } from '../exit-codes.ts'
import { isFlatGeobuf, readFlatGeobuf } from '../inputs/flatgeobuf.ts'
import { readInput, readWhole } from '../inputs/read-input.ts'
import { requireKnownFormat, type SourceOptions } from '../inputs/source.ts'
import { createServiceClient, type ServerOptions } from '../options.ts'
import { formatCount, outJson, type Terminal } from '../terminal.ts'

interface StoredOptions extends ServerOptions {
  readonly json?: boolean
}

/** Runs `trigpoint geometries put`: prints one hash for each input. */
export async function putGeometries(
  inputs: readonly string[],
  options: StoredOptions & SourceOptions,
  terminal: Terminal,
): Promise<void> {
  const read: Geometry[] = []
  for (const text of inputs) {
    const input = toInput(await readInput(text, terminal, { ...options, severalHint }))
    if (!('type' in input)) throw usage(`${text}: is not a geometry, and only geometries are stored`)
    read.push(input as Geometry)
  }
  const { geometries } = await createServiceClient(options, terminal)
  for (const geometry of read) {
    const stored = await geometries.put(geometry, { signal: terminal.signal })
    if (options.json === true) await outJson(terminal, stored)
    else await terminal.out(`${stored.ref}\n`)
  }
}

function severalHint(file: string): string {
  // Standard input can be read only once.
  const numbered = file === '-' ? 'one as -#1' : `each one as in ${file}#1 ${file}#2`
  return `name ${numbered}, or store all as a set with \`trigpoint sets put\``
}

/** Runs `trigpoint geometries list`. */
export async function listGeometries(options: StoredOptions, terminal: Terminal): Promise<void> {
  const client = await createServiceClient(options, terminal)
  const listed = await client.geometries.list({ signal: terminal.signal })
  if (options.json === true) return outJson(terminal, listed)
  const { geometries, count, usedBytes, maxBytes } = listed
  await terminal.out(geometries.map((geometry) => `${geometryLine(geometry)}\n`).join(''))
  const geometriesText = formatCount(count, 'geometry', 'geometries')
  terminal.err(`${geometriesText}; ${usedBytes} of ${maxBytes} bytes used, those of sets included\n`)
}

function geometryLine({ ref, bytes, expires }: StoredGeometry): string {
  return `${ref}  ${String(bytes).padStart(9)} bytes, kept until ${timeText(expires)}`
}

/** Runs `trigpoint geometries get`. */
export async function printGeometry(ref: string, options: StoredOptions, terminal: Terminal): Promise<void> {
  const client = await createServiceClient(options, terminal)
  const { geometry } = await client.geometries.get(withoutPrefix(ref), { signal: terminal.signal })
  await terminal.out(`${JSON.stringify(geometry)}\n`)
}

/** Runs `trigpoint geometries delete`. */
export async function deleteGeometry(ref: string, options: StoredOptions, terminal: Terminal): Promise<void> {
  const client = await createServiceClient(options, terminal)
  const { deleted } = await client.geometries.delete(withoutPrefix(ref), { signal: terminal.signal })
  terminal.err(`deleted ${deleted}\n`)
}

/** Accepts a hash as it is written in inputs. */
function withoutPrefix(ref: string): string {
  return ref.replace(/^ref:/, '')
}

/** Runs `trigpoint sets put`. */
export async function putSet(name: string, file: string, options: StoredOptions, terminal: Terminal): Promise<void> {
  requireKnownFormat(file, {}, 'features')
  const features = readFeatures(await readWhole(file, terminal), file === '-' ? 'standard input' : file)
  const { sets } = await createServiceClient(options, terminal)
  const set = await sets.put(name, features, { signal: terminal.signal })
  if (options.json === true) return outJson(terminal, set)
  terminal.err(`${set.name}: ${formatCount(set.features, 'feature')}, ${set.vertices} vertices, ${set.bytes} bytes\n`)
}

const RECORD_SEPARATOR = '\x1e'

/** Reads the features of FlatGeobuf, of GeoJSON, or of lines of it. @throws {CommandError} if the file is none of them */
function readFeatures(bytes: Buffer, file: string): SetFeatureLike[] {
  if (isFlatGeobuf(bytes)) return readFlatGeobuf(bytes, file)
  const text = bytes.toString('utf8').replace(/^\ufeff/, '')
  try {
    const value = JSON.parse(text) as { readonly type?: string; readonly features?: SetFeatureLike[] }
    if (value.type !== 'FeatureCollection') return [value as SetFeatureLike]
    return value.features ?? []
  } catch {
    const lines = text.split('\n')
    return lines.flatMap((line, index) => {
      // GeoJSON text sequences begin each record with this character (RFC 8142).
      const record = line.replace(RECORD_SEPARATOR, '').trim()
      if (record === '') return []
      try {
        return [JSON.parse(record) as SetFeatureLike]
      } catch (error) {
        throw usage(`${file}: line ${index + 1}: is not JSON: ${(error as Error).message}`, error)
      }
    })
  }
}

/** Runs `trigpoint sets list`. */
export async function listSets(options: StoredOptions, terminal: Terminal): Promise<void> {
  const client = await createServiceClient(options, terminal)
  const sets = await client.sets.list({ signal: terminal.signal })
  if (options.json === true) return outJson(terminal, { sets })
  const lines = sets.map(
    ({ name, features, bytes, expires }) =>
      `${name}  ${formatCount(features, 'feature')}, ${bytes} bytes, kept until ${timeText(expires)}\n`,
  )
  await terminal.out(lines.join(''))
}

/** Runs `trigpoint sets features`. */
export async function printFeatures(name: string, options: StoredOptions, terminal: Terminal): Promise<void> {
  const client = await createServiceClient(options, terminal)
  for await (const feature of client.sets.features(name, { signal: terminal.signal }))
    await terminal.out(`${JSON.stringify(feature)}\n`)
}

/** Runs `trigpoint sets delete`. */
export async function deleteSet(name: string, options: StoredOptions, terminal: Terminal): Promise<void> {
  const client = await createServiceClient(options, terminal)
  const { deleted } = await client.sets.delete(name, { signal: terminal.signal })
  terminal.err(`deleted ${deleted}\n`)
}
