import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../../src/store/migrations.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { openPglite } from '../../src/store/pglite.ts'
import { blocksOf } from '../markdown-pages.ts'
import { recordOf, storeRecords } from '../store-records.ts'

const root = resolve(import.meta.dirname, '../..')

/** The lines of the block of docs/operations.md that begins so. */
function commandsFrom(beginning: string): string[] {
  const block = blocksOf('docs/operations.md').find(({ code }) => code.startsWith(beginning))
  return block!.code.trim().split('\n')
}

describe('docs/operations.md about damage and full disks', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-recovery-docs-'))
  beforeAll(async () => {
    mkdirSync(join(folder, 'bin'))
    symlinkSync(join(root, 'scripts/trigpoint.mjs'), join(folder, 'bin/trigpoint'))
    const database = await openPglite(join(folder, '.data'))
    await migrate(database)
    await storeRecords(
      createRecordStore(database, () => '2026-01-01T00:00:00.000Z'),
      [recordOf(1)],
    )
    await database.close()
    truncateSync(join(folder, '.data/store/files/global/pg_control'), 0)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const run = (command: string) =>
    spawnSync('sh', ['-c', command], {
      cwd: folder,
      env: { PATH: `${join(folder, 'bin')}:${process.env['PATH']}` },
      encoding: 'utf8',
    })

  it('has commands that find the damage and repair it', () => {
    const [check, rebuild] = commandsFrom('trigpoint store') as [string, string]
    const found = run(check)
    expect([found.status, found.stdout]).toEqual([1, expect.stringContaining('trigpoint store rebuild')])
    const doctor = run('trigpoint doctor --json')
    expect(JSON.parse(doctor.stdout).checks).toContainEqual(expect.objectContaining({ id: 'database' }))
    const repaired = run(rebuild)
    expect([repaired.status, repaired.stdout]).toEqual([0, expect.stringContaining('the store is rebuilt')])
    expect(repaired.stdout).toContain(
      'a running service opens the new store within 60 seconds; if no service runs, start it',
    )
    expect(repaired.stdout).toContain('lost: all submissions and idempotency keys')
    expect(readdirSync(join(folder, '.data')).filter((name) => name.startsWith('store-damaged-'))).toHaveLength(1)
    expect(run(check)).toMatchObject({ status: 0, stdout: 'the store is intact: 0 records, 0 submissions\n' })
  })

  it('has a command that shows what takes the room', () => {
    const [show] = commandsFrom('du ') as [string]
    expect(run(show)).toMatchObject({ status: 0, stdout: expect.stringMatching(/\.data\/store$/m) })
  })
})
