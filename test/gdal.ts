/** GDAL's own programs, as a client written by others. */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

const found = spawnSync('ogrinfo', ['--version'], { encoding: 'utf8' })

/** `GDAL 3.6.2, released …`; undefined if GDAL is not installed (`apt-get install gdal-bin`). */
export const GDAL = found.status === 0 ? found.stdout.trim() : undefined
if (GDAL === undefined) console.warn('skipped with GDAL: no ogrinfo on this machine (apt-get install gdal-bin)')

const run = promisify(execFile)

/**
 * Runs `ogrinfo` or `ogr2ogr`; rejects with their output when anything goes wrong.
 *
 * @param fault what their output must not contain
 */
export async function gdal(
  program: 'ogrinfo' | 'ogr2ogr',
  args: readonly string[],
  fault: RegExp = /ERROR/,
): Promise<string> {
  const { stdout, stderr } = await run(program, [...args], { timeout: 600_000, maxBuffer: 64 * 1_048_576 })
  if (fault.test(stderr)) throw new Error(`${program}: ${stderr}`)
  return stdout
}
