import type { Identity } from '../service/services.ts'
import type { Route } from './routes.ts'

export interface RootPage {
  /** Absolute, without a slash at the end. */
  readonly baseUrl: string
  readonly identity: Identity
  readonly routes: readonly Route[]
}

const TITLE = 'Trigpoint'
const DESCRIPTION = 'Answers spatial questions with signed facts: geodesic measures and predicates as attestations'

/** Relations of the record API first, as its clients expect them, then ours (decision 48). One without a route is left out. */
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

/** Body of `GET /`: what the record API's clients read and what the compute API's clients read (decision 87). */
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
    endpoints: endpointsOf(routes),
    attester: identity.attester,
    commit: identity.commit,
  })
}

/** Body of the index of one folder, `/api/v0` say: what `GET /` says of the routes below it. */
export function folderJson({ baseUrl, routes }: Omit<RootPage, 'identity'>, folder: string): string {
  const below = routes.filter(({ path }) => path.startsWith(`${folder}/`))
  return JSON.stringify({
    title: TITLE,
    version: 'v0',
    links: [{ rel: 'self', href: `${baseUrl}${folder}`, type: 'application/json' }],
    endpoints: endpointsOf(below),
  })
}

function endpointsOf(routes: readonly Route[]): Readonly<Record<string, string>> {
  return Object.fromEntries(routes.map(({ method, path, summary }) => [path, `${method}: ${summary}`]))
}

/** The same for a browser. */
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
