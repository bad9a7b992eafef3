import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPglite } from '../../src/store/pglite.ts'
import { cliFolder } from '../cli-runner.ts'
import { eventually } from '../eventually.ts'
import { GDAL, gdal } from '../gdal.ts'
import { untilReadable } from '../record-service.ts'
import { startTestService, type TestService } from '../service.ts'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/command-line.md'), 'utf8')
const commands = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block]) => block!.trim().split('\n'))

/** The files that the commands of the page name. */
const FILES: Readonly<Record<string, string>> = {
  'parcels.geojson': `{"type":"FeatureCollection","features":[{"type":"Feature","id":"a","properties":{},"geometry":
    {"type":"Polygon","coordinates":[[[2,48],[3,48],[3,49],[2,48]]]}}]}`,
  'park.geojson': '{"type":"Polygon","coordinates":[[[2,48],[3,48],[3,49],[2,48]]]}',
  'stops.csv': 'id,lon,lat\nnear,2.3523,48.8567\nfar,2,48\n',
  'zones.geojson':
    '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"Paris"},"geometry":{"type":"Polygon","coordinates":[[[2,48],[3,48],[3,49],[2,49],[2,48]]]}}]}',
  'requests.ndjson':
    '{"op":"distance","from":{"type":"Point","coordinates":[0,0]},"to":{"type":"Point","coordinates":[0,1]}}\n',
}

