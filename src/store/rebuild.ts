/** Makes a new embedded store in place of a damaged one, which is set aside and never deleted. */
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makeFolder } from '../base/make-folder.ts'
import { restore } from './backup.ts'
import type { Database } from './database.ts'
import { type EmbeddedFiles, embeddedFiles, filesIn, isFullDisk, requireRoom } from './embedded-files.ts'
import { lockFolder } from './folder-lock.ts'
import { migrate } from './migrations.ts'
import { createRecordStore } from './operations.ts'
import { hasLostWrites, openDamaged, openPglite } from './pglite.ts'
import { type Salvage, type SalvageReport, salvage, storeSalvage } from './salvage.ts'

/** Names in the folder of a store that belong to the lock, which stays. */
const LOCK_NAMES = ['lock', 'lock.turn']

export interface RebuildOptions {
  readonly dataDir: string
  /** A backup to restore the records from. Without one, the service reads them from the chains. */
  readonly backup: string | undefined
  /** Milliseconds since the epoch. */
  readonly nowMs: number
  readonly onProgress: (step: RebuildStep) => void
}

/** What the rebuild does now. */
export type RebuildStep =
  | { readonly type: 'set aside'; readonly folder: string }
  | { readonly type: 'restored'; readonly records: number; readonly share: number }

export interface Rebuilt {
  /** The folder of the damaged store. */
  readonly damagedFolder: string
  /** Number of records from the backup. */
  readonly records: number
  readonly salvage: Salvage | { readonly fault: string }
  readonly report: SalvageReport
}

/**
 * Sets the files of a store aside, makes a new store, and fills it with the submissions of the damaged one and with the records of
 * a backup. A rebuild that was interrupted continues with the same damaged files.
 *
 * @throws {Error} when a process uses the folder, there is no store, or the backup cannot be restored
 */
export async function rebuildStore({ dataDir, backup, nowMs, onProgress }: RebuildOptions): Promise<Rebuilt> {
  const paths = embeddedFiles(dataDir)
  // Before anything is moved: a mistyped name must not leave an empty store.
  if (backup !== undefined && !existsSync(backup)) throw new Error(`${backup} does not exist`)
  if (!existsSync(paths.folder)) throw new Error(`there is no store in ${dataDir}`)
  const release = lockFolder(paths.folder)
  let damaged: EmbeddedFiles
  let found: Salvage | { readonly fault: string }
  try {
    damaged = setAside(paths, nowMs)
    onProgress({ type: 'set aside', folder: damaged.folder })
    found = await salvageFrom(damaged, join(paths.folder, 'salvage'))
    rmSync(paths.engine, { recursive: true, force: true })
  } catch (error) {
    release()
    throw error
  }
  // The lock passes to the new store, which is opened by this process.
  const database = await openPglite(dataDir, { isRebuild: true })
  try {
    await migrate(database)
    const records = backup === undefined ? 0 : await restoreBackup(database, backup, onProgress)
    const report = await storeSalvage(database, 'fault' in found ? NOTHING : found)
    rmSync(paths.rebuildNote)
    return { damagedFolder: damaged.folder, records, salvage: found, report }
  } finally {
    await database.close()
  }
}

const NOTHING: Salvage = { tables: [], isSyncDesired: true, hasLostWrites: false }

async function restoreBackup(
  database: Database,
  backup: string,
  onProgress: RebuildOptions['onProgress'],
): Promise<number> {
  const records = await restore(database, backup, (progress) => onProgress({ type: 'restored', ...progress }))
  await createRecordStore(database, () => new Date().toISOString()).maintain(undefined)
  return records
}

/** Moves the files of the store to a folder beside it, or finds those that an interrupted rebuild has moved. */
function setAside(paths: EmbeddedFiles, nowMs: number): EmbeddedFiles {
  const time = new Date(nowMs).toISOString().replaceAll(':', '').replace(/\.\d+/, '')
  const earlier = existsSync(paths.rebuildNote) ? readFileSync(paths.rebuildNote, 'utf8').trim() : ''
  const folder = earlier || unusedName(join(dirname(paths.folder), `store-damaged-${time}`))
  makeFolder(folder, 0o700)
  // First, so that no start takes the files that are left for a whole store.
  if (earlier === '') writeFileSync(paths.rebuildNote, `${folder}\n`, { mode: 0o600 })
  const isMoved = existsSync(join(folder, 'moved'))
  for (const name of readdirSync(paths.folder)) {
    if (LOCK_NAMES.includes(name) || name === basename(paths.rebuildNote)) continue
    // Later files are those of the unfinished new store.
    if (isMoved) rmSync(join(paths.folder, name), { recursive: true })
    else renameSync(join(paths.folder, name), join(folder, name))
  }
  writeFileSync(join(folder, 'moved'), '')
  return filesIn(folder)
}

function unusedName(folder: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? folder : `${folder}-${number}`
    if (!existsSync(name)) return name
  }
}

/**
 * Reads what is on no chain from a copy of the damaged files, because the engine changes files that it opens.
 *
 * @throws {Error} when the disk is full
 */
async function salvageFrom(damaged: EmbeddedFiles, copyFolder: string): Promise<Salvage | { readonly fault: string }> {
  const copy = filesIn(copyFolder)
  try {
    if (!existsSync(join(damaged.engine, 'PG_VERSION'))) return { fault: 'PG_VERSION is missing' }
    rmSync(copyFolder, { recursive: true, force: true })
    makeFolder(copyFolder, 0o700)
    cpSync(damaged.engine, copy.engine, { recursive: true })
    if (existsSync(damaged.written)) cpSync(damaged.written, copy.written)
    requireRoom(copyFolder)
    const database = await openDamaged(copy)
    try {
      // Where this is unknown, writes count as lost: a submission may then fail, but is not sent twice.
      return await salvage(database, await hasLostWrites(database.reads, copy).catch(() => true))
    } finally {
      await database.close().catch(() => {})
    }
  } catch (error) {
    // The submissions are not lost: with more room, the rebuild continues.
    if (isFullDisk(error)) throw error
    // Without the advice to run the command that is running.
    const { message, cause } = error as Error
    return { fault: cause instanceof Error ? cause.message : message }
  } finally {
    rmSync(copyFolder, { recursive: true, force: true })
  }
}
