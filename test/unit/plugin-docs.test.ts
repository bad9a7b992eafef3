import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listPlugins } from '../../src/verify/plugins/plugin-table.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8')
const SECTIONS = ['## Evidence', '## Trust assumptions', '## What a forger must do', '## Checks']

describe('the pages about evidence', () => {
  it.each(listPlugins({ allowMock: true }).map(({ name }) => name))('%s has a page with the fixed sections', (name) => {
    const page = read('docs', 'plugins', `${name}.md`)
    const positions = SECTIONS.map((section) => page.indexOf(`${section}\n`))
    expect(positions.every((position) => position > 0)).toBe(true)
    expect([...positions].sort((a, b) => a - b)).toEqual(positions)
    expect(read('docs', 'plugins', 'README.md')).toContain(`[${name}](${name}.md)`)
  })

  it('name every check in the code', () => {
    const pages = readdirSync(join(root, 'docs/plugins'))
      .map((file) => read('docs/plugins', file))
      .join('\n')
    const sources = readdirSync(join(root, 'src/verify'), { recursive: true, encoding: 'utf8' })
      // The conformance kit and the structure checks are described on other pages.
      .filter((file) => file.endsWith('.ts') && !/^(?:conformance|added-plugin)\.ts$/.test(file))
      .map((file) => read('src/verify', file).replace(/^function checkStructure\([\s\S]*?^}/m, ''))
    const ids = sources.flatMap((source) =>
      [...source.matchAll(/(?:checks|collected\[copy\]!)\.(?:fail|warn|info)\(\s*'([a-z][\w-]*)'/g)].map(
        ([, id]) => id!,
      ),
    )
    expect(ids.length).toBeGreaterThan(80)
    expect([...new Set(ids)].filter((id) => !pages.includes(`\`${id}\``))).toEqual([])
  })

  it('show the example plugin exactly as the tests run it', () => {
    expect(read('docs', 'writing-a-plugin.md')).toContain(`\`\`\`js\n${read('test/plugins/barometer.mjs')}\`\`\``)
  })
})
