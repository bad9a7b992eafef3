import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ProblemError } from '../problem.ts'
import { get } from './get-route.ts'
import type { RequestHead } from './request-head.ts'
import type { Route, RouteAnswer } from './routes.ts'

/** Files of one folder of the build, as answers. */
export interface Assets {
  has(name: string): boolean
  /**
   * Brotli or gzip when the client takes it and the build made it, 304 when the client has it already.
   *
   * @param name path below the folder; '' is its `index.html`, and a page's name needs no `.html`
   * @throws {ProblemError} `not-found`
   */
  answer(name: string, head: Pick<RequestHead, 'acceptEncoding' | 'ifNoneMatch'>): Promise<RouteAnswer>
}

/** Pages that carry everything in files of their own. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** A page with a map: it also draws in workers and compiles the kernel. Nothing may come from elsewhere either. */
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

/** In the order of preference: coding, ending of the file that the build put beside the plain one. */
const CODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

interface Loaded {
  readonly bytes: Uint8Array
  readonly etag: string
}

/** A folder of the build below `dist/web`, wherever this file runs from. */
export function builtFolder(name: string): string {
  return fileURLToPath(
    new URL(`${import.meta.url.endsWith('.ts') ? '../../dist' : '../..'}/web/${name}`, import.meta.url),
  )
}

/**
 * Looks up what there is once, and reads each file when it is first asked for: only names of that list are ever opened.
 * A folder that was not built is an empty one.
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
  // As many entries as the build has files.
  const loaded = new Map<string, Promise<Loaded>>()

  return {
    has: (name) => names.has(name),
    async answer(name, { acceptEncoding, ifNoneMatch }) {
      const file = names.get(name)
      if (file === undefined) throw new ProblemError({ type: 'not-found', detail: notFound(files.size > 0) })
      const coding = CODINGS.find(([coding, ending]) => files.has(file + ending) && takes(acceptEncoding, coding))
      const { bytes, etag } = await load(coding === undefined ? file : file + coding[1])
      const headers: Record<string, string> = {
        // The build puts a digest into the names of the files it keeps in folders called assets.
        'Cache-Control': /(^|\/)assets\//.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache',
        ETag: etag,
        Vary: 'Accept-Encoding',
      }
      if (file.endsWith('.html')) headers['Content-Security-Policy'] = policy
      if (hasTag(ifNoneMatch, etag)) return { status: 304, kind: 'asset', json: '', headers }
      headers['Content-Type'] = TYPES[extname(file)] ?? 'application/octet-stream'
      if (coding !== undefined) headers['Content-Encoding'] = coding[0]
      return { kind: 'asset', json: bytes, headers }
    },
  }

  function load(file: string): Promise<Loaded> {
    const known = loaded.get(file)
    if (known !== undefined) return known
    const reading = readFile(join(folder, file)).then(
      (bytes) => ({ bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` }),
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error
        const detail = 'the pages were built anew since this service started: start it again'
        throw new ProblemError({ type: 'not-found', detail })
      },
    )
    loaded.set(file, reading)
    // A build under way may have taken the file away for a moment.
    reading.catch(() => loaded.delete(file))
    return reading
  }
}

/**
 * The routes of a folder: itself and everything below it.
 *
 * @param prefix path of the folder, e.g. `/docs`
 */
export function serveAssets(prefix: string, assets: Assets, summary: string): Route[] {
  return [
    get(prefix, summary, ({ exchange }) => assets.answer('', exchange.head)),
    get(`${prefix}/*`, `files of ${prefix}`, ({ exchange, parameter }) => assets.answer(parameter, exchange.head)),
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

function notFound(isBuilt: boolean): string {
  return isBuilt
    ? 'there is no such page or file; GET / lists every route'
    : 'this installation was built without its pages; npm run build makes them'
}

/** Whether `Accept-Encoding` names a coding with a weight above 0 (RFC 9110, section 12.5.3). */
function takes(header: string | undefined, coding: string): boolean {
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [name, ...parameters] = part.split(';').map((text) => text.trim())
    if (name === coding) return !parameters.some((text) => /^q=0(\.0*)?$/.test(text))
  }
  return false
}

/** Weak comparison, as `If-None-Match` asks for (RFC 9110, section 13.1.2). */
function hasTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
