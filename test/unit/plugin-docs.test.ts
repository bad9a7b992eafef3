import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pluginsOf } from '../../src/verify/plugin-table.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8')
const SECTIONS = ['## Evidence', '## Trust assumptions', '## What a forger must do', '## Checks']

describe('the pages on evidence', () => {
  it.each(pluginsOf({ allowMock: true }).map(({ name }) => name))('%s has one of the fixed form', (name) => {
    const page = read('docs', 'plugins', `${name}.md`)
    const places = SECTIONS.map((section) => page.indexOf(`${section}\n`))
    expect(places.every((place) => place > 0)).toBe(true)
    expect([...places].sort((a, b) => a - b)).toEqual(places)
    expect(read('docs', 'plugins', 'README.md')).toContain(`[${name}](${name}.md)`)
  })

  it('name every check that the code makes', () => {
    const pages = readdirSync(join(root, 'docs/plugins'))
      .map((file) => read('docs/plugins', file))
      .join('\n')
    const sources = readdirSync(join(root, 'src/verify'), { recursive: true, encoding: 'utf8' })
      // Of the conformance kit and of structure the subject is another page.
      .filter((file) => file.endsWith('.ts') && !/^(?:structure|conformance|added-plugin)\.ts$/.test(file))
    const made = sources.flatMap((file) =>
      [
        ...read('src/verify', file).matchAll(/(?:checks|collected\[copy\]!)\.(?:fail|warn|info)\(\s*'([a-z][\w-]*)'/g),
      ].map(([, id]) => id!),
    )
    expect(made.length).toBeGreaterThan(80)
    expect([...new Set(made)].filter((id) => !pages.includes(`\`${id}\``))).toEqual([])
  })

  it('show the example of a plugin as it is run', () => {
    expect(read('docs', 'writing-a-plugin.md')).toContain(`\`\`\`js\n${read('test/plugins/barometer.mjs')}\`\`\``)
  })
})
