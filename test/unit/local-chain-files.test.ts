import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { anvilPackage, endLeftover, findAnvil } from '../../src/local-chain/anvil-process.ts'
import { prepareState, removeState, stateFiles } from '../../src/local-chain/local-chain.ts'
import type { Rpc } from '../../src/sync/rpc.ts'

const folder = mkdtempSync(join(tmpdir(), 'trigpoint-local-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the program of a local chain', () => {
  const program = join(folder, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil')
  const searchPath = ['/nowhere', join(folder, 'bin')].join(delimiter)
  mkdirSync(join(folder, 'bin'))
  writeFileSync(program, '')

  it('is looked up in PATH when its package is not installed, and must be an executable file', () => {
    chmodSync(program, 0o755)
    expect(findAnvil(searchPath, '@foundry-rs/anvil-for-nobody')).toBe(program)
    expect(findAnvil('', '@foundry-rs/anvil-for-nobody')).toBeUndefined()
    chmodSync(program, 0o644)
    expect(findAnvil(searchPath, '@foundry-rs/anvil-for-nobody')).toBeUndefined()
    expect(findAnvil(folder, '@foundry-rs/anvil-for-nobody')).toBeUndefined() // X_OK also holds for a directory of this name
  })

  it('has a package for each platform', () => {
    expect(anvilPackage('linux', 'x64')).toBe('@foundry-rs/anvil-linux-amd64')
    expect(anvilPackage('darwin', 'arm64')).toBe('@foundry-rs/anvil-darwin-arm64')
  })
})

describe('the state of a local chain', () => {
  const files = stateFiles(folder)
  const stateJson = (name: string) => JSON.stringify({ accounts: {}, name })
  beforeEach(() => removeState(files))

  it('is copied before a start, because a crash may leave it half written', () => {
    expect(prepareState(files)).toBe('none')
    writeFileSync(files.state, stateJson('first'))
    expect(prepareState(files)).toBe('kept')
    expect(readFileSync(files.before, 'utf8')).toBe(stateJson('first'))
  })

  it.each([
    ['half of the JSON', '{"accounts": {"0x'],
    ['nothing', ''],
    ['something else', '[]'],
  ])('is replaced by the copy and saved as damaged when it holds %s', (_what, text) => {
    writeFileSync(files.before, stateJson('older'))
    writeFileSync(files.state, text)
    expect(prepareState(files)).toBe('older')
    expect(readFileSync(files.state, 'utf8')).toBe(stateJson('older'))
    expect(readFileSync(`${files.state}.damaged`, 'utf8')).toBe(text)
  })

  it('is removed when the copy is damaged too', () => {
    for (const file of [files.state, files.before]) writeFileSync(file, '{')
    expect(prepareState(files)).toBe('damaged')
    expect(existsSync(files.state)).toBe(false)
  })
})

describe('a chain that a killed service left running', () => {
  const note = join(folder, 'anvil.json')
  const createRpcFactory = (instanceId: string) => (): Rpc => ({ request: async () => ({ instanceId }) })

  it('is not stopped when another program has its port', async () => {
    // A stop would end this process, whose id the note has.
    writeFileSync(note, JSON.stringify({ pid: process.pid, url: 'http://127.0.0.1:1', instance: '0xours' }))
    expect(await endLeftover(note, createRpcFactory('0xtheirs'), 1000)).toBeUndefined()
    expect(existsSync(note)).toBe(false)
  })

  it.each(['', '{"pid": 1', '{"pid": 1, "url": "x", "instance": "0xours"}'])(
    'is ignored when the note holds %j',
    async (text) => {
      writeFileSync(note, text)
      expect(await endLeftover(note, createRpcFactory('0xours'), 1000)).toBeUndefined()
    },
  )
})
