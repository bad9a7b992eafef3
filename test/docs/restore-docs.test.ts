import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../../src/store/migrations.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { openPglite } from '../../src/store/pglite.ts'
import { eventually } from '../eventually.ts'
import { blocksOf } from '../markdown-pages.ts'
import { startTestService } from '../service.ts'
import { recordOf, storeRecords } from '../store-records.ts'

const root = resolve(import.meta.dirname, '../..')
const CRON_SECRET = 'a secret of at least 32 characters'

/** Does what `systemd-run` does with the properties on the page, but as the same user and without systemd. */
const SYSTEMD_RUN = `#!/bin/bash --norc
while [[ $1 == -* ]]; do
  if [[ $1 == -p ]]; then
    shift
    case $1 in
      WorkingDirectory=*) cd "\${1#*=}" ;;
      EnvironmentFile=*) set -a; . "\${1#*=}"; set +a ;;
      Environment=*) export "\${1#Environment=}" ;;
    esac
  fi
  shift
done
exec "$@"
`

/** Returns the block of docs/operations.md that begins so. */
function block(beginning: string): string {
  return blocksOf('docs/operations.md').find(({ code }) => code.startsWith(beginning))!.code
}

/** A folder in place of `/` of a machine that the page describes. */
function createMachine(folder: string) {
  for (const name of ['etc', 'var', 'bin']) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'bin/systemd-run'), SYSTEMD_RUN, { mode: 0o755 })
  // There is no user `trigpoint` here.
  writeFileSync(join(folder, 'bin/chown'), '#!/bin/sh\n', { mode: 0o755 })
  const here = (text: string) =>
    text
      .replaceAll('/etc/trigpoint', join(folder, 'etc'))
      .replaceAll('/var/lib/trigpoint', join(folder, 'var'))
      .replaceAll('/opt/trigpoint', root)
      .replaceAll('/usr/bin/node', process.execPath)
  const sh = (command: string) => {
    const env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}` }
    const { status, stdout, stderr } = spawnSync('sh', ['-c', here(command)], { cwd: root, env, encoding: 'utf8' })
    return { status, stdout, stderr }
  }
  return {
    path: (name: string) => join(folder, name),
    sh,
    /** Runs a command of the service with its user and settings, as the page says. */
    run: (command: string) => sh(block('trigpoint() {').replace(/doctor$/, command)),
    /** Writes the settings of the page, with the embedded database instead of a server. */
    writeSettings() {
      const settings = block('NODE_ENV=production')
        .replace(/^DATABASE_URL=.*$/m, 'EMBEDDED_DB=1')
        .replace('CRON_SECRET=…', `CRON_SECRET='${CRON_SECRET}'`)
      writeFileSync(join(folder, 'etc/environment'), `${here(settings)}\nPORT=0\n`)
    },
    readSettings: () =>
      Object.fromEntries(
        [...readFileSync(join(folder, 'etc/environment'), 'utf8').matchAll(/^(\w+)='?(.*?)'?$/gm)].map(
          ([, name, value]) => [name!, value!],
        ),
      ),
  }
}

describe('docs/operations.md without containers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-restore-docs-'))
  const machine = createMachine(join(folder, 'old'))
  let address: string

  beforeAll(() => {
    const lines = block('useradd').split('\n')
    const afterBuild = lines.slice(lines.findIndex((line) => line.endsWith(' /etc/trigpoint')))
    expect(afterBuild).toHaveLength(4)
    const made = machine.sh(`umask 022\n${afterBuild.join('\n')}`)
    expect(made.status, made.stderr).toBe(0)
    address = made.stdout.trim()
    machine.writeSettings()
  })

  it('has steps after which other users can read neither the key nor the settings', () => {
    const mode = (name: string) => statSync(machine.path(name)).mode & 0o777
    expect(['etc', 'etc/environment', 'etc/signer.json', 'etc/password'].map(mode)).toEqual([
      0o700, 0o600, 0o600, 0o600,
    ])
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('has a command that checks the service with its own settings', () => {
    const { status, stdout } = machine.run('doctor')
    expect([status, stdout]).toEqual([0, expect.stringContaining(`the attester is ${address}`)])
    expect(stdout).toContain(`${machine.path('var')} is writable`)
  })

  it('has the steps that restore a service on a new machine', async () => {
    const database = await openPglite(machine.path('var'))
    await migrate(database)
    await storeRecords(
      createRecordStore(database, () => '2026-01-01T00:00:00.000Z'),
      [recordOf(1), recordOf(2)],
    )
    await database.close()
    const added = machine.run("keys add developer --label 'map of the city'")
    expect(added.status, added.stderr).toBe(0)
    const backup = machine.run('serve --backup /var/lib/trigpoint/records.gz')
    expect([backup.status, backup.stdout]).toEqual([0, expect.stringContaining('2 records written')])

    // The whole data folder of a stopped service, in the place of an empty one.
    const copied = createMachine(join(folder, 'copied'))
    cpSync(machine.path('etc'), copied.path('etc'), { recursive: true })
    copied.writeSettings()
    cpSync(machine.path('var'), copied.path('var'), { recursive: true })
    expect(copied.run('serve --backup /var/lib/trigpoint/again.gz').stdout).toContain('2 records written')
    expect(copied.run('keys list').stdout).toContain('map of the city')

    const other = createMachine(join(folder, 'new'))
    for (const name of ['signer.json', 'password']) cpSync(machine.path(`etc/${name}`), other.path(`etc/${name}`))
    other.writeSettings()
    for (const name of ['api-keys.json', 'records.gz']) cpSync(machine.path(`var/${name}`), other.path(`var/${name}`))
    const restored = other.run('serve --restore /var/lib/trigpoint/records.gz')
    expect([restored.status, restored.stdout]).toEqual([0, expect.stringContaining('2 records restored')])
    expect(other.run('doctor')).toMatchObject({ status: 0, stdout: expect.stringContaining(address) })

    const service = await startTestService({ ...other.readSettings(), DATA_DIR: other.path('var'), RECORDS: '1' })
    try {
      const get = async (path: string) => (await fetch(service.url + path)).json()
      expect(await get('/.well-known/attester.json')).toMatchObject({ address, purpose: 'production' })
      await eventually(async () => expect(await get('/api/v0/location-records')).toMatchObject({ count: 2 }))
      const place = { type: 'Point', coordinates: [2, 48] }
      const body = { chainId: 84532, from: place, to: place }
      const { status, headers } = await service.post('/compute/v0/distance', body, { 'x-api-key': added.stdout.trim() })
      expect([status, headers.get('x-ratelimit-limit')]).toEqual([200, '1000'])
      expect(other.run(`sync --status --json --url ${service.url}`)).toMatchObject({ status: 0 })
    } finally {
      await service.stop()
    }
  })
})
