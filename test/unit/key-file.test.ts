import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changeKeyFile, readKeyFile } from '../../src/http/key-file.ts'
import { runCli } from '../cli-runner.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trigpoint-keys-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const turn = () => new Promise((resolve) => setImmediate(resolve))
const keys = (...argv: string[]) => runCli(['keys', ...argv, '--data', folder])

it('loses none of the keys that are added and revoked at once', async () => {
  const file = join(folder, 'api-keys.json')
  await keys('add', 'developer', '--label', 'old')
  const [old] = readKeyFile(file)
  const lock = `${file}.lock`
  closeSync(openSync(lock, 'wx'))
  // Each of them looks once in vain.
  let waiting = 0
  const untilNextLook = async () => {
    if (++waiting === 4) rmSync(lock)
    await turn()
  }
  await Promise.all([
    changeKeyFile(file, (stored) => stored.filter(({ id }) => id !== old!.id), untilNextLook),
    ...['a', 'b', 'c'].map((label) => changeKeyFile(file, (stored) => [...stored, { ...old!, label }], untilNextLook)),
  ])
  expect(
    readKeyFile(file)
      .map(({ label }) => label)
      .sort(),
  ).toEqual(['a', 'b', 'c'])
  expect(readdirSync(folder)).toEqual(['api-keys.json'])
})

it('takes what several command lines add and revoke at once', async () => {
  const file = join(folder, 'api-keys.json')
  await keys('add', 'developer', '--label', 'old')
  const [old] = readKeyFile(file)
  const runs = [keys('revoke', old!.id), ...['a', 'b', 'c'].map((label) => keys('add', 'developer', '--label', label))]
  expect((await Promise.all(runs)).map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0])
  expect(
    readKeyFile(file)
      .map(({ label }) => label)
      .sort(),
  ).toEqual(['a', 'b', 'c'])
})

it('says what to do about a change that does not end', async () => {
  const file = join(folder, 'api-keys.json')
  closeSync(openSync(`${file}.lock`, 'wx'))
  await expect(changeKeyFile(file, () => [], turn)).rejects.toThrow(/another change is under way.*remove .*\.lock/)
  expect(existsSync(file)).toBe(false)
})
