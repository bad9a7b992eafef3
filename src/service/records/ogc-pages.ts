/** The resources of OGC API Features as pages for people, built from their JSON. The pages have no script. */

/** Members of a feature's properties that a list of features shows, in this order. */
const COLUMNS = ['chain', 'event_timestamp', 'location_type', 'memo', 'prover', 'revoked', 'finalized'] as const
const MAX_TEXT = 80

// The colours of web/styles/tokens.css, light and dark.
const STYLE = `
:root{color-scheme:light dark;--paper:#f6f5f0;--surface:#fff;--line:#dddad0;--ink:#14181b;--quiet:#434b52;--accent:#1d4ed8}
@media(prefers-color-scheme:dark){:root{--paper:#14181b;--surface:#1d2226;--line:#3a4147;--ink:#f0eee7;--quiet:#b5b1a4;--accent:#9db7ff}}
body{background:var(--paper);color:var(--ink);font:0.9375rem/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}
a{color:var(--accent)}table{background:var(--surface);border-collapse:collapse;display:block;overflow-x:auto}
td,th{border:1px solid var(--line);padding:.3rem .6rem;text-align:left;vertical-align:top}th{color:var(--quiet);font-weight:500}
pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}`

interface Link {
  readonly rel: string
  readonly href: string
  readonly type?: string
  readonly title?: string
}

type Json = Readonly<Record<string, unknown>>

/**
 * Returns the page of a resource: its links, and its other members as a table. Features become rows.
 *
 * @param json the resource as clients other than browsers get it
 * @param home URL of the landing page
 */
export function resourcePage(title: string, json: string, home: string): string {
  const { links = [], features, collections, ...members } = JSON.parse(json) as Json & { links?: readonly Link[] }
  const parts = [
    linkList([...links, ...((collections as readonly { links: readonly Link[] }[]) ?? []).flatMap((c) => c.links)]),
    memberTable(members),
    ...(features === undefined ? [] : [featureTable(features as readonly Feature[], home)]),
  ]
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>
<style>${STYLE}</style></head>
<body><p><a href="${escapeHtml(home)}">OGC API</a></p><h1>${escapeHtml(title)}</h1>
${parts.join('\n')}
</body></html>
`
}

function linkList(links: readonly Link[]): string {
  const items = links.map(
    ({ rel, href, type = '', title = rel }) =>
      `<li><a rel="${escapeHtml(rel)}" href="${escapeHtml(href)}">${escapeHtml(title)}</a> (${escapeHtml(type)})</li>`,
  )
  return `<ul>${items.join('\n')}</ul>`
}

function memberTable(members: Json): string {
  const rows = Object.entries(members).map(
    ([name, value]) =>
      `<tr><th scope="row">${escapeHtml(name)}</th><td><pre>${escapeHtml(
        typeof value === 'string' ? value : JSON.stringify(value, undefined, 1),
      )}</pre></td></tr>`,
  )
  return `<table>${rows.join('\n')}</table>`
}

interface Feature {
  readonly id: string
  readonly properties: Json
}

function featureTable(features: readonly Feature[], home: string): string {
  const rows = features.map(({ id, properties }) => {
    const cells = COLUMNS.map((name) => `<td>${escapeHtml(String(properties[name] ?? '').slice(0, MAX_TEXT))}</td>`)
    const href = `${home}/collections/location-records/items/${id}`
    return `<tr><td><a href="${escapeHtml(href)}">${id.slice(0, 10)}…</a></td>${cells.join('')}</tr>`
  })
  const head = ['uid', ...COLUMNS].map((name) => `<th scope="col">${name}</th>`).join('')
  return `<h2>Features</h2><table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
