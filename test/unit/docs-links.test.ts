import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PAGES, readPage } from '../markdown-pages.ts'

const root = resolve(import.meta.dirname, '../..')
const { anchorOf } = await import(new URL('../../scripts/docs/html.mjs', import.meta.url).href)

/** Without code, in which brackets are no links and hashes no headings. */
function prose(page: string): string {
  return readPage(page)
    .replace(/^ *```[\s\S]*?^ *```$/gm, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()#]/g, ' '))
}

function anchorsOf(page: string): string[] {
  const taken = new Map()
  const headings = readPage(page)
    .replace(/^ *```[\s\S]*?^ *```$/gm, '')
    .matchAll(/^#{2,6} (.*)$/gm)
  return [...headings].map(([, text]) => anchorOf(plain(text!), taken))
}

function plain(text: string): string {
  return text.replace(/`([^`]*)`/g, '$1').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
}

const links = PAGES.flatMap((page) =>
  [...prose(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, href]) => ({ page, href: href! })),
).filter(({ href }) => !/^[a-z]+:/.test(href) && !href.startsWith('/'))

describe('links between the pages', () => {
  it('are many', () => {
    expect(links.length).toBeGreaterThan(100)
  })

  it('lead to files that are there', () => {
    const dead = links.filter(({ page, href }) => {
      const [path = ''] = href.split('#')
      return path !== '' && !existsSync(join(root, dirname(page), path))
    })
    expect(dead).toEqual([])
  })

  it('lead to headings that are there', () => {
    const dead = links.filter(({ page, href }) => {
      const [path, anchor] = href.split('#') as [string, string?]
      const target = path === '' ? page : relative(root, join(root, dirname(page), path))
      if (anchor === undefined || !target.endsWith('.md') || !existsSync(join(root, target))) return false
      return !anchorsOf(target).includes(anchor)
    })
    expect(dead).toEqual([])
  })
})

describe('figures that stand on two pages', () => {
  it('are the same for what is read from a local chain', () => {
    const row = readPage('README.md')
      .split('\n')
      .find((line) => line.includes('| `sync` |'))
    const rates = row?.match(/[\d,]+ to [\d,]+\/s/g) ?? []
    expect(rates).toHaveLength(2)
    const page = readPage('docs/sync.md')
    const [embedded, postgres] = ['the embedded database', 'PostgreSQL'].map(
      (engine) => page.split('\n').find((line) => line.startsWith(`| ${engine} |`)) ?? '',
    )
    expect([embedded, postgres]).toEqual(rates.map((rate) => expect.stringContaining(`| ${rate} |`)))
  })
})
