// Builds the pages of /docs, /docs/guide and /errors into dist/web/docs, from the OpenAPI document of the built service, docs/
// and web/reference; and the files of the root into dist/web/site. Rebuilds only when a source has changed.
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { compressAssets } from './compress-assets.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const web = join(root, 'dist', 'web')
const stampFile = join(web, '.docs-stamp')
/** The sources of the pages. The two in dist represent the code and schemas that they are compiled from. */
const SOURCES = [
  'docs',
  'web/reference',
  'web/styles',
  'web/public/theme.js',
  'web/site',
  'scripts/docs',
  'scripts/build-docs.mjs',
  'dist/src/http',
  'dist/schemas',
]
const ADDRESSES = { baseUrl: 'http://127.0.0.1:3000', errorTypeBase: 'http://127.0.0.1:3000/errors' }

/** Returns true when no source has changed since the pages were built. */
export function areDocsFresh() {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === digestSources()
}

/** Builds the pages if needed. */
export async function buildDocs() {
  if (areDocsFresh()) return
  const digest = digestSources()
  const importFresh = (file) => import(`${pathToFileURL(join(root, file)).href}?${digest}`)
  const [{ openApiDocument }, { problemPages }, reference, guide, { errorPages }, { layout }] = await Promise.all([
    importFresh('dist/src/http/openapi/document.js'),
    importFresh('dist/src/http/pages/problem-pages.js'),
    importFresh('scripts/docs/reference.mjs'),
    importFresh('scripts/docs/guide.mjs'),
    importFresh('scripts/docs/error-pages.mjs'),
    importFresh('scripts/docs/layout.mjs'),
  ])
  const document = JSON.parse(JSON.stringify(openApiDocument()))
  const temporary = join(web, `docs.${process.pid}.tmp`)
  mkdirSync(join(temporary, 'assets'), { recursive: true })
  const introduction = readFileSync(join(root, 'web/reference/introduction.md'), 'utf8')
  const pages = [
    reference.overviewPage(document, introduction),
    ...reference.tagPages(document),
    reference.schemasPage(document),
    ...guide.guidePages(root),
    ...errorPages(problemPages(ADDRESSES)),
    NOT_FOUND_PAGE,
  ]
  const files = writeAssets(temporary, searchIndex(pages, reference.operationsOf(document)))
  const referenceNav = createReferenceNav(reference, document)
  const guideNav = guide.guideNav(root)
  for (const page of pages) {
    const nav = page.path.startsWith('/docs/guide') ? guideNav : referenceNav
    const name = page.path.replace(/^\/(docs\/?)?/, '') || 'index'
    const isFolder = pages.some(({ path }) => path.startsWith(`${page.path}/`))
    const file = join(temporary, name === 'index' ? 'index.html' : isFolder ? `${name}/index.html` : `${name}.html`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, layout(page, { nav, ...files }))
  }
  for (const file of guide.guideFiles(root)) {
    const target = join(temporary, 'guide', file.slice('docs/'.length))
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(join(root, file), target)
  }
  await compressAssets(temporary)
  rmSync(join(web, 'docs'), { recursive: true, force: true })
  renameSync(temporary, join(web, 'docs'))
  await writeSite()
  writeFileSync(stampFile, digest)
}

/** The page for addresses that do not exist. The service replaces `{path}` (src/http/routes/page-routes.ts). */
const NOT_FOUND_PAGE = {
  path: '/no-such-page',
  title: 'Page not found',
  description: 'There is no page at this address.',
  kind: 'prose',
  body: `<article class="prose"><h1><span class="status bad">404</span> Page not found</h1>
<p class="lead">There is nothing at <code>{path}</code>. Try one of these:</p>
<ul><li><a href="/explore">The explorer</a>: compute on a map, and verify the result</li>
<li><a href="/docs">The reference</a>: every route of the API</li>
<li><a href="/docs/guide">The guide</a>: how the service works, and how to run it</li></ul></article>`,
}

/** Writes the assets with a digest of their content in the name, so that clients may cache them for ever. */
function writeAssets(folder, index) {
  const read = (file) => readFileSync(join(root, 'web', file), 'utf8')
  const write = (name, extension, text) => {
    const digest = createHash('sha256').update(text).digest('hex').slice(0, 10)
    writeFileSync(join(folder, 'assets', `${name}-${digest}.${extension}`), text)
    return `/docs/assets/${name}-${digest}.${extension}`
  }
  const search = write('search', 'json', JSON.stringify(index))
  return {
    style: write(
      'reference',
      'css',
      ['styles/tokens.css', 'styles/base.css', 'styles/controls.css', 'styles/top.css', 'reference/reference.css']
        .map(read)
        .join('\n'),
    ),
    script: write('reference', 'js', read('reference/reference.js').replaceAll('SEARCH_INDEX', search)),
    theme: write('theme', 'js', read('public/theme.js')),
  }
}

function createReferenceNav({ operationsOf, tagPath }, document) {
  const tags = operationsOf(document).map(({ name, operations }) => ({
    text: name,
    href: tagPath(name),
    children: operations.map(({ summary, operationId, method }) => ({
      text: summary,
      href: `${tagPath(name)}#${operationId}`,
      method,
    })),
  }))
  return [
    { title: 'Reference', links: [{ text: 'Overview', href: '/docs' }, ...tags] },
    {
      title: 'More',
      links: [
        { text: 'Schemas', href: '/docs/schemas' },
        { text: 'Errors', href: '/errors' },
        { text: 'openapi.json', href: '/openapi.json' },
        { text: 'Guide', href: '/docs/guide' },
      ],
    },
  ]
}

/** Builds the search index: title, address and section of each entry. */
function searchIndex(pages, tags) {
  const operations = tags.flatMap(({ name, operations: tagOperations }) =>
    tagOperations.map(({ summary, method, path, operationId }) => [
      `${summary} — ${method} ${path}`,
      `/docs/${name.toLowerCase().replaceAll(' ', '-')}#${operationId}`,
      name,
    ]),
  )
  const texts = pages
    .filter((page) => page.kind === 'prose' && page !== NOT_FOUND_PAGE)
    .flatMap(({ title, path, headings = [] }) => [
      [title, path, path.startsWith('/errors') ? 'Errors' : path.startsWith('/docs/guide') ? 'Guide' : 'Reference'],
      ...headings.map(({ id, text }) => [text, `${path}#${id}`, title]),
    ])
  return [...operations, ...texts]
}

async function writeSite() {
  const target = join(web, 'site')
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  for (const file of readdirSync(join(root, 'web/site'))) copyFileSync(join(root, 'web/site', file), join(target, file))
  await compressAssets(target)
}

function digestSources() {
  const hash = createHash('sha256')
  const visit = (path) => {
    let names
    try {
      names = readdirSync(join(root, path), { withFileTypes: true })
    } catch {
      hash.update(`${path}\n`).update(readFileSync(join(root, path)))
      return
    }
    for (const entry of names.sort((a, b) => (a.name < b.name ? -1 : 1))) visit(`${path}/${entry.name}`)
  }
  for (const source of SOURCES) visit(source)
  return hash.digest('hex')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildDocs()
