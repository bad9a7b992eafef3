import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { anvilPackage, findAnvil } from '../../src/local-chain/anvil-binary.ts'
import { endLeftover } from '../../src/local-chain/leftover.ts'
import { prepareState, removeState, stateFiles } from '../../src/local-chain/state-file.ts'
import type { Rpc } from '../../src/sync/rpc.ts'

const folder = mkdtempSync(join(tmpdir(), 'trigpoint-local-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the program of a local chain', () => {
  const program = join(folder, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil')
  const searchPath = ['/nowhere', join(folder, 'bin')].join(delimiter)
  mkdirSync(join(folder, 'bin'))
  writeFileSync(program, '')

  it('is searched in PATH when its package is not installed, and must be a program', () => {
    chmodSync(program, 0o755)
    expect(findAnvil(searchPath, '@foundry-rs/anvil-for-nobody')).toBe(program)
    expect(findAnvil('', '@foundry-rs/anvil-for-nobody')).toBeUndefined()
    chmodSync(program, 0o644)
    expect(findAnvil(searchPath, '@foundry-rs/anvil-for-nobody')).toBeUndefined()
    expect(findAnvil(folder, '@foundry-rs/anvil-for-nobody')).toBeUndefined() // a folder of this name would be one
  })

  it('has a package for each machine', () => {
    expect(anvilPackage('linux', 'x64')).toBe('@foundry-rs/anvil-linux-amd64')
    expect(anvilPackage('darwin', 'arm64')).toBe('@foundry-rs/anvil-darwin-arm64')
  })
})

describe('the state of a local chain', () => {
  const files = stateFiles(folder)
  const whole = (name: string) => JSON.stringify({ accounts: {}, name })
  beforeEach(() => removeState(files))

  it('is copied before a start that may end amid writing it', () => {
    expect(prepareState(files)).toBe('none')
    writeFileSync(files.state, whole('first'))
    expect(prepareState(files)).toBe('kept')
    expect(readFileSync(files.before, 'utf8')).toBe(whole('first'))
  })

  it.each([
    ['half', '{"accounts": {"0x'],
    ['nothing', ''],
    ['another thing', '[]'],
  ])('gives way to the copy when %s of it was written, and is kept aside', (_what, text) => {
    writeFileSync(files.before, whole('older'))
    writeFileSync(files.state, text)
    expect(prepareState(files)).toBe('older')
    expect(readFileSync(files.state, 'utf8')).toBe(whole('older'))
    expect(readFileSync(`${files.state}.damaged`, 'utf8')).toBe(text)
  })

  it('is none when the copy is damaged too', () => {
    for (const file of [files.state, files.before]) writeFileSync(file, '{')
    expect(prepareState(files)).toBe('damaged')
    expect(existsSync(files.state)).toBe(false)
  })
})

describe('a chain that a killed service left', () => {
  const note = join(folder, 'anvil.json')
  const answering = (instanceId: string) => (): Rpc => ({ request: async () => ({ instanceId }) })

  it('is left alone when another program has its port', async () => {
    // This process would end of it.
    writeFileSync(note, JSON.stringify({ pid: process.pid, url: 'http://127.0.0.1:1', instance: '0xours' }))
    expect(await endLeftover(note, answering('0xtheirs'), 1000)).toBeUndefined()
    expect(existsSync(note)).toBe(false)
  })

  it.each(['', '{"pid": 1', '{"pid": 1, "url": "x", "instance": "0xours"}'])(
    'is none when the note says %j',
    async (text) => {
      writeFileSync(note, text)
      expect(await endLeftover(note, answering('0xours'), 1000)).toBeUndefined()
    },
  )
})
