import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ProblemError } from '../../base/problem.ts'
import type { Route, RouteResult } from '../routes/route.ts'
import { getRoute } from '../routes/route.ts'
import type { RequestHead } from '../transport/request-head.ts'

/** The files of one folder of the build, served as HTTP responses. */
export interface Assets {
  has(name: string): boolean
  /**
   * Returns a file, compressed with Brotli or gzip if the client accepts that and the build made such a file. Returns 304 if
   * the client has the file already.
   *
   * @param name path below the folder; '' is its `index.html`, and a page's name needs no `.html`
   * @throws {ProblemError} `not-found`
   */
  answer(name: string, head: Pick<RequestHead, 'acceptEncoding' | 'ifNoneMatch'>): Promise<RouteResult>
}

/** `Content-Security-Policy` of pages that load everything from this service. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Policy of pages with a map, which also run workers and compile the kernel. They load nothing from other origins either. */
export const MAP_POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; " +
  "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'"

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.geojson': 'application/geo+json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
}

/** Content codings in order of preference, each with the suffix of the compressed files that the build writes. */
const CODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

interface Loaded {
  readonly bytes: Uint8Array
  readonly etag: string
}

/** Returns the path of a folder below `dist/web`, whether this file runs from `src` or from `dist`. */
export function builtFolder(name: string): string {
  return fileURLToPath(
    new URL(`${import.meta.url.endsWith('.ts') ? '../../../dist' : '../../..'}/web/${name}`, import.meta.url),
  )
}

/**
 * Lists a folder once and reads each file at its first request, so only listed files are ever opened. A folder that was not
 * built counts as empty.
 *
 * @param folder absolute
 * @param policy `Content-Security-Policy` of its pages
 */
export function openAssets(folder: string, policy: string = PAGE_POLICY): Assets {
  const files = new Set(filesBelow(folder))
  const names = new Map<string, string>()
  for (const file of files) {
    if (/\.(br|gz)$/.test(file)) continue
    names.set(file, file)
    if (file.endsWith('.html')) names.set(file.slice(0, -'.html'.length), file)
    if (/(^|\/)index\.html$/.test(file)) names.set(file.replace(/\/?index\.html$/, ''), file)
  }
  // Bounded by the number of files in the build.
  const loaded = new Map<string, Promise<Loaded>>()

  return {
    has: (name) => names.has(name),
    async answer(name, { acceptEncoding, ifNoneMatch }) {
      const file = names.get(name)
      if (file === undefined) throw new ProblemError({ type: 'not-found', detail: notFoundDetail(files.size > 0) })
      const coding = CODINGS.find(
        ([coding, suffix]) => files.has(file + suffix) && acceptsCoding(acceptEncoding, coding),
      )
      const { bytes, etag } = await load(coding === undefined ? file : file + coding[1])
      const headers: Record<string, string> = {
        // The build puts a digest into the names of files below `assets`, so they never change.
        'Cache-Control': /(^|\/)assets\//.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache',
        ETag: etag,
        Vary: 'Accept-Encoding',
      }
      if (file.endsWith('.html')) headers['Content-Security-Policy'] = policy
      if (namesTag(ifNoneMatch, etag)) return { status: 304, kind: 'asset', json: '', headers }
      headers['Content-Type'] = TYPES[extname(file)] ?? 'application/octet-stream'
      if (coding !== undefined) headers['Content-Encoding'] = coding[0]
      return { kind: 'asset', json: bytes, headers }
    },
  }

  function load(file: string): Promise<Loaded> {
    const cached = loaded.get(file)
    if (cached !== undefined) return cached
    const reading = readFile(join(folder, file)).then(
      (bytes) => ({ bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` }),
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
        const detail = 'the pages were rebuilt after this service started; restart the service'
        throw new ProblemError({ type: 'not-found', detail })
      },
    )
    loaded.set(file, reading)
    // A build in progress may have removed the file for a moment, so the next request reads it again.
    reading.catch(() => loaded.delete(file))
    return reading
  }
}

/**
 * Returns the routes of a folder: its index page and every file below it.
 *
 * @param prefix path of the folder, e.g. `/docs`
 */
export function serveAssets(prefix: string, assets: Assets, summary: string): Route[] {
  return [
    getRoute(prefix, summary, ({ exchange }) => assets.answer('', exchange.head)),
    getRoute(`${prefix}/*`, `files of ${prefix}`, ({ exchange, parameter }) => assets.answer(parameter, exchange.head)),
  ]
}

function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

function notFoundDetail(isBuilt: boolean): string {
  return isBuilt
    ? 'there is no such page or file; GET / lists every route'
    : 'this installation was built without its pages; run npm run build to make them'
}

/** Returns true if `Accept-Encoding` names a coding with a weight above 0 (RFC 9110, section 12.5.3). */
function acceptsCoding(header: string | undefined, coding: string): boolean {
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [name, ...parameters] = part.split(';').map((text) => text.trim())
    if (name === coding) return !parameters.some((text) => /^q=0(\.0*)?$/.test(text))
  }
  return false
}

/** Compares tags weakly, as `If-None-Match` requires (RFC 9110, section 13.1.2). */
function namesTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
