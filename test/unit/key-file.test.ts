import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { changeKeyFile, readKeyFile, watchKeyFile } from '../../src/service/keys/key-file.ts'
import { KeyFile, KeyManager } from '../../src/service/keys/keys.ts'
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
  // Another file of tests may have loaded the module without the mock.
  vi.resetModules()
  const loaded = await import('../../src/service/keys/key-file.ts')
  await loaded.changeKeyFile(join(folder, 'api-keys.json'), () => [KEY])
  flush.mockReset()
  expect(flushed).toEqual([expect.stringMatching(/api-keys\.json\..*tmp$/), folder])
})

it('tells which account made a key, also after it was revoked', async () => {
  const file = join(folder, 'api-keys.json')
  const keys = new KeyFile(file, 4)
  const keyOf = (digit: string, owner?: string) => ({
    id: digit.repeat(12),
    sha256: digit.repeat(64),
    tier: 'developer' as const,
    label: digit,
    createdAt: '2030-01-01T00:00:00.000Z',
    ...(owner === undefined ? {} : { owner }),
  })
  const add = (digit: string, account?: string) =>
    keys.change({
      expected: [],
      put: [keyOf(digit, account)],
      revoked: [],
      ...(account === undefined ? {} : { owner: { account, maxKeys: 10 } }),
    })
  expect(await add('1', 'eip155:0:a')).toBe('done')
  expect(await add('2', 'eip155:0:b')).toBe('done')
  // Half of the keys are for the operator.
  expect(await add('3', 'eip155:0:c')).toBe('accounts-full')
  expect(await add('4')).toBe('done')
  expect(await keys.findOwner('1'.repeat(12))).toBe('eip155:0:a')
  await keys.change({ expected: [], put: [], revoked: ['1'.repeat(64), '4'.repeat(64)] })
  expect(await keys.findOwner('1'.repeat(12))).toBe('eip155:0:a')
  expect(await keys.findOwner('4'.repeat(12))).toBeUndefined()
  expect(await add('3', 'eip155:0:c')).toBe('done')
  expect(await keys.findOwner('1'.repeat(12))).toBe('eip155:0:a')
  expect(readKeyFile(file).map(({ label }) => label)).toEqual(['2', '3'])
})

it('lets a key be rotated at the limit, one at a time', async () => {
  const keys = new KeyFile(join(folder, 'api-keys.json'), 4)
  const account = 'eip155:0:a'
  const manager = new KeyManager(keys, () => Date.parse('2030-01-01T00:00:00Z'), { account, maxKeys: 2 })
  const properties = { tier: 'developer', label: 'shop', scopes: ['compute'] } as const
  const [first, second] = [await manager.add(properties), await manager.add(properties)]
  await expect(manager.add(properties)).rejects.toMatchObject({ data: { type: 'conflict' } })
  const { stored } = await manager.rotate(first.stored.id, 60)
  expect(await manager.list()).toHaveLength(3)
  const detail = expect.stringMatching(/one more while a key is rotated.*overlapSeconds=0/)
  for (const { id } of [second.stored, stored])
    await expect(manager.rotate(id, 60)).rejects.toMatchObject({ data: { type: 'conflict', detail } })
  await manager.rotate(second.stored.id, 0)
  expect(await manager.list()).toHaveLength(3)
  await expect(manager.add(properties)).rejects.toMatchObject({ data: { type: 'conflict' } })
  await manager.revoke(first.stored.id)
  await manager.rotate(stored.id, 60)
})

