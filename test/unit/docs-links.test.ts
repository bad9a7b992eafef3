import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PAGES, readPage } from '../markdown-pages.ts'

const root = resolve(import.meta.dirname, '../..')
const { anchorOf } = await import(new URL('../../scripts/docs/html.mjs', import.meta.url).href)

/** Reads a page without its code, where brackets are not links and hashes are not headings. */
function readProse(page: string): string {
  return readPage(page)
    .replace(/^ *```[\s\S]*?^ *```$/gm, '')
    .replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]()#]/g, ' '))
}

function listAnchors(page: string): string[] {
  const takenAnchors = new Map()
  const headings = readPage(page)
    .replace(/^ *```[\s\S]*?^ *```$/gm, '')
    .matchAll(/^#{2,6} (.*)$/gm)
  return [...headings].map(([, text]) => anchorOf(plainText(text!), takenAnchors))
}

function plainText(text: string): string {
  return text.replace(/`([^`]*)`/g, '$1').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
}

const links = PAGES.flatMap((page) =>
  [...readProse(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, href]) => ({ page, href: href! })),
).filter(({ href }) => !/^[a-z]+:/.test(href) && !href.startsWith('/'))

describe('links between the pages', () => {
  it('are more than 100', () => {
    expect(links.length).toBeGreaterThan(100)
  })

  it('lead to files that exist', () => {
    const dead = links.filter(({ page, href }) => {
      const [path = ''] = href.split('#')
      return path !== '' && !existsSync(join(root, dirname(page), path))
    })
    expect(dead).toEqual([])
  })

  it('lead to headings that exist', () => {
    const dead = links.filter(({ page, href }) => {
      const [path, anchor] = href.split('#') as [string, string?]
      const target = path === '' ? page : relative(root, join(root, dirname(page), path))
      if (anchor === undefined || !target.endsWith('.md') || !existsSync(join(root, target))) return false
      return !listAnchors(target).includes(anchor)
    })
    expect(dead).toEqual([])
  })
})

describe('figures that appear on two pages', () => {
  it('are the same for reading a local chain', () => {
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
