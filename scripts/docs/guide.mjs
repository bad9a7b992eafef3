import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { renderMarkdown } from './markdown.mjs'

const FOLDER = 'docs'
/** Links that begin with this address lead to the service that serves the pages. */
const SERVICE_ADDRESS = 'http://127.0.0.1:3000'

/** Returns the path of a page: `docs/compute/area.md` → `/docs/guide/compute/area`; README.md is the page of its folder. */
export function guidePath(file) {
  const name = file
    .slice(`${FOLDER}/`.length)
    .replace(/\.md$/, '')
    .replace(/(^|\/)README$/, '')
  return name === '' ? '/docs/guide' : `/docs/guide/${name}`
}

/** Renders every Markdown file below `docs` as a page. @param root folder of the repository */
export function guidePages(root) {
  return markdownFiles(root).map((file) => {
    const source = readFileSync(join(root, file), 'utf8')
    const { html, title, headings } = renderMarkdown(source, (href) => resolveLink(root, file, href))
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

/** Builds the navigation of the guide: the sections and links of `docs/README.md`, and then all other pages. */
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
  return listFiles(root).filter((file) => file.endsWith('.md'))
}

/** Lists pictures and data files that pages use. */
export function guideFiles(root) {
  return listFiles(root).filter((file) => /\.(svg|png|json)$/.test(file))
}

function listFiles(root) {
  return readdirSync(join(root, FOLDER), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .sort()
}

/** Converts a link of a Markdown file to one of these pages; undefined for files that are only in the repository. */
function resolveLink(root, file, href) {
  if (href.startsWith(SERVICE_ADDRESS)) return href.slice(SERVICE_ADDRESS.length) || '/'
  if (/^[a-z][a-z0-9+.-]*:/i.test(href) || href.startsWith('#') || href.startsWith('/')) return href
  const [path, anchor] = href.split('#')
  const target = posix.normalize(posix.join(dirname(file), path)).replace(/\/$/, '/README.md')
  if (!target.startsWith(`${FOLDER}/`) || !existsSync(join(root, target))) return undefined
  const address = target.endsWith('.md') ? guidePath(target) : `/docs/guide/${target.slice(FOLDER.length + 1)}`
  return anchor === undefined ? address : `${address}#${anchor}`
}
