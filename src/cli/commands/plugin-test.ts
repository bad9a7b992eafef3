import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readConfig } from '../../config/config.ts'
import { runPluginTrial } from '../../threads/plugin-trial.ts'
import { EXIT, type ExitCode, usage } from '../exit-codes.ts'
import type { Terminal } from '../terminal.ts'

/** Runs `trigpoint plugin-test`, which tests a plugin before an operator adds it. @returns 1 if the plugin does not conform */
export async function testPlugin(file: string, terminal: Terminal): Promise<ExitCode> {
  const path = resolve(file)
  if (!existsSync(path)) throw usage(`${path}: no such file`)
  const config = readConfig(terminal.env, availableParallelism())
  const result = await runPluginTrial(pathToFileURL(path).href, 'conformance', config)
  if (!result.ok) {
    await terminal.out(`FAIL  has the shape of a plugin: ${result.reason}\n`)
    return EXIT.failed
  }
  const { plugin, findings } = result
  const failed = findings.filter(({ ok }) => !ok).length
  const lines = [
    `ok    has the shape of a plugin: ${plugin.name} ${plugin.version}`,
    ...findings.map(({ ok, rule, detail, isNote }) => `${isNote ? 'note' : ok ? 'ok  ' : 'FAIL'}  ${rule}: ${detail}`),
    failed === 0 ? `${plugin.name} conforms` : `${plugin.name} does not conform: ${failed} of ${findings.length} rules`,
  ]
  await terminal.out(`${lines.join('\n')}\n`)
  return failed === 0 ? EXIT.ok : EXIT.failed
}
