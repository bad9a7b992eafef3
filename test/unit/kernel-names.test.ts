import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const kernel = 'src/wasm/assembly'

it('uses each name of the table in docs/geodesy.md', () => {
  const [, section = ''] = readFileSync('docs/geodesy.md', 'utf8').split('## Names in the kernel\n')
  const rows =
    section
      .split('\n## ', 1)[0]
      ?.split('\n')
      .filter((line) => line.startsWith('|')) ?? []
  const names = rows.flatMap((row) => [...(row.split('|')[2] ?? '').matchAll(/`(\w+)`/g)].map((match) => match[1]))
  expect(names.length).toBeGreaterThan(40)
  const files = readdirSync(kernel, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const source = files.map((file) => readFileSync(join(kernel, file), 'utf8')).join('\n')
  const words = new Set(source.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '').match(/\w+/g))
  expect(names.filter((name) => !words.has(name as string))).toEqual([])
})
