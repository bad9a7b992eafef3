import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Config } from '../../config/config.ts'
import { runPluginTrial } from '../../threads/plugin-trial.ts'

/** Exit codes of `plugin-test`. */
const CONFORMS = 0
const DIFFERS = 1
const MISUSED = 2

/**
 * Runs `plugin-test <module>`, which tests a plugin before an operator adds it.
 *
 * @param print receives each line
 * @returns the exit code: 0 if the plugin conforms, 1 if it does not, 2 on a usage error
 */
export async function testPlugin(
  files: readonly string[],
  config: Config,
  print: (line: string) => void,
): Promise<number> {
  const [file, ...others] = files
  if (file === undefined || others.length > 0) {
    print('usage: npm start -- plugin-test <module.mjs>')
    return MISUSED
  }
  const path = resolve(file)
  if (!existsSync(path)) {
    print(`${path}: no such file`)
    return MISUSED
  }
  const result = await runPluginTrial(pathToFileURL(path).href, 'conformance', config)
  if (!result.ok) {
    print(`FAIL  has the shape of a plugin: ${result.reason}`)
    return DIFFERS
  }
  const { plugin, findings } = result
  print(`ok    has the shape of a plugin: ${plugin.name} ${plugin.version}`)
  for (const { ok, rule, detail, isNote } of findings)
    print(`${isNote ? 'note' : ok ? 'ok  ' : 'FAIL'}  ${rule}: ${detail}`)
  const failed = findings.filter(({ ok }) => !ok).length
  print(
    failed === 0 ? `${plugin.name} conforms` : `${plugin.name} does not conform: ${failed} of ${findings.length} rules`,
  )
  return failed === 0 ? CONFORMS : DIFFERS
}
