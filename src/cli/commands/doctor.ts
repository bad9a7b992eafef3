import { availableParallelism } from 'node:os'
import { type Config, readConfig } from '../../config/config.ts'
import { ConfigError, type Environment } from '../../config/setting.ts'
import { listChainChecks } from '../doctor/chain-checks.ts'
import { type Finding, fail, HOST_CHECKS } from '../doctor/host-checks.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { formatCount, outJson, type Terminal } from '../terminal.ts'

const MARKS: Readonly<Record<Finding['status'], string>> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL', skip: '–   ' }

/** Runs `trigpoint doctor`. @returns 1 if a check failed, 78 if the settings are invalid; warnings are not failures */
export async function runDoctor(
  options: { readonly data?: string; readonly json?: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const env = { ...terminal.env, ...(options.data === undefined ? {} : { DATA_DIR: options.data }) }
  const findings: ({ readonly id: string } & Finding)[] = []
  const report = async (id: string, finding: Finding) => {
    findings.push({ id, ...finding })
    if (options.json === true) return
    const remedy = finding.remedy === undefined ? '' : `\n     ${' '.repeat(11)}→ ${finding.remedy}`
    await terminal.out(`${MARKS[finding.status]} ${id.padEnd(11)} ${finding.detail}${remedy}\n`)
  }
  const config = tryReadConfig(env)
  if ('fault' in config)
    await report('settings', fail(config.fault, 'correct it and run doctor again; the other checks were skipped'))
  else {
    const parts = { config, terminal: { ...terminal, env } }
    for (const { id, run } of [...HOST_CHECKS, ...listChainChecks(config)]) await report(id, await run(parts))
  }
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length
  const failed = count('fail')
  if (options.json === true) await outJson(terminal, { ok: failed === 0, checks: findings })
  else
    await terminal.out(
      `${count('ok')} ok, ${formatCount(count('warn'), 'warning')}, ${failed} failed, ${count('skip')} skipped\n`,
    )
  if ('fault' in config) return EXIT.config
  return failed === 0 ? EXIT.ok : EXIT.failed
}

function tryReadConfig(env: Environment): Config | { readonly fault: string } {
  try {
    return readConfig(env, availableParallelism())
  } catch (error) {
    if (error instanceof ConfigError) return { fault: error.message }
    throw error
  }
}
