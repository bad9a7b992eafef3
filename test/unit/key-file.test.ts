import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changeKeyFile, readKeyFile } from '../../src/http/access/key-file.ts'
import { runCli } from '../cli-runner.ts'

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

it('tells how to remove the lock of a change that never ends', async () => {
  const file = join(folder, 'api-keys.json')
  closeSync(openSync(`${file}.lock`, 'wx'))
  await expect(changeKeyFile(file, () => [], tick)).rejects.toThrow(/another change is in progress.*remove .*\.lock/)
  expect(existsSync(file)).toBe(false)
})