describe('docs/command-line.md', () => {
  const folder = cliFolder()
  let service: TestService
  beforeAll(async () => {
    service = await startTestService({ RECORDS: '1', SAMPLE_RECORDS: '1' })
    await untilReadable(service.url)
    // The sample records are stored after the service starts to listen.
    await eventually(async () => {
      const stats = await fetch(`${service.url}/api/v0/location-records/stats`)
      expect(((await stats.json()) as { total: number }).total).toBeGreaterThan(0)
    })
    const write = (name: string, value: unknown) =>
      writeFileSync(join(folder.path, name), typeof value === 'string' ? value : JSON.stringify(value))
    for (const [name, text] of Object.entries(FILES)) write(name, text)
    const point = (lon: number, lat: number) => ({ type: 'Point', coordinates: [lon, lat] })
    const [from, to] = [point(2.2945, 48.8584), point(2.3522, 48.8566)]
    const { body: batch } = await service.post('/compute/v0/batch', {
      chainId: 84532,
      attest: 'merkle',
      items: [{ op: 'distance', from, to }],
    })
    write('answer.json', (await service.post('/compute/v0/distance', { chainId: 84532, from, to })).body)
    write('batch.json', batch)
    write('item.json', batch.results[0])
    write('attester.json', await (await fetch(`${service.url}/.well-known/attester.json`)).text())
    // Geometries and sets belong to a key. Commands find it where a service that runs in their folder stores it.
    write('.data/dev-keys.json', { developer: service.developerKey, internal: service.internalKey })
    await (await openPglite(join(folder.path, '.data'))).close() // an empty store, which `store check` reads
    mkdirSync(join(folder.path, 'bin'))
    symlinkSync(join(root, 'scripts/trigpoint.mjs'), join(folder.path, 'bin/trigpoint'))
  })
  afterAll(async () => {
    await service.stop()
    folder.remove()
  })

  function run(command: string) {
    const here = command
      .replaceAll('http://127.0.0.1:3000', service.url)
      .replaceAll('0xDe20EEBf65d712AF3816d75Aa4f8FaA522C81002', service.attester)
      .replace('3083d71b8f7f', keyId())
    const env = { PATH: `${join(folder.path, 'bin')}:${process.env['PATH']}`, TRIGPOINT_URL: service.url }
    return spawnSync('sh', ['-c', here], { cwd: folder.path, env, encoding: 'utf8' })
  }

  /** Returns the id of the key that an earlier command created. */
  function keyId(): string {
    try {
      return JSON.parse(readFileSync(join(folder.path, '.data/api-keys.json'), 'utf8')).keys[0].id
    } catch {
      return 'none'
    }
  }

  it('has commands that work, in order', () => {
    expect(commands.length).toBeGreaterThanOrEqual(11)
    for (const command of commands) {
      const { status, stderr } = run(command)
      expect([command, status, stderr]).toEqual([command, 0, stderr])
    }
    expect(JSON.parse(readFileSync(join(folder.path, 'near.ndjson'), 'utf8').split('\n')[0]!)).toMatchObject({
      id: 'near',
      result: true,
    })
  })

  it('agrees with the command of docs/compute/buffer.md, which writes a polygon to a file', () => {
    const buffer = readFileSync(join(root, 'docs/compute/buffer.md'), 'utf8')
    const command = buffer.split('\n').find((line) => line.startsWith('trigpoint compute buffer'))!
    expect(run(command)).toMatchObject({ status: 0, stderr: expect.stringContaining('at most') })
    expect(JSON.parse(readFileSync(join(folder.path, 'buf.geojson'), 'utf8'))).toMatchObject({ type: 'Polygon' })
  })

  // Regression: the text for people followed the geometry in a pipe, and the next command could not read it.
  it('agrees with the command of docs/compute/repair.md, which repairs a polygon and computes its area', () => {
    const repair = readFileSync(join(root, 'docs/compute/repair.md'), 'utf8')
    const command = repair.split('\n').find((line) => line.startsWith('trigpoint compute repair'))!
    const { status, stdout, stderr } = run(command)
    expect([status, stdout.split('\n')[0]], stderr).toEqual([0, expect.stringMatching(/^[\d,]+\.\d{4} m²$/)])
    expect(stderr).toContain('changes    at 1,1')
  })

  it('shows the table that sets match makes of stops.csv', () => {
    const [, documented] = /```\n(id,lon,lat,feature[\s\S]*?)```/.exec(page)!
    expect(readFileSync(join(folder.path, 'matches.csv'), 'utf8')).toBe(documented)
  })

  it.skipIf(GDAL === undefined)('has a command of GDAL that makes a layer of this table', async () => {
    const [, command] = /`(ogr2ogr [^`]*matches\.csv)`/.exec(page)!
    expect(run(command!)).toMatchObject({ status: 0, stderr: '' })
    const layer = await gdal('ogrinfo', ['-al', join(folder.path, 'matches.gpkg')])
    expect(layer).toContain('name (String) = Paris')
    expect(layer).toContain('feature (Integer) = 0')
    expect(layer).toContain('POINT (2.3523 48.8567)')
  })

  it('agrees with the commands of docs/private-inputs.md', () => {
    const page = readFileSync(join(root, 'docs/private-inputs.md'), 'utf8').split('\n')
    const [compute, verify, ...proofs] = page.filter((line) => line.startsWith('trigpoint '))
    expect(run(compute!)).toMatchObject({ status: 0, stderr: '' })
    const { inputSalts, ...hidden } = JSON.parse(readFileSync(join(folder.path, 'answer.json'), 'utf8'))
    expect(new Set(inputSalts).size).toBe(2)
    const verified = run(verify!)
    expect([verified.status, verified.stderr]).toEqual([0, ''])
    expect(verified.stdout).toContain('the references match the given inputs')
    const salted = { input: { type: 'Point', coordinates: [2.2945, 48.8584] }, salt: inputSalts[0] }
    writeFileSync(join(folder.path, 'hidden.json'), JSON.stringify(hidden))
    writeFileSync(join(folder.path, 'home-with-salt.json'), JSON.stringify(salted))
    expect(proofs).toHaveLength(2)
    for (const command of proofs) {
      const filled = command.replace('ref:0x…', `ref:${hidden.inputRefs[1]}`).replace('0x…', inputSalts[0])
      const proven = run(filled)
      expect([proven.status, proven.stderr]).toEqual([0, ''])
      expect(proven.stdout).toContain('the references match the given inputs')
      expect(run(filled.replace(hidden.inputRefs[1], hidden.inputRefs[0])).status).not.toBe(0)
    }
  })

  it('shows the table that batch makes of stops.csv with one more row', () => {
    const [, documented] = /```\n(id,lon,lat,result[\s\S]*?)```/.exec(page)!
    writeFileSync(join(folder.path, 'stops.csv'), `${FILES['stops.csv']}wrong,far,48\n`)
    const [command] = commands.filter((line) => line.includes('stops.csv') && line.includes('distances.csv'))
    // The row that is rejected makes the exit code 1.
    expect(run(`${command} --restart`).status).toBe(1)
    expect(readFileSync(join(folder.path, 'distances.csv'), 'utf8')).toBe(documented)
  })

  it('shows the output of compute unchanged', () => {
    const documented = /```\n(4,238\.77 m[\s\S]*?)```/.exec(page)![1]!
    expect(readFileSync(join(root, 'test/vectors/cli/compute.txt'), 'utf8')).toContain(documented)
  })

  it.each([
    ['bash', '--norc', '', 'complete -p trigpoint'],
    ['zsh', '-f', 'autoload -U compinit; compinit -u -D;', 'print $_comps[trigpoint]'],
    ['fish', '--no-config', '', 'complete -C "trigpoint comp"'],
  ])('has a line that loads the completions of %s', (shell, flag, before, show) => {
    if (spawnSync(shell, ['-c', 'true']).status !== 0) return console.log(`skipped: there is no ${shell}`)
    const line = page.split('\n').find((text) => text.includes(`trigpoint completions ${shell}`))!
    const env = { PATH: `${join(folder.path, 'bin')}:${process.env['PATH']}`, HOME: folder.path }
    const loaded = spawnSync(shell, [flag, '-c', `${before} ${line}\n${show}`], { env, encoding: 'utf8' })
    expect([loaded.status, loaded.stdout], loaded.stderr).toEqual([0, expect.stringMatching(/_trigpoint|compute/)])
  })

  it('names every command and every exit code', async () => {
    const [, help = ''] = /Commands:([\s\S]*?)Examples:/.exec(run('trigpoint --help').stdout) ?? []
    const verbs = [...help.matchAll(/^ {2}([a-z-]+)(?: <| \[| {2})/gm)].map(([, verb]) => verb!)
    expect(verbs.length).toBeGreaterThanOrEqual(14)
    for (const verb of verbs) expect(page).toMatch(new RegExp(`^\\| .*\`${verb}\\b`, 'm'))
    const { EXIT } = await import('../../src/cli/exit-codes.ts')
    for (const code of Object.values(EXIT)) expect(page).toMatch(new RegExp(`^\\| ${code} \\|`, 'm'))
  })
})
