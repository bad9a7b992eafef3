import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { promisesOf, runModule, snippetsOf } from '../page-programs.ts'

const page = readFileSync(resolve(import.meta.dirname, '../../docs/library.md'), 'utf8')

describe('the built library', () => {
  const code = snippetsOf(page)

  it('does what docs/library.md says, in order', async () => {
    const promised = promisesOf(code)
    expect(promised.length).toBeGreaterThanOrEqual(6)
    expect((await runModule(code)).trim().split('\n')).toEqual(promised)
  })

  it('does the same without the globals of Node.js, as in a browser', async () => {
    const deleted = ['Buffer', 'process', 'setImmediate', 'require', 'module', 'global']
    // Static imports would run before the globals are deleted.
    const dynamic = code.replaceAll(/import (\{[^}]*\}) from ('[^']*')/g, 'const $1 = await import($2)')
    const output = await runModule(`const { log } = console
      for (const name of ${JSON.stringify(deleted)}) delete globalThis[name]
      if (typeof Buffer !== 'undefined' || typeof process !== 'undefined') throw new Error('this is still Node.js')
      ${dynamic.replaceAll('console.log', 'log')}`)
    expect(output.trim().split('\n')).toEqual(promisesOf(code))
  })
})
