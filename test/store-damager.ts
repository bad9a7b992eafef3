/** Damages the files of an embedded store in the ways that disks, operators and half-finished copies do. Seeded, so a case repeats. */
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../src/store/database.ts'

const PAGE_BYTES = 8192

/** The files of a closed store. */
export interface DamagedFiles {
  /** The folder of the database files. */
  readonly files: string
  /** Paths of the files of tables and indexes below `files`. */
  readonly relations: Readonly<Record<string, string>>
  /** A number from 0 to below 1. */
  readonly random: () => number
}

export interface Damage {
  readonly name: string
  readonly apply: (store: DamagedFiles) => void
}

/** Returns the paths of the files of all tables and indexes of an open store, by name. */
export async function relationFiles(database: Database): Promise<Readonly<Record<string, string>>> {
  const rows = await database.reads.query(
    `select relname as name, pg_relation_filepath(pg_class.oid) as path from pg_class
     where relkind in ('r', 'i', 't') and pg_relation_filepath(pg_class.oid) is not null`,
  )
  return Object.fromEntries(rows.map((row) => [row['name'] as string, row['path'] as string]))
}

function overwrite(file: string, offset: number, bytes: Uint8Array): void {
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, bytes, 0, bytes.length, offset)
  closeSync(descriptor)
}

function randomBytes({ random }: DamagedFiles, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random() * 256)
}

/** Overwrites one page of a file, which is not the last, with random bytes. */
function scramblePage(store: DamagedFiles, file: string): void {
  const pages = Math.max(1, Math.floor(statSync(file).size / PAGE_BYTES))
  overwrite(file, Math.floor(store.random() * pages) * PAGE_BYTES, randomBytes(store, PAGE_BYTES))
}

/** Inverts one bit in the used half of a page. */
function flipBit({ random }: DamagedFiles, file: string): void {
  const pages = Math.max(1, Math.floor(statSync(file).size / PAGE_BYTES))
  const offset = Math.floor(random() * pages) * PAGE_BYTES + PAGE_BYTES - 1 - Math.floor(random() * 2000)
  const byte = new Uint8Array(1)
  const descriptor = openSync(file, 'r+')
  readSync(descriptor, byte, 0, 1, offset)
  byte[0]! ^= 1 << Math.floor(random() * 8)
  writeSync(descriptor, byte, 0, 1, offset)
  closeSync(descriptor)
}

const control = ({ files }: DamagedFiles) => join(files, 'global', 'pg_control')

/** Segments of the write-ahead log, oldest first. */
function logSegments({ files }: DamagedFiles): string[] {
  const folder = join(files, 'pg_wal')
  const names = readdirSync(folder).filter((name) => /^[0-9A-F]{24}$/.test(name))
  return names.sort().map((name) => join(folder, name))
}

/** Returns the end of the bytes that were written to a segment. */
function writtenBytes(segment: string): number {
  const bytes = readFileSync(segment)
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return end
}

/** The newest segment with content, because the engine prepares later ones. */
function newestLog(store: DamagedFiles): string {
  return logSegments(store).findLast((segment) => writtenBytes(segment) > 0)!
}

const relation = (store: DamagedFiles, name: string) => join(store.files, store.relations[name]!)

const removed = (path: string): Damage => ({
  name: `${path} is missing`,
  apply: ({ files }) => rmSync(join(files, path), { recursive: true }),
})

const emptied = (path: string): Damage => ({
  name: `${path} is empty`,
  apply: ({ files }) => truncateSync(join(files, path), 0),
})

function ofRelation(name: string): Damage[] {
  return [
    { name: `${name}: a page of random bytes`, apply: (store) => scramblePage(store, relation(store, name)) },
    { name: `${name}: one bit inverted`, apply: (store) => flipBit(store, relation(store, name)) },
    {
      name: `${name}: cut off in the middle`,
      apply: (store) => truncateSync(relation(store, name), Math.floor(statSync(relation(store, name)).size / 2)),
    },
    { name: `${name}: empty`, apply: (store) => truncateSync(relation(store, name), 0) },
    { name: `${name}: missing`, apply: (store) => rmSync(relation(store, name)) },
  ]
}

/** Every kind of damage. */
export const DAMAGES: readonly Damage[] = [
  removed('global/pg_control'),
  emptied('global/pg_control'),
  { name: 'pg_control: random bytes', apply: (store) => overwrite(control(store), 0, randomBytes(store, 300)) },
  { name: 'pg_control: one bit inverted', apply: (store) => overwrite(control(store), 40, randomBytes(store, 1)) },
  removed('PG_VERSION'),
  emptied('PG_VERSION'),
  removed('base'),
  removed('global'),
  removed('pg_xact/0000'),
  emptied('pg_xact/0000'),
  {
    name: 'pg_xact: zeros',
    apply: ({ files }) => writeFileSync(join(files, 'pg_xact/0000'), new Uint8Array(PAGE_BYTES)),
  },
  removed('pg_multixact'),
  removed('postgresql.conf'),
  emptied('postgresql.conf'),
  removed('pg_wal'),
  {
    name: 'log: the newest segment is missing',
    apply: (store) => rmSync(newestLog(store)),
  },
  { name: 'log: the newest segment is empty', apply: (store) => truncateSync(newestLog(store), 0) },
  {
    name: 'log: every segment is zeros',
    apply: (store) => {
      for (const segment of logSegments(store)) writeFileSync(segment, new Uint8Array(statSync(segment).size))
    },
  },
  {
    name: 'log: the last bytes are zeros',
    apply: (store) => {
      const segment = newestLog(store)
      overwrite(segment, Math.max(0, writtenBytes(segment) - 3000), new Uint8Array(3000))
    },
  },
  {
    name: 'log: random bytes near the end',
    apply: (store) => {
      const segment = newestLog(store)
      overwrite(segment, Math.max(0, writtenBytes(segment) - 6000), randomBytes(store, 500))
    },
  },
  {
    name: 'every file is empty',
    apply: ({ files }) => {
      for (const entry of readdirSync(files, { recursive: true, withFileTypes: true }))
        if (entry.isFile()) truncateSync(join(entry.parentPath, entry.name), 0)
    },
  },
  {
    name: 'half of the files are missing',
    apply: ({ files, random }) => {
      for (const entry of readdirSync(files, { recursive: true, withFileTypes: true })) {
        const file = join(entry.parentPath, entry.name)
        if (entry.isFile() && random() < 0.5 && existsSync(file)) rmSync(file)
      }
    },
  },
  ...ofRelation('location_record'),
  ...ofRelation('submission'),
  ...ofRelation('record_document').slice(0, 3),
  ...ofRelation('location_record_pkey').slice(0, 2),
  ...ofRelation('pg_class').slice(0, 2),
]
