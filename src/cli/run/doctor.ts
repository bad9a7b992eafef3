import { availableParallelism } from 'node:os'
import { readConfig } from '../../config.ts'
import { CHAIN_CHECKS } from '../doctor/chain-checks.ts'
import type { Finding } from '../doctor/finding.ts'
import { MACHINE_CHECKS } from '../doctor/machine-checks.ts'
import { PLACE_CHECKS } from '../doctor/place-checks.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { outJson, type Terminal } from '../terminal.ts'

const MARKS: Readonly<Record<Finding['status'], string>> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL', skip: '–   ' }

/** `trigpoint doctor`. @returns 1 when a check failed; warnings are none */
export async function runDoctor(
  options: { readonly data?: string; readonly json?: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const env = { ...terminal.env, ...(options.data === undefined ? {} : { DATA_DIR: options.data }) }
  const parts = { config: readConfig(env, availableParallelism()), terminal: { ...terminal, env } }
  const findings: ({ readonly id: string } & Finding)[] = []
  for (const { id, run } of [...MACHINE_CHECKS, ...PLACE_CHECKS, ...CHAIN_CHECKS]) {
    const finding = await run(parts)
    findings.push({ id, ...finding })
    if (options.json === true) continue
    const remedy = finding.remedy === undefined ? '' : `\n     ${' '.repeat(11)}→ ${finding.remedy}`
    await terminal.out(`${MARKS[finding.status]} ${id.padEnd(11)} ${finding.detail}${remedy}\n`)
  }
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length
  const failed = count('fail')
  if (options.json === true) await outJson(terminal, { ok: failed === 0, checks: findings })
  else
    await terminal.out(
      `${count('ok')} ok, ${count('warn')} warnings, ${failed} failed, ${count('skip')} not looked at\n`,
    )
  return failed === 0 ? EXIT.ok : EXIT.failed
}
