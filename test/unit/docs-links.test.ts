import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/compute/operations.ts'
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

describe('the pages', () => {
  const guide = PAGES.filter((page) => page.startsWith('docs/'))

  it.each(guide)('%s opens with a paragraph that says what the reader can do with it', (page) => {
    const [title, opening] = readPage(page).split('\n\n')
    expect(title).toMatch(/^# /)
    expect(opening).toMatch(/\bthis page (?:shows|says|defines|describes|follows)\b|\byou\b/i)
    expect(opening).not.toMatch(/^#/m)
  })

  it('begin with a README of at most 120 lines', () => {
    expect(readPage('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(120)
  })
})

/**
 * Finds commands that would download a package: `npx` without `--no-install`, and any package manager with this project's name,
 * which is in no registry. Whoever publishes a package of that name would run code on the reader's machine.
 */
function findDownloads(text: string): string[] {
  const runner = /\b(?:npx|bunx|npm exec|pnpm dlx|yarn dlx)(?:",\s*"args":\s*\[)?["'\s]+(?!--no-install\b)[@\w-]+/g
  const own = /\b(?:npm|pnpm|yarn) (?:i|install|add)(?: -\S+)* trigpoint\b/g
  return [...text.matchAll(runner), ...text.matchAll(own)].map(([use]) => use)
}

describe('commands on the pages and in messages', () => {
  it('download no package by a name that anyone could publish', () => {
    const files = ['src', 'web', 'deploy', 'scripts'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
    )
    const texts = files.filter(
      (file) => /\.(?:ts|mjs|md|html|txt|yaml|conf|cfg)$/.test(file) && !file.includes('generated/'),
    )
    const found = [...PAGES, 'compose.yaml', 'Dockerfile', ...texts].flatMap((file) =>
      findDownloads(readPage(file)).map((use) => ({ file, use })),
    )
    expect(found).toEqual([])
  })

  it.each([
    'npx trigpoint doctor',
    'npx -y trigpoint mcp',
    '{ "command": "npx", "args": ["trigpoint", "mcp"] }',
    'npm exec trigpoint',
    'npm install -g trigpoint',
  ])('are found by this test: %s', (command) => {
    expect(findDownloads(command)).toHaveLength(1)
  })

  it.each(['npx --no-install trigpoint doctor', '`npx` would download it', 'npm install ./trigpoint-0.1.0.tgz'])(
    'are allowed: %s',
    (command) => {
      expect(findDownloads(command)).toEqual([])
    },
  )
})

describe('the operations', () => {
  const shared = Object.values(OPERATIONS).filter(({ requestTitle }) => requestTitle === 'PredicateRequest')
  const sharedNames = shared.map(({ name }) => name as string)
  const named = Object.keys(OPERATIONS).filter((name) => !sharedNames.includes(name))

  it.each(sharedNames)('%s is on the page of relate and in its row', (name) => {
    expect(readPage('docs/compute/relate.md')).toContain(`| \`${name}\` |`)
    const row = readPage('docs/compute/README.md')
      .split('\n')
      .find((line) => line.includes('](relate.md) | `geometry1`, `geometry2` |'))
    expect(row).toContain(`\`${name}\``)
    expect(readPage('docs/README.md')).toMatch(new RegExp(`^- \\[relate\\].*\\b${name}\\b`, 'm'))
  })

  it.each(named)('%s has a page, a link in the guide and a row in the page of operations', (name) => {
    expect(existsSync(join(root, `docs/compute/${name}.md`))).toBe(true)
    expect(readPage('docs/README.md')).toContain(`[${name}](compute/${name}.md)`)
    expect(readPage('docs/compute/README.md')).toContain(`| [\`${name}\`](${name}.md) |`)
  })
})

describe('source files that pages and comments name', () => {
  const FOLDERS = ['src', 'workers', 'web', 'test', 'bench', 'scripts']
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  ).concat('vitest.config.ts')
  const sources = files.filter((file) => /\.(ts|mjs)$/.test(file) && !file.includes('/generated/'))

  /** Returns the paths in a text that end in `.ts`, without `./` and `../` at the beginning. Suffixes such as `.test.ts` do not count. */
  function sourcePaths(text: string): string[] {
    return [...text.matchAll(/(?<![\w./*-])(?:\.{1,2}\/)*([\w-][\w./-]*\.ts)\b/g)].map(([, path]) => path!)
  }

  const isSource = (path: string) => files.some((file) => file === path || file.endsWith(`/${path}`))

  it('exist', () => {
    const ofPages = PAGES.flatMap((page) =>
      [...readPage(page).matchAll(/`[^`\n]*`/g)]
        .flatMap(([code]) => sourcePaths(code))
        .map((path) => ({ file: page, path })),
    )
    const ofComments = sources.flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/^\s*(?:\/\/|\/?\*).*$/gm)]
        .flatMap(([comment]) => sourcePaths(comment))
        .map((path) => ({ file, path })),
    )
    expect(ofPages.length).toBeGreaterThan(150)
    expect(ofComments.length).toBeGreaterThan(40)
    expect([...ofPages, ...ofComments].filter(({ path }) => !isSource(path))).toEqual([])
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
