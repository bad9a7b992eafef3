/** Chooses the transport. uWebSockets.js is native code of a third party, so its binary is loaded only if its hash is known. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Log } from '../../base/log.ts'
import type { Config } from '../../config/config.ts'
import { NodeServer } from './node-server.ts'
import type { HttpHandler, HttpServer, TransportConfig } from './port.ts'
import { createUwsServer, type UwsBinary } from './uws-server.ts'

/**
 * Creates the transport that `HTTP_ADAPTER` names. If uWebSockets.js does not load, logs the reason and uses node:http.
 *
 * @param load replaced by tests
 */
export function createHttpServer(
  config: Pick<Config, 'httpAdapter' | 'dataDir'> & TransportConfig,
  handler: HttpHandler,
  log: Log,
  load: () => UwsLoad = () => loadInstalledUws([config.dataDir]),
): HttpServer {
  if (config.httpAdapter === 'uws') {
    const loaded = load()
    if (loaded.ok) return createUwsServer(loaded.uws, config, handler)
    log.warn('http adapter falls back to node:http', { reason: loaded.reason })
  }
  return new NodeServer(config, handler)
}

export type UwsLoad = { readonly ok: true; readonly uws: UwsBinary } | { readonly ok: false; readonly reason: string }

/**
 * SHA-256 of each binary of uwebsockets 3.0.6 that passes the tests: those for Node.js 20 (115).
 * A third party repackages them, and native code runs with all rights of this process, so only these bytes are loaded.
 *
 * The binaries for Node.js 22 (127) and 24 (137) are from a newer release of uWebSockets.js, need glibc 2.38, and must not be added as
 * they are. With that for Node.js 24, a stream of lines stops for ever when its client reads late, and a text that is not ASCII
 * but fits into Latin-1 is sent in Latin-1 (test/flood/batch-streams.test.ts and test/contract/http-routes.test.ts on Debian 13).
 */
const KNOWN_SUMS: Readonly<Record<string, string>> = {
  'uws_darwin_arm64_115.node': 'f6132ac4d0954ce32ed716d5b367270904c5885bc6e01dcc8ae5809a8967d504',
  'uws_darwin_x64_115.node': '7552dc27e278be4a5f9ca4f571676e9046929ef8753b1bb63b84f78e1a752a11',
  'uws_linux_arm64_115.node': '034e0fcccdc08f90df3b130f421516311831b1352fe38eab91abc2984c2fdf3a',
  'uws_linux_arm_115.node': '4966e43e7620aba56bccfa54f784fd8a9e3816a19e561d211dc40ae9e9097e35',
  'uws_linux_x64_115.node': 'f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665',
  'uws_win32_x64_115.node': '160eeb564c9e5887893f6b561fbcf39fecc6fbd6cacc86f461af67b3688d84fa',
}

/** Returns `uws_<platform>_<arch>_<abi>.node`, the file for the running Node. */
export function uwsFileName(): string {
  return `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`
}

/** Loaded only once, because a second copy would have its own event loop. */
let loaded: UwsLoad | undefined

/**
 * Loads the native transport, if there is a binary for this machine and its hash is known.
 *
 * @param folders tried for the private copy after the folder of temporary files, which is often mounted noexec
 */
export function loadInstalledUws(folders: readonly string[]): UwsLoad {
  const require = createRequire(import.meta.url)
  loaded ??= loadUws(() => require.resolve('uWebSockets.js'), dlopen, [tmpdir(), ...folders])
  return loaded
}

/**
 * Reads the binary once, checks its hash, and loads a copy of the checked bytes from a folder that only this user can enter. The
 * file in the package's folder could change between the check and the load.
 *
 * @param resolvePackage returns the path of the package's entry file
 * @param load loads a binary and returns its exports
 * @param folders for the copy, tried in this order
 */
export function loadUws(
  resolvePackage: () => string,
  load: (path: string) => unknown,
  folders: readonly string[] = [tmpdir()],
): UwsLoad {
  const name = uwsFileName()
  const expected = KNOWN_SUMS[name]
  if (expected === undefined) {
    return {
      ok: false,
      reason: `uWebSockets.js has no tested binary for Node.js ${nodeRelease()} on ${process.platform} ${process.arch}`,
    }
  }
  let bytes: Buffer
  try {
    bytes = readFileSync(join(dirname(resolvePackage()), name))
  } catch {
    return { ok: false, reason: 'uWebSockets.js is not installed' }
  }
  if (createHash('sha256').update(bytes).digest('hex') !== expected) {
    return { ok: false, reason: `${name} has an unknown sha256` }
  }
  let reason = ''
  for (const folder of folders) {
    try {
      return { ok: true, uws: loadCopy(bytes, folder, name, load) as UwsBinary }
    } catch (error) {
      reason ||= describeFailure(name, error)
    }
  }
  return { ok: false, reason }
}

function loadCopy(bytes: Buffer, folder: string, name: string, load: (path: string) => unknown): unknown {
  const privateFolder = mkdtempSync(join(folder, 'trigpoint-'))
  try {
    const path = join(privateFolder, name)
    writeFileSync(path, bytes, { flag: 'wx', mode: 0o500 })
    return load(path)
  } finally {
    try {
      rmSync(privateFolder, { recursive: true })
    } catch {
      // Windows cannot remove a loaded file.
    }
  }
}

function dlopen(path: string): unknown {
  const module = { exports: {} }
  process.dlopen(module, path)
  return module.exports
}

function describeFailure(name: string, error: unknown): string {
  const [line = ''] = String(error instanceof Error ? error.message : error).split('\n')
  const needed = /version [`']GLIBC_([\d.]+)' not found/.exec(line)?.[1]
  if (needed !== undefined) {
    return `uWebSockets.js for Node.js ${nodeRelease()} needs glibc ${needed} and this machine has ${glibcVersion()}`
  }
  // The message begins with the path, which does not belong in a log.
  return `${name} does not load: ${line.slice(line.lastIndexOf('/') + 1)}`
}

const nodeRelease = () => process.versions.node.split('.')[0]

/** Returns the version of the C library, such as `2.36`; undefined where it is not glibc. */
export function glibcVersion(): string | undefined {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return header?.glibcVersionRuntime
}
