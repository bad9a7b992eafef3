import type { Identity } from '../../service/services.ts'
import type { Route } from '../routes/routes.ts'

export interface RootPage {
  /** Absolute, without a slash at the end. */
  readonly baseUrl: string
  readonly identity: Identity
  readonly routes: readonly Route[]
}

const TITLE = 'Trigpoint'
const DESCRIPTION = 'Answers spatial questions with signed facts: geodesic measures and predicates as attestations'

/** Relations of the record API first, as its clients expect, then the others (decision 48). Links without a route are left out. */
const LINKS: readonly (readonly [rel: string, path: string, type?: string])[] = [
  ['self', '/'],
  ['api', '/api/v0'],
  ['config', '/api/v0/config'],
  ['sync', '/api/sync/status'],
  ['location-proofs', '/api/v0/location-proofs'],
  ['location-records', '/api/v0/location-records'],
  ['compute', '/compute/v0'],
  ['verify', '/verify/v0'],
  ['openapi', '/openapi.json'],
  ['docs', '/docs', 'text/html'],
  ['explorer', '/explore', 'text/html'],
  ['llms', '/llms.txt', 'text/plain'],
]

/** Returns the body of `GET /`, with the members that clients of the record API and of the compute API read (decision 87). */
export function rootJson({ baseUrl, identity, routes }: RootPage): string {
  return JSON.stringify({
    title: TITLE,
    description: DESCRIPTION,
    version: 'v0',
    links: LINKS.filter(([, path]) => routes.some((route) => route.path === path)).map(
      ([rel, path, type = 'application/json']) => ({
        rel,
        href: `${baseUrl}${path}`,
        type,
      }),
    ),
    name: TITLE,
    endpoints: describeEndpoints(routes),
    attester: identity.attester,
    commit: identity.commit,
  })
}

/** Returns the index of one folder, e.g. `/api/v0`: the routes below it as in `GET /`. */
export function folderJson({ baseUrl, routes }: Omit<RootPage, 'identity'>, folder: string): string {
  const below = routes.filter(({ path }) => path.startsWith(`${folder}/`))
  return JSON.stringify({
    title: TITLE,
    version: 'v0',
    links: [{ rel: 'self', href: `${baseUrl}${folder}`, type: 'application/json' }],
    endpoints: describeEndpoints(below),
  })
}

function describeEndpoints(routes: readonly Route[]): Readonly<Record<string, string>> {
  return Object.fromEntries(routes.map(({ method, path, summary }) => [path, `${method}: ${summary}`]))
}

/** Returns `GET /` as HTML, for installations without the explorer. */
export function rootHtml({ baseUrl, identity, routes }: RootPage): string {
  const rows = routes.map(
    ({ method, path, summary }) =>
      `<tr><td>${method}</td><td>${escapeHtml(path)}</td><td>${escapeHtml(summary)}</td></tr>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${TITLE}</title>
<style>body{font-family:sans-serif;margin:2rem auto;max-width:50rem}td{padding:.2rem .8rem .2rem 0}</style></head>
<body><h1>${TITLE}</h1><p>${escapeHtml(DESCRIPTION)}.</p>
<p>Attester ${escapeHtml(identity.attester)} at ${escapeHtml(baseUrl)}</p>
<table>${rows.join('\n')}</table></body></html>
`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
