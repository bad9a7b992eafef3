import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadSecp256k1 } from '../../src/crypto/secp256k1.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { sharedService } from '../service.ts'
import { SYSTEM_SECP256K1 } from '../system-secp256k1.ts'

const root = resolve(import.meta.dirname, '../..')

describe.skipIf(!SYSTEM_SECP256K1)('the libsecp256k1 that signs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-library-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('is never taken from LD_LIBRARY_PATH', async () => {
    const { library } = await loadSecp256k1(['system'])
    const [path] = /\/\S+$/.exec(library)!
    for (const soname of [1, 2, 5, 6]) copyFileSync(path, join(folder, `libsecp256k1.so.${soname}`))
    const script = `
      const { loadSecp256k1 } = await import('./dist/src/crypto/secp256k1.js')
      const { library } = await loadSecp256k1(['system'])
      const { readFileSync } = await import('node:fs')
      console.log(JSON.stringify({ library, maps: readFileSync('/proc/self/maps', 'utf8') }))`
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: root,
      env: { PATH: process.env['PATH'], LD_LIBRARY_PATH: folder },
      encoding: 'utf8',
    })
    expect(child.stderr).toBe('')
    const result = JSON.parse(child.stdout)
    expect(result.maps).not.toContain(folder)
    expect(result.maps).toContain(path)
    expect(result.library).toBe(library)
  })

  it('is logged with path and release at startup', async () => {
    const { library } = await loadSecp256k1(['system'])
    expect(library).toMatch(/^libsecp256k1 0\.\d.*, \/usr\/lib.*\/libsecp256k1\.so\.\d/)
    const service = await sharedService(ADAPTERS[0]!)
    const ready = service.lines.find((line) => line.includes('"event":"ready"'))!
    expect(JSON.parse(ready)).toMatchObject({ secp256k1: `system (${library})` })
  })
})

it('names the package that signs without a system library, and the version of the addon', async () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const native = await loadSecp256k1(['native']).catch(() => undefined)
  if (native !== undefined) expect(native.library).toBe(`secp256k1 ${optionalDependencies.secp256k1}`)
  expect((await loadSecp256k1(['libauth'])).library).toBe('@bitauth/libauth')
  expect((await loadSecp256k1(['noble'])).library).toBe('@noble/curves')
})
