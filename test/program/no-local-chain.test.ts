import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runToEnd } from '../local-chain-service.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-no-chain-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

/** A processor architecture without a package of anvil. */
const NO_ANVIL = 'Object.defineProperty(process, "arch", { value: "abacus" })'

describe('a start with --chain that cannot work', () => {
  it.each([
    ['without anvil', { PATH: '/nowhere' }, NO_ANVIL, /--chain needs anvil.*npm install .*anvil-\w+-abacus@1\.7\.1/],
    ['in production', { NODE_ENV: 'production' }, '', /--chain\): production has no chain of its own.*RPC_URL_/],
    [
      'with an RPC for the same chain',
      { RPC_URL_31337: 'http://127.0.0.1:1', PATH: '/nowhere' },
      NO_ANVIL,
      /--chain makes chain 31337 itself: leave out RPC_URL_31337/,
    ],
    ['on an invalid port', { LOCAL_CHAIN_PORT: '70000' }, '', /LOCAL_CHAIN_PORT=\S+70000\S+ must be/],
  ])('%s prints the remedy in one line', async (_when, environment, preamble, expected) => {
    const { code, output } = await runToEnd(['--chain'], { DATA_DIR: dataDir, ...environment }, preamble)
    expect([code, output.trim().split('\n').length], output).toEqual([78, 1])
    expect(output).toMatch(expected)
  })
})