it('holds a bounded number of bytes, and accounts leave half of them to the operator', async () => {
  const file = join(folder, 'api-keys.json')
  const keys = new KeyFile(file, 100_000)
  const keyOf = (index: number, owner?: string): StoredKey => {
    const sha256 = index.toString(16).padStart(64, '0')
    return { ...KEY, id: sha256.slice(-12), sha256, label: 'x'.repeat(100), ...(owner === undefined ? {} : { owner }) }
  }
  /** Adds keys until the file is full. */
  const fill = async (first: number, account?: string) => {
    const owner = account === undefined ? {} : { owner: { account: 'eip155:0:nobody', maxKeys: 1_000_000 } }
    let index = first
    let outcome = 'done'
    // Each change reads the file, so most keys are added at once.
    for (let step = 8192; step > 0; step = Math.floor(step / 2)) {
      const put = Array.from({ length: step }, (_, more) => keyOf(index + more, account))
      const result = await keys.change({ expected: [], put, revoked: [], ...owner })
      if (result === 'done') index += step
      else outcome = result
    }
    return { count: index - first, outcome }
  }
  const accounts = await fill(0, 'eip155:0:a')
  const operator = await fill(50_000)
  expect([accounts.outcome, operator.outcome]).toEqual(['accounts-full', 'full'])
  expect(accounts.count).toBeGreaterThan(2000)
  expect(operator.count).toBeGreaterThan(2000)
  const { size } = statSync(file)
  expect(size).toBeGreaterThan(1.5e6)
  expect(size).toBeLessThan(1.6e6)
  // Keys can still be revoked.
  const all = readKeyFile(file)
  const revoked = all.slice(0, 2000).map(({ sha256 }) => sha256)
  expect(await keys.change({ expected: revoked, put: [], revoked })).toBe('done')
  expect(readKeyFile(file)).toEqual(all.slice(2000))
})

it('has room for the keys of other accounts if those of one are long', async () => {
  const keys = new KeyFile(join(folder, 'api-keys.json'), 100_000)
  const origins = Array.from({ length: 32 }, (_, index) => `https://${index}.${'x'.repeat(60)}.example`)
  const add = (account: string, index: number, label: string, more: object = {}) => {
    const sha256 = index.toString(16).padStart(64, '0')
    const put = [{ ...KEY, id: sha256.slice(-12), sha256, label, owner: account, ...more }]
    return keys.change({ expected: [], put, revoked: [], owner: { account, maxKeys: 10 } })
  }
  const outcomes = []
  for (let index = 0; index < 10; index++) outcomes.push(await add('eip155:0:a', index, 'long', { origins }))
  expect(outcomes.slice(-5)).toEqual(Array(5).fill('owner-full'))
  expect(await add('eip155:0:b', 10, 'short')).toBe('done')
})

it.each([
  [
    'too large',
    JSON.stringify({ keys: Array(30_000).fill(KEY) }),
    /api-keys\.json has \d+ bytes, and a key file at most .* PostgreSQL/,
  ],
  ['not a key file', '{"keys": [', /api-keys\.json: is not a key file/],
])('has no valid keys while it is %s, since a known key may be revoked in it', async (_, text, reason) => {
  const file = join(folder, 'api-keys.json')
  await changeKeyFile(file, () => [KEY])
  const kept = join(folder, 'kept.json')
  vi.useFakeTimers()
  try {
    const read: number[] = []
    const faults: string[] = []
    const stop = watchKeyFile(
      file,
      100,
      (keys) => read.push(keys.length),
      (reason) => faults.push(reason),
    )
    // Putting the same file back changes neither its time nor its inode number.
    for (let round = 1; round <= 2; round++) {
      renameSync(file, kept)
      writeFileSync(file, text, { mode: 0o600 })
      vi.advanceTimersByTime(1000)
      expect(faults).toEqual(Array(round).fill(expect.stringMatching(reason)))
      expect(() => readKeyFile(file)).toThrow(reason)
      renameSync(kept, file)
      vi.advanceTimersByTime(1000)
      expect(read).toEqual(Array(round + 1).fill(1))
    }
    stop()
  } finally {
    vi.useRealTimers()
  }
})

it('is never written so large that no service reads it', async () => {
  const file = join(folder, 'api-keys.json')
  await changeKeyFile(file, () => [KEY])
  await expect(changeKeyFile(file, () => Array(30_000).fill(KEY))).rejects.toThrow(
    /more than 3145728 bytes.*revoke keys/,
  )
  expect(readKeyFile(file)).toEqual([KEY])
})
