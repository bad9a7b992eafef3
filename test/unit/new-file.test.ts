import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { transformWithOxc } from 'vite'
import { afterAll, describe, expect, it } from 'vitest'
import { createFile } from '../../src/base/new-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'trigpoint-new-file-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Creates files 0 to 199 as fast as it can. Posts the numbers that it created, or the first file that it found incomplete. */
const RACER = `
const { readFileSync } = require('node:fs')
const { parentPort, workerData: { url, folder, text, start } } = require('node:worker_threads')
import(url).then(({ createFile }) => {
  Atomics.wait(start, 0, 0)
  const created = []
  for (let number = 0; number < 200; number++) {
    if (createFile(folder + '/' + number, text)) created.push(number)
    const found = readFileSync(folder + '/' + number, 'utf8').length
    if (found !== text.length) return parentPort.postMessage('file ' + number + ' has ' + found + ' characters')
  }
  parentPort.postMessage(created)
})`

describe('a new file', () => {
  it('has one creator and is never seen incomplete', { timeout: 30_000 }, async () => {
    const races = mkdtempSync(join(folder, 'races-'))
    const file = join(import.meta.dirname, '../../src/base/new-file.ts')
    const { code } = await transformWithOxc(readFileSync(file, 'utf8'), file)
    const url = `data:text/javascript,${encodeURIComponent(code)}`
    const start = new Int32Array(new SharedArrayBuffer(4))
    const workerData = { url, folder: races, text: 'x'.repeat(100_000), start }
    const racers = Array.from({ length: 3 }, () => new Worker(RACER, { eval: true, workerData }))
    const outcomes = racers.map(
      (racer) =>
        new Promise((resolve, reject) => {
          racer.once('message', resolve)
          racer.once('error', reject)
        }),
    )
    await Promise.all(racers.map((racer) => new Promise((resolve) => racer.once('online', resolve))))
    Atomics.store(start, 0, 1)
    Atomics.notify(start, 0)
    const created = (await Promise.all(outcomes)).flat()
    await Promise.all(racers.map((racer) => racer.terminate()))
    expect(created.sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 200 }, (_, number) => number))
    expect(readdirSync(races)).toHaveLength(200)
  })

  it('can be read only by its owner', () => {
    const file = join(folder, 'private')
    expect(createFile(file, 'secret')).toBe(true)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('never replaces an existing file, not even in a folder that is read-only', () => {
    const readOnly = mkdtempSync(join(folder, 'read-only-'))
    const file = join(readOnly, 'existing')
    writeFileSync(file, 'old')
    chmodSync(readOnly, 0o500)
    expect(createFile(file, 'new')).toBe(false)
    expect(readFileSync(file, 'utf8')).toBe('old')
    chmodSync(readOnly, 0o700)
  })
})
