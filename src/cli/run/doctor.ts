import { availableParallelism } from 'node:os'
import { type Config, ConfigError, type Environment, readConfig } from '../../config.ts'
import { CHAIN_CHECKS } from '../doctor/chain-checks.ts'
import { type Finding, fail } from '../doctor/finding.ts'
import { MACHINE_CHECKS } from '../doctor/machine-checks.ts'
import { PLACE_CHECKS } from '../doctor/place-checks.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { counted, outJson, type Terminal } from '../terminal.ts'

const MARKS: Readonly<Record<Finding['status'], string>> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL', skip: '–   ' }

/** `trigpoint doctor`. @returns 1 when a check failed, 78 when the settings allow none; warnings are no failure */
export async function runDoctor(
  options: { readonly data?: string; readonly json?: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const env = { ...terminal.env, ...(options.data === undefined ? {} : { DATA_DIR: options.data }) }
  const findings: ({ readonly id: string } & Finding)[] = []
  const tell = async (id: string, finding: Finding) => {
    findings.push({ id, ...finding })
    if (options.json === true) return
    const remedy = finding.remedy === undefined ? '' : `\n     ${' '.repeat(11)}→ ${finding.remedy}`
    await terminal.out(`${MARKS[finding.status]} ${id.padEnd(11)} ${finding.detail}${remedy}\n`)
  }
  const config = configOf(env)
  if ('fault' in config)
    await tell('settings', fail(config.fault, 'correct it, and ask again: nothing else was looked at'))
  else {
    const parts = { config, terminal: { ...terminal, env } }
    for (const { id, run } of [...MACHINE_CHECKS, ...PLACE_CHECKS, ...CHAIN_CHECKS]) await tell(id, await run(parts))
  }
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length
  const failed = count('fail')
  if (options.json === true) await outJson(terminal, { ok: failed === 0, checks: findings })
  else
    await terminal.out(
      `${count('ok')} ok, ${counted(count('warn'), 'warning')}, ${failed} failed, ${count('skip')} not looked at\n`,
    )
  if ('fault' in config) return EXIT.config
  return failed === 0 ? EXIT.ok : EXIT.failed
}

function configOf(env: Environment): Config | { readonly fault: string } {
  try {
    return readConfig(env, availableParallelism())
  } catch (error) {
    if (error instanceof ConfigError) return { fault: error.message }
    throw error
  }
}
