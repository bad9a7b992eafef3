import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { loadInstalledUws, loadUws, uwsFileName } from '../../src/http/transport/server.ts'

const installed = (() => {
  try {
    return dirname(createRequire(import.meta.url).resolve('uWebSockets.js'))
  } catch {
    return undefined
  }
})()
if (installed === undefined) console.warn('skipped: the binary of uWebSockets.js is not installed')
const hasTestedBinary = process.versions.modules === '115'

it.skipIf(hasTestedBinary)(
  'the native transport is not used with a release of Node.js for which it was not tested',
  () => {
    const [release] = process.versions.node.split('.')
    const result = loadInstalledUws([])
    const reason = expect.stringContaining(`uWebSockets.js has no tested binary for Node.js ${release} on `)
    expect(result).toEqual({ ok: false, reason })
  },
)

describe.skipIf(!hasTestedBinary)('the native transport', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-uws-'))
  const failIfLoaded = () => {
    throw new Error('must not be loaded')
  }
  afterEach(() => rmSync(join(folder, uwsFileName()), { force: true }))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('is not loaded when the package is missing', () => {
    const result = loadUws(() => {
      throw new Error('not found')
    }, failIfLoaded)
    expect(result).toEqual({ ok: false, reason: 'uWebSockets.js is not installed' })
  })

  it('is not loaded when its hash is unknown', () => {
    writeFileSync(join(folder, uwsFileName()), 'something else')
    const result = loadUws(() => join(folder, 'uws.js'), failIfLoaded)
    expect(result).toEqual({ ok: false, reason: `${uwsFileName()} has an unknown sha256` })
  })

  it.skipIf(installed === undefined)(
    'is loaded when its bytes are those of the release, and a failure to load is reported',
    () => {
      copyFileSync(join(installed!, uwsFileName()), join(folder, uwsFileName()))
      const uws = { App: () => undefined }
      expect(
        loadUws(
          () => join(folder, 'uws.js'),
          () => uws,
        ),
      ).toEqual({ ok: true, uws })
      const result = loadUws(
        () => join(folder, 'uws.js'),
        () => {
          throw new Error('/secret/path: failed to map segment from shared object\nmore')
        },
      )
      const reason = `${uwsFileName()} does not load: path: failed to map segment from shared object`
      expect(result).toEqual({ ok: false, reason })
    },
  )

  it.skipIf(installed === undefined)('is not loaded when the C library is too old, and the reason says so', () => {
    copyFileSync(join(installed!, uwsFileName()), join(folder, uwsFileName()))
    const result = loadUws(
      () => join(folder, 'uws.js'),
      () => {
        // The message of glibc 2.36.
        throw new Error("/lib/libc.so.6: version `GLIBC_9.99' not found (required by /secret/path)\nmore")
      },
    )
    const reason = expect.stringMatching(
      /^uWebSockets\.js for Node\.js \d+ needs glibc 9\.99 and this machine has 2\.\d+$/,
    )
    expect(result).toEqual({ ok: false, reason })
  })

  it.skipIf(installed === undefined)('is loaded from a private copy of the checked bytes', () => {
    const file = join(folder, uwsFileName())
    copyFileSync(join(installed!, uwsFileName()), file)
    const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
    const checkedSum = sha256(file)
    let copy = ''
    loadUws(
      () => join(folder, 'uws.js'),
      (path) => {
        // A change in the package's folder comes too late now.
        writeFileSync(file, 'something else')
        copy = path
        expect(sha256(path)).toBe(checkedSum)
        expect(statSync(path).mode & 0o777).toBe(0o500)
        expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
        return {}
      },
    )
    expect(dirname(copy)).not.toBe(folder)
    expect(existsSync(dirname(copy))).toBe(false)
  })

  it.skipIf(installed === undefined)('is loaded from the next folder when the first one is mounted noexec', () => {
    copyFileSync(join(installed!, uwsFileName()), join(folder, uwsFileName()))
    const other = mkdtempSync(join(tmpdir(), 'trigpoint-other-'))
    const tried: string[] = []
    const result = loadUws(
      () => join(folder, 'uws.js'),
      (path) => {
        tried.push(dirname(dirname(path)))
        if (tried.length === 1) throw new Error(`${path}: failed to map segment from shared object`)
        return {}
      },
      [folder, join(folder, 'missing'), other],
    )
    expect(result.ok).toBe(true)
    expect(tried).toEqual([folder, other])
    rmSync(other, { recursive: true })
  })
})
