/**
 * Notes how large the files of all tables and indexes were at the last checkpoint. The engine takes the end of a file for the end of its
 * table: it opens a truncated file without an error, and a plan that does not use an index then returns fewer rows.
 */
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { EmbeddedFiles } from './embedded-files.ts'

/** The engine continues a larger relation in another file: `16411`, `16411.1`, and so on. */
const SEGMENT_BYTES = 2 ** 30

/** Offset and length of the position of the last checkpoint in `pg_control`. */
const CHECKPOINT_OFFSET = 32
const CHECKPOINT_BYTES = 8

/** The relations of an open database that have a file. */
export const RELATION_PATHS = `select pg_relation_filepath(oid) as path from pg_class
  where pg_relation_filepath(oid) is not null and relpersistence = 'p'`

interface SizeNote {
  /** Sizes in bytes by the path of the relation. Only vacuum makes a file smaller, and this note does not exist during a vacuum. */
  readonly bytes: Readonly<Record<string, number>>
  /** The checkpoint to which the sizes belong. After another one the note says nothing: an older version may have made it. */
  readonly checkpoint: string
}

/**
 * Returns the relations whose files are smaller than the note says. Call it before the engine opens the files, because it extends
 * them. A table that was dropped since may be among them.
 */
export function findShrunkFiles(paths: EmbeddedFiles): SizeNote & { readonly shrunk: readonly string[] } {
  const note = readNote(paths)
  if (note === undefined || note.checkpoint !== readCheckpoint(paths)) return { shrunk: [], bytes: {}, checkpoint: '' }
  const shrunk = Object.keys(note.bytes).filter((path) => relationBytes(paths, path) < note.bytes[path]!)
  return { ...note, shrunk }
}

/** Notes the sizes of relations, which are those of the last checkpoint or larger. Without room on the disk, there is no note. */
export function tryNoteSizes(paths: EmbeddedFiles, relations: readonly string[]): void {
  tryWriteNote(paths, Object.fromEntries(relations.map((path) => [path, relationBytes(paths, path)])))
}

/** Repeats sizes after a checkpoint. A store that was found truncated is found so again. */
export function tryWriteNote(paths: EmbeddedFiles, bytes: SizeNote['bytes']): void {
  const checkpoint = readCheckpoint(paths)
  if (checkpoint === undefined) return
  try {
    writeFileSync(`${paths.sizes}.tmp`, JSON.stringify({ checkpoint, bytes }), { mode: 0o600 })
    renameSync(`${paths.sizes}.tmp`, paths.sizes)
  } catch {
    rmSync(`${paths.sizes}.tmp`, { force: true })
  }
}

/** Removes the note, before files may become smaller. */
export function forgetSizes({ sizes }: EmbeddedFiles): void {
  rmSync(sizes, { force: true })
}

function readNote({ sizes }: EmbeddedFiles): SizeNote | undefined {
  if (!existsSync(sizes)) return undefined
  try {
    return JSON.parse(readFileSync(sizes, 'utf8')) as SizeNote
  } catch {
    return undefined // a power failure; the note only detects damage
  }
}

function readCheckpoint({ engine }: EmbeddedFiles): string | undefined {
  try {
    const descriptor = openSync(join(engine, 'global', 'pg_control'), 'r')
    try {
      const position = Buffer.alloc(CHECKPOINT_BYTES)
      readSync(descriptor, position, 0, CHECKPOINT_BYTES, CHECKPOINT_OFFSET)
      return position.toString('hex')
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return undefined // the engine will not open these files
  }
}

/** Returns the bytes of a relation up to its first segment that is not full, where the engine also stops. */
function relationBytes({ engine }: EmbeddedFiles, path: string): number {
  let total = 0
  for (let segment = 0; ; segment++) {
    const file = join(engine, segment === 0 ? path : `${path}.${segment}`)
    const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
    total += bytes
    if (bytes < SEGMENT_BYTES) return total
  }
}
