import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  utimesSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { changeKeyFile, readKeyFile } from '../../src/service/keys/key-file.ts'
import type { StoredKey } from '../../src/wire/key-messages.ts'
import { runCli } from '../cli-runner.ts'

vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>()
  return { ...fs, fsyncSync: vi.fn(fs.fsyncSync) }
})

const KEY: StoredKey = {
  id: 'a'.repeat(12),
  sha256: 'a'.repeat(64),
  tier: 'developer',
  label: '',
  createdAt: '2026-01-01T00:00:00.000Z',
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trigpoint-keys-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const tick = () => new Promise((resolve) => setImmediate(resolve))
const runKeys = (...argv: string[]) => runCli(['keys', ...argv, '--data', folder])

it('loses no change when keys are added and revoked at the same time', async () => {
  const file = join(folder, 'api-keys.json')
  await runKeys('add', 'developer', '--label', 'old')
  const [oldKey] = readKeyFile(file)
  const lock = `${file}.lock`
  closeSync(openSync(lock, 'wx'))
  // Each of the four changes finds the lock taken once.
  let waiting = 0
  const waitForRetry = async () => {
    if (++waiting === 4) rmSync(lock)
    await tick()
  }
  await Promise.all([
    changeKeyFile(file, (stored) => stored.filter(({ id }) => id !== oldKey!.id), waitForRetry),
    ...['a', 'b', 'c'].map((label) =>
      changeKeyFile(file, (stored) => [...stored, { ...oldKey!, label }], waitForRetry),
    ),
  ])
  expect(
    readKeyFile(file)
      .map(({ label }) => label)
      .sort(),
  ).toEqual(['a', 'b', 'c'])
  expect(readdirSync(folder)).toEqual(['api-keys.json'])
})

it('accepts keys that several command lines add and revoke at the same time', async () => {
  const file = join(folder, 'api-keys.json')
  await runKeys('add', 'developer', '--label', 'old')
  const [oldKey] = readKeyFile(file)
  const runs = [
    runKeys('revoke', oldKey!.id),
    ...['a', 'b', 'c'].map((label) => runKeys('add', 'developer', '--label', label)),
  ]
  expect((await Promise.all(runs)).map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0])
  expect(
    readKeyFile(file)
      .map(({ label }) => label)
      .sort(),
  ).toEqual(['a', 'b', 'c'])
})

it('rejects a change while another one holds the lock', async () => {
  const file = join(folder, 'api-keys.json')
  closeSync(openSync(`${file}.lock`, 'wx'))
  await expect(changeKeyFile(file, () => [], tick)).rejects.toThrow(/another change is in progress.*try again/)
  expect(existsSync(file)).toBe(false)
})

it('takes over the lock of a change that ended without releasing it, also by several at a time', async () => {
  const file = join(folder, 'api-keys.json')
  const minuteAgo = Date.now() / 1000 - 60
  for (const left of [`${file}.lock`, `${file}.lock.turn`]) {
    closeSync(openSync(left, 'wx'))
    utimesSync(left, minuteAgo, minuteAgo)
  }
  const labels = ['a', 'b', 'c']
  await Promise.all(labels.map((label) => changeKeyFile(file, (stored) => [...stored, { ...KEY, label }], tick)))
  expect(
    readKeyFile(file)
      .map(({ label }) => label)
      .sort(),
  ).toEqual(labels)
  expect(readdirSync(folder)).toEqual(['api-keys.json'])
})

it('has the new file and its name on the disk before a change ends', async () => {
  const flushed: string[] = []
  const flush = vi.mocked(fsyncSync).mockImplementation((descriptor) => {
    flushed.push(readlinkSync(`/proc/self/fd/${descriptor}`))
  })
  await changeKeyFile(join(folder, 'api-keys.json'), () => [KEY])
  flush.mockReset()
  expect(flushed).toEqual([expect.stringMatching(/api-keys\.json\..*tmp$/), folder])
})
