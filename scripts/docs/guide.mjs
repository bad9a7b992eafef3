import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { renderMarkdown } from './markdown.mjs'

const FOLDER = 'docs'
/** Addresses that begin so are those of the service that shows the pages. */
const OWN = 'http://127.0.0.1:3000'

/** `docs/compute/area.md` → `/docs/guide/compute/area`; README.md stands for its folder. */
export function guidePath(file) {
  const name = file
    .slice(`${FOLDER}/`.length)
    .replace(/\.md$/, '')
    .replace(/(^|\/)README$/, '')
  return name === '' ? '/docs/guide' : `/docs/guide/${name}`
}

/** Every Markdown file below `docs`, as a page; `root` is the folder of the repository. */
export function guidePages(root) {
  return markdownFiles(root).map((file) => {
    const source = readFileSync(join(root, file), 'utf8')
    const { html, title, headings } = renderMarkdown(source, (href) => linkFrom(root, file, href))
    const [, first = ''] = /^# .*\n+([^\n#|`][^\n]*(?:\n[^\n]+)*)/m.exec(source) ?? []
    return {
      file,
      path: guidePath(file),
      title,
      description: first
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/[`*]/g, '')
        .replaceAll('\n', ' ')
        .slice(0, 200),
      kind: 'prose',
      headings,
      body: `<article class="prose">${html}</article>`,
    }
  })
}

/** The list of the guide as `docs/README.md` has it, sections with links to pages, and whatever it leaves out at the end. */
export function guideNav(root) {
  const source = readFileSync(join(root, FOLDER, 'README.md'), 'utf8')
  const sections = source
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title] = section.split('\n', 1)
      const links = [...section.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, text, href]) => ({
        text,
        href: guidePath(posix.join(FOLDER, href)),
      }))
      return {
        title,
        links: links.filter(({ href }, index) => links.findIndex((link) => link.href === href) === index),
      }
    })
    .filter(({ links }) => links.length > 0)
  const listed = sections.flatMap(({ links }) => links.map(({ href }) => href))
  const others = guidePages(root).filter(({ path }) => path !== '/docs/guide' && !listed.includes(path))
  if (others.length === 0) return sections
  return [...sections, { title: 'More', links: others.map(({ path, title }) => ({ href: path, text: title })) }]
}

function markdownFiles(root) {
  return filesBelow(root).filter((file) => file.endsWith('.md'))
}

/** Pictures and whatever else pages show. */
export function guideFiles(root) {
  return filesBelow(root).filter((file) => /\.(svg|png|json)$/.test(file))
}

function filesBelow(root) {
  return readdirSync(join(root, FOLDER), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .sort()
}

/** Where a link of a Markdown file leads on these pages; undefined for files that only the repository has. */
function linkFrom(root, file, href) {
  if (href.startsWith(OWN)) return href.slice(OWN.length) || '/'
  if (/^[a-z][a-z0-9+.-]*:/i.test(href) || href.startsWith('#') || href.startsWith('/')) return href
  const [path, anchor] = href.split('#')
  const target = posix.normalize(posix.join(dirname(file), path)).replace(/\/$/, '/README.md')
  if (!target.startsWith(`${FOLDER}/`) || !existsSync(join(root, target))) return undefined
  const place = target.endsWith('.md') ? guidePath(target) : `/docs/guide/${target.slice(FOLDER.length + 1)}`
  return anchor === undefined ? place : `${place}#${anchor}`
}
