import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { PROGRAM } from '../../base/version.ts'
import { type Config, readConfig } from '../../config/config.ts'
import { ConfigError } from '../../config/setting.ts'
import { checkStore } from '../../store/check.ts'
import { REPAIR_COMMAND } from '../../store/embedded-files.ts'
import { type Rebuilt, rebuildStore } from '../../store/rebuild.ts'
import { isPartial } from '../../store/salvage.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { createProgress, formatCount, outJson, type Terminal } from '../terminal.ts'

export interface StoreOptions {
  readonly data?: string
  readonly json?: boolean
}

/** Runs `trigpoint store check`. @returns 1 if the store is damaged */
export async function runStoreCheck(options: StoreOptions, terminal: Terminal): Promise<ExitCode> {
  const { dataDir } = embeddedConfig(options, terminal)
  const { faults, records, submissions } = await explained(() => checkStore(dataDir))
  const isIntact = faults.length === 0
  if (options.json === true) await outJson(terminal, { ok: isIntact, records, submissions, faults })
  else if (isIntact) {
    const counts = `${formatCount(records, 'record')}, ${formatCount(submissions, 'submission')}`
    await terminal.out(`the store is intact: ${counts}\n`)
  } else {
    await terminal.out(`the store is damaged:\n${faults.map((fault) => `  ${fault}\n`).join('')}`)
    await terminal.out(
      `\`${REPAIR_COMMAND} --data ${resolve(dataDir)}\` sets it aside and makes a new one, with --backup <file> from a backup\n`,
    )
  }
  return isIntact ? EXIT.ok : EXIT.failed
}

/** Runs `trigpoint store rebuild`. */
export async function runStoreRebuild(
  options: StoreOptions & { readonly backup?: string; readonly force?: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const { dataDir, limits } = embeddedConfig(options, terminal)
  if (options.force !== true) await requireDamage(dataDir)
  const progress = createProgress(terminal, 'record')
  const rebuilt = await explained(() =>
    rebuildStore({
      dataDir,
      backup: options.backup,
      nowMs: terminal.now(),
      onProgress(step) {
        if (step.type === 'set aside') terminal.err(`the damaged store is now in ${step.folder}\n`)
        else progress.update({ done: step.records, share: step.share })
      },
    }),
  ).finally(() => progress.stop())
  if (options.json === true) await outJson(terminal, summary(rebuilt))
  else await terminal.out(report(rebuilt, limits.storeDamagedRetryMs / 1000, options.backup))
  return EXIT.ok
}

/** @throws {ConfigError} if the store is intact: then the data folder is probably not that of the damaged service */
async function requireDamage(dataDir: string): Promise<void> {
  // If it cannot be checked, the rebuild says why.
  const check = await checkStore(dataDir).catch(() => undefined)
  if (check === undefined || check.faults.length > 0) return
  throw new ConfigError(
    `the store in ${dataDir} is intact (${formatCount(check.records, 'record')}), so it is not rebuilt: --data names another data folder, and --force rebuilds this one nevertheless`,
  )
}

/** @throws {ConfigError} if the records are not in the embedded database */
function embeddedConfig({ data }: StoreOptions, { env }: Terminal): Config {
  const config = readConfig({ ...env, ...(data === undefined ? {} : { DATA_DIR: data }) }, availableParallelism())
  if (config.databaseUrl === undefined) return config
  throw new ConfigError(
    'DATABASE_URL is set: this command is for the embedded database; repair a server with its own tools',
  )
}

/** Runs a function whose errors a person can correct: another process, a folder or a file. */
async function explained<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError || !(error instanceof Error)) throw error
    throw new ConfigError(error.message, { cause: error })
  }
}

function summary({ damagedFolder, records, salvage, report: { submissions, pending, failed } }: Rebuilt): object {
  return { damagedFolder, records, submissions, pending, failed, lost: lostParts(salvage) }
}

/** Lists what is lost, in sentences. */
function lostParts(salvage: Rebuilt['salvage']): string[] {
  const always =
    'jobs with their results, stored geometries and sets, sessions of accounts, usage, positions of record streams (clients get `reset`), and the counts and errors of earlier sync runs'
  if ('fault' in salvage) {
    return [`all submissions and idempotency keys: the damaged files cannot be opened (${salvage.fault})`, always]
  }
  const tables = salvage.tables.filter(isPartial).map(({ name, unreadablePages, fault }) => {
    if (fault !== undefined) return `the table ${name} (${fault})`
    return unreadablePages === 0
      ? `perhaps rows of the table ${name}: its index has others than the table`
      : `rows of ${formatCount(unreadablePages, 'page')} of the table ${name}`
  })
  const writes = salvage.hasLostWrites
    ? ['the last writes of the damaged store: the end of its log, or the outcome of transactions, is missing']
    : []
  return [...tables, ...writes, always]
}

function report(
  { damagedFolder, records, salvage, report: { submissions, pending, failed } }: Rebuilt,
  openSeconds: number,
  backup?: string,
) {
  const found = [
    `a running service opens the new store within ${openSeconds} seconds; if no service runs, start it`,
    backup === undefined
      ? `records: the service reads those of chains with an endpoint (RPC_URL_<chainId>) again, and \`${PROGRAM} sync\` shows how far it is; others are only in a backup (--backup)`
      : `records: ${records.toLocaleString('en-US')} restored from ${backup}; the service reads newer ones from the chains`,
    `submissions: ${submissions.toLocaleString('en-US')} recovered, ${pending} of them pending`,
    ...(failed === 0
      ? []
      : [`${formatCount(failed, 'waiting submission')} failed now, because it is not certain that they were not sent`]),
    ...lostParts(salvage).map((part) => `lost: ${part}`),
  ]
  return `the store is rebuilt; the damaged one is in ${damagedFolder}\n${found.map((line) => `  ${line}\n`).join('')}`
}
