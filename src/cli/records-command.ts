import { type Config, ConfigError } from '../config.ts'
import { backUp, restore } from '../store/backup.ts'
import { migrate } from '../store/migrations.ts'
import { createRecordStore } from '../store/operations.ts'
import { openPglite } from '../store/pglite.ts'
import { openPostgres } from '../store/postgres.ts'
import { countLive } from '../store/submissions.ts'
import { counted } from './terminal.ts'

/** Longest statement of a command, which nobody waits for. */
const STATEMENT_MS = 600_000

export type RecordsCommand = { readonly kind: 'backup' | 'restore'; readonly file: string }

/** What went wrong is said in one line, like a wrong setting: another file, folder or database is the remedy. */
const OUR_OWN_FAULTS = [TypeError, RangeError, ReferenceError]

/**
 * Writes the records of this configuration into a file, or fills an empty store from one.
 *
 * @returns what was done, for people
 * @throws {ConfigError} the store is in use or cannot be reached, the file cannot be written or is no backup
 */
export async function runRecordsCommand(command: RecordsCommand, config: Config): Promise<string> {
  try {
    return await runCommand(command, config)
  } catch (error) {
    if (!(error instanceof Error) || OUR_OWN_FAULTS.some((fault) => error instanceof fault)) throw error
    throw new ConfigError(error.message, { cause: error })
  }
}

async function runCommand({ kind, file }: RecordsCommand, config: Config): Promise<string> {
  const { databaseUrl, dataDir, limits } = config
  const database =
    databaseUrl === undefined
      ? await openPglite(dataDir)
      : await openPostgres({
          url: databaseUrl,
          readers: 1,
          writers: 1,
          connectTimeoutMs: limits.storeConnectMs,
          readTimeoutMs: STATEMENT_MS,
          writeTimeoutMs: STATEMENT_MS,
          onLost: () => {},
        })
  try {
    await migrate(database)
    if (kind === 'backup') {
      const written = `${counted(await backUp(database, file), 'record')} written to ${file}`
      const live = await countLive(database.reads)
      return live === 0 ? written : `${written}; submissions that are under way are not in it: ${live}`
    }
    const records = await restore(database, file)
    await createRecordStore(database, () => new Date().toISOString()).maintain(undefined)
    return `${counted(records, 'record')} restored from ${file}`
  } finally {
    await database.close()
  }
}
