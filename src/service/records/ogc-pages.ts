/** The resources of OGC API Features as pages for people, built from their JSON. The pages have no script. */
import { clip, escapeHtml, visibleText } from '../../base/text.ts'
import type { FeatureProperties } from './documents.ts'

/** Members of a feature's properties that a list of features shows, in this order. */
const COLUMNS = ['chain', 'event_timestamp', 'location_type', 'memo', 'prover', 'revoked', 'finalized'] as const
/** Longest text in a cell of the list of features, in UTF-16 units. */
const MAX_CELL = 80
/** Longest text within a member, and longest member. */
const MAX_TEXT = 600
const MAX_MEMBER = 12_000

/**
 * The style of pages that the service builds itself. Their policy allows no other. The colours are those of
 * web/styles/tokens.css, light and dark.
 */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--paper:#f6f5f0;--surface:#fff;--line:#dddad0;--ink:#14181b;--quiet:#434b52;--accent:#1d4ed8}
@media(prefers-color-scheme:dark){:root{--paper:#0e1215;--surface:#151a1e;--line:#262e34;--ink:#eef1f2;--quiet:#b9c2c8;--accent:#86a8ff}}
*{box-sizing:border-box}
body{background:var(--paper);color:var(--ink);font:0.9375rem/1.5 system-ui,sans-serif;margin:1.5rem auto 0;max-width:78rem;padding:0 1rem 3rem}
h1,h2{line-height:1.25;overflow-wrap:anywhere}h1{font-size:1.5rem;margin:.5rem 0 1rem}h2{font-size:1.125rem;margin:2rem 0 .75rem}
a{color:var(--accent)}nav ul{padding-left:1.25rem}
.list{overflow-x:auto}table{background:var(--surface);border-collapse:collapse;width:100%}
td,th{border:1px solid var(--line);padding:.35rem .6rem;text-align:left;vertical-align:top}th{color:var(--quiet);font-weight:500;white-space:nowrap}td{overflow-wrap:anywhere}
.list td:is(:first-child,:nth-child(2),:nth-child(3),:nth-child(6)){white-space:nowrap}.list td:nth-child(4){min-width:9rem}.list td:nth-child(5){min-width:14rem}.members{table-layout:fixed}th[scope=row]{width:9rem;overflow-wrap:anywhere}
pre{font:0.8125rem/1.5 ui-monospace,monospace;margin:0;white-space:pre-wrap;overflow:hidden;overflow-wrap:anywhere}`

interface Link {
  readonly rel: string
  readonly href: string
  readonly title?: string
}

interface Collection {
  readonly title: string
  readonly description: string
  readonly links: readonly Link[]
}

type Json = Readonly<Record<string, unknown>>

/** What links without a title are called, by their relation. */
const WORDS: Readonly<Record<string, string>> = {
  collection: 'The collection',
  next: 'Next page',
}

/**
 * Returns the page of a resource: its links, and its other members as a table.
 *
 * @param json the resource as clients other than browsers get it, without its features
 * @param baseUrl URL of the service, without a trailing slash
 * @param table its features, from `featureTable`
 */
export function resourcePage(title: string, json: string, baseUrl: string, table = ''): string {
  const {
    links = [],
    collections = [],
    ...members
  } = JSON.parse(json) as Json & { links?: readonly Link[]; collections?: readonly Collection[] }
  const self = links.find(({ rel }) => rel === 'self')
  const asJson = { rel: 'alternate', href: jsonAddress(self?.href), title: 'This page as JSON, for programs' }
  const parts = [
    linkList('Links', [...links.filter((link) => link !== self), asJson]),
    ...collections.map(
      (collection) =>
        `<h2>${escapeHtml(collection.title)}</h2><p>${escapeHtml(collection.description)}</p>` +
        linkList(
          collection.title,
          collection.links.map((link) => (link.rel === 'self' ? { ...link, title: 'About this collection' } : link)),
        ),
    ),
    memberTable(members),
    table,
  ]
  return page(title, baseUrl, parts.join('\n'))
}

/** Returns the page that a browser gets instead of an error in JSON. */
export function errorPage(title: string, detail: string): string {
  return page(title, '', `<p>${isolated(detail)}</p>`)
}

/** @param baseUrl may be empty: links then have a path only */
function page(title: string, baseUrl: string, content: string): string {
  const places = [
    ['/', 'Trigpoint'],
    ['/ogc', 'Location records for GIS'],
    ['/docs/guide/ogc', 'Guide'],
    ['/explore/records', 'Records on a map'],
  ].map(([path, text]) => `<a href="${escapeHtml(baseUrl + path)}">${text}</a>`)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>
<style>${PAGE_STYLE}</style></head>
<body><header><nav aria-label="Service">${places.join(' · ')}</nav></header><main><h1>${escapeHtml(title)}</h1>
${content}
</main></body></html>
`
}

/**
 * Returns the address of the JSON of a page, relative to the page.
 *
 * @param self URL of the page; undefined if it has no parameters but `f`
 */
function jsonAddress(self = ''): string {
  const parameters = new URLSearchParams(self.split('?')[1])
  parameters.set('f', 'json')
  return `?${parameters}`
}

/** @param label names the list for screen readers */
function linkList(label: string, links: readonly Link[]): string {
  const items = links.map(
    ({ rel, href, title = WORDS[rel] ?? rel }) =>
      `<li><a rel="${escapeHtml(rel)}" href="${escapeHtml(href)}">${escapeHtml(title)}</a></li>`,
  )
  return `<nav aria-label="${escapeHtml(label)}"><ul>${items.join('\n')}</ul></nav>`
}

/** Shows each member as text. Long texts are cut, because the JSON has them in full. */
function memberTable(members: Json): string {
  let isCut = false
  const cut = (text: string, length: number) => {
    isCut ||= text.length > length
    return clip(text, length)
  }
  const cutText = (_: string, value: unknown) => (typeof value === 'string' ? cut(value, MAX_TEXT) : value)
  const rows = Object.entries(members).map(([name, value]) => {
    const text = typeof value === 'string' ? value : compactNumbers(JSON.stringify(value, cutText, 1))
    return `<tr><th scope="row">${escapeHtml(name)}</th><td><pre>${isolated(cut(text, MAX_MEMBER))}</pre></td></tr>`
  })
  if (rows.length === 0) return ''
  const table = `<table class="members">${rows.join('\n')}</table>`
  return isCut ? `<p>Long texts are cut here. <a href="?f=json">The JSON has them in full.</a></p>${table}` : table
}

/** Joins the lines of each array of numbers, such as a position or a box. A string of JSON contains no line break. */
function compactNumbers(json: string): string {
  return json.replace(/\[\n *(-?\d[^[\]{}"]*?)\n *\]/g, (_, numbers: string) => `[${numbers.replace(/,\n */g, ', ')}]`)
}

/** Why a list has no features, for people. */
const WHY_EMPTY = {
  end: 'The list ends before this page.',
  filter: 'There are no features: no record matches all parameters of this address.',
  'no-chain':
    'There are no features, because this service reads no chain: its operator has set no endpoint (<code>RPC_URL_&lt;chainId&gt;</code>). <a href="/docs/guide/sync">From chains to records</a> says how.',
  waiting:
    'There are no features yet: the service has found no such record in the blocks that it has read. <a href="/api/sync/status">How far it has read</a>',
} as const

/**
 * Returns the features of a list as rows, or a sentence if there are none.
 *
 * @param items URL of the list
 */
export function featureTable(
  features: readonly FeatureProperties[],
  items: string,
  whyEmpty: keyof typeof WHY_EMPTY,
): string {
  const heading = '<h2 id="features">Features</h2>'
  if (features.length === 0) {
    const all = whyEmpty === 'end' || whyEmpty === 'filter'
    const link = all ? ` <a href="${escapeHtml(items)}">All features of this collection</a>` : ''
    return `${heading}<p>${WHY_EMPTY[whyEmpty]}${link}</p>`
  }
  const rows = features.map(({ id, properties }) => {
    const cells = COLUMNS.map((name) => `<td>${isolated(cellText(name, String(properties[name] ?? '')))}</td>`)
    return `<tr><td><a href="${escapeHtml(`${items}/${id}`)}">${id.slice(0, 10)}…</a></td>${cells.join('')}</tr>`
  })
  const head = ['uid', ...COLUMNS].map((name) => `<th scope="col">${name}</th>`).join('')
  return `${heading}<div class="list" role="region" aria-labelledby="features" tabindex="0">
<table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`
}

function cellText(name: (typeof COLUMNS)[number], text: string): string {
  return name === 'prover' ? `${text.slice(0, 8)}…${text.slice(-6)}` : clip(text, MAX_CELL)
}

/** Shows text of anyone. Its direction does not affect the text around it. */
function isolated(text: string): string {
  return `<bdi>${escapeHtml(visibleText(text))}</bdi>`
}
