import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { loadUws, uwsFileName } from '../../src/http/uws-binary.ts'

const installed = (() => {
  try {
    return dirname(createRequire(import.meta.url).resolve('uWebSockets.js'))
  } catch {
    return undefined
  }
})()
if (installed === undefined) console.warn('skipped: the binary of uWebSockets.js is not installed')

describe('the native transport', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-uws-'))
  const refuseToLoad = () => {
    throw new Error('must not be loaded')
  }
  afterEach(() => rmSync(join(folder, uwsFileName()), { force: true }))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('is not loaded when the package is missing', () => {
    const result = loadUws(() => {
      throw new Error('not found')
    }, refuseToLoad)
    expect(result).toEqual({ ok: false, reason: 'uWebSockets.js is not installed' })
  })

  it('is not loaded with other bytes', () => {
    writeFileSync(join(folder, uwsFileName()), 'something else')
    const result = loadUws(() => join(folder, 'uws.js'), refuseToLoad)
    expect(result).toEqual({ ok: false, reason: `${uwsFileName()} has an unknown sha256` })
  })

  it.skipIf(installed === undefined)('is loaded with the bytes of the release, and its failure is told', () => {
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
        throw new Error(`/lib/libc.so.6: version 'GLIBC_2.38' not found (required by /secret/path)\nmore`)
      },
    )
    expect(result.ok).toBe(false)
    expect(JSON.stringify(result)).toContain('does not load')
    expect(JSON.stringify(result)).not.toContain('/secret')
  })
})
