import { existsSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { ConfigError } from '../../config/setting.ts'
import { SAMPLE_UID_PREFIX } from '../../service/records/sample-records.ts'
import { backUp, countByUidPrefix, restore } from '../../store/backup.ts'
import { embeddedFiles } from '../../store/embedded-files.ts'
import { migrate } from '../../store/migrations.ts'
import { createRecordStore } from '../../store/operations.ts'
import { openPglite } from '../../store/pglite.ts'
import { openPostgresForCommand } from '../../store/postgres.ts'
import { countOpenSubmissions } from '../../store/submissions.ts'
import { formatCount } from '../terminal.ts'

/** Statement timeout of these commands. It is long, because no client waits for them. */
const STATEMENT_MS = 600_000

export type RecordsCommand = { readonly kind: 'backup' | 'restore'; readonly file: string }

/**
 * Errors that are bugs. All others are reported in one line, like an invalid setting, because another file, folder or database
 * fixes them.
 */
const BUG_TYPES = [TypeError, RangeError, ReferenceError]

/**
 * Writes all records to a file, or fills an empty store from such a file.
 *
 * @returns a sentence about what was done
 * @throws {ConfigError} if the store is in use or cannot be reached, or the file cannot be written or is not a backup
 */
export async function runRecordsCommand(command: RecordsCommand, config: Config): Promise<string> {
  try {
    return await runCommand(command, config)
  } catch (error) {
    if (!(error instanceof Error) || BUG_TYPES.some((fault) => error instanceof fault)) throw error
    throw new ConfigError(error.message, { cause: error })
  }
}

async function runCommand({ kind, file }: RecordsCommand, config: Config): Promise<string> {
  const { databaseUrl, dataDir, limits } = config
  // A new store would be created here, and its backup would be empty without anybody noticing.
  if (kind === 'backup' && databaseUrl === undefined && !existsSync(embeddedFiles(dataDir).engine)) {
    throw new Error(`there is no store in ${dataDir}: name the data folder of the service (--data, DATA_DIR)`)
  }
  const database =
    databaseUrl === undefined
      ? await openPglite(dataDir)
      : await openPostgresForCommand(databaseUrl, limits.storeConnectMs, STATEMENT_MS)
  try {
    await migrate(database)
    if (kind === 'backup') {
      const written = `${formatCount(await backUp(database, file), 'record')} written to ${file}`
      const pendingCount = await countOpenSubmissions(database.reads)
      return pendingCount === 0 ? written : `${written}; not included: ${pendingCount} pending submissions`
    }
    const records = await restore(database, file)
    await createRecordStore(database, () => new Date().toISOString()).maintain(undefined)
    const samples = await countByUidPrefix(database.reads, SAMPLE_UID_PREFIX)
    return `${formatCount(records, 'record')} restored from ${file}${describeSamples(samples, config.production)}`
  } finally {
    await database.close()
  }
}

/** Describes how many of the restored records are samples. In production this is a warning, because samples are on no chain. */
function describeSamples(samples: number, isProduction: boolean): string {
  if (samples === 0) return ''
  const found = formatCount(samples, 'sample record')
  if (!isProduction) return `; ${found} among them`
  return (
    `; warning: ${found} among them, which are on no chain, and the service would list them. ` +
    'To get rid of them, restore a backup without samples into an empty database'
  )
}
