/** Chooses the transport. uWebSockets.js is native code of a third party, so its binary is loaded only if its hash is known. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Log } from '../../base/log.ts'
import type { Config } from '../../config/config.ts'
import { NodeServer } from './node-server.ts'
import type { HttpHandler, HttpServer } from './port.ts'
import { createUwsServer, type UwsBinary } from './uws-server.ts'

/**
 * Creates the transport that `HTTP_ADAPTER` names. If uWebSockets.js does not load, logs the reason and uses node:http.
 *
 * @param load replaced by tests
 */
export function createHttpServer(
  config: Pick<Config, 'httpAdapter' | 'dataDir' | 'limits'>,
  handler: HttpHandler,
  log: Log,
  load: () => UwsLoad = () => loadInstalledUws([config.dataDir]),
): HttpServer {
  if (config.httpAdapter === 'uws') {
    const loaded = load()
    if (loaded.ok) return createUwsServer(loaded.uws, config.limits, handler)
    log.warn('http adapter falls back to node:http', { reason: loaded.reason })
  }
  return new NodeServer(config.limits, handler)
}

export type UwsLoad = { readonly ok: true; readonly uws: UwsBinary } | { readonly ok: false; readonly reason: string }

/**
 * SHA-256 of each binary of uwebsockets 3.0.6 for the supported Node releases (115: Node 20, 127: Node 22, 137: Node 24).
 * A third party repackages them, and native code runs with all rights of this process, so only these bytes are loaded.
 */
const KNOWN_SUMS: Readonly<Record<string, string>> = {
  'uws_darwin_arm64_115.node': 'f6132ac4d0954ce32ed716d5b367270904c5885bc6e01dcc8ae5809a8967d504',
  'uws_darwin_x64_115.node': '7552dc27e278be4a5f9ca4f571676e9046929ef8753b1bb63b84f78e1a752a11',
  'uws_linux_arm64_115.node': '034e0fcccdc08f90df3b130f421516311831b1352fe38eab91abc2984c2fdf3a',
  'uws_linux_arm_115.node': '4966e43e7620aba56bccfa54f784fd8a9e3816a19e561d211dc40ae9e9097e35',
  'uws_linux_x64_115.node': 'f4fa5d7b697529b45ac8aa3d57385d9af51bc1d2b26aa9f5b68ca4361542e665',
  'uws_win32_x64_115.node': '160eeb564c9e5887893f6b561fbcf39fecc6fbd6cacc86f461af67b3688d84fa',
  'uws_darwin_arm64_127.node': '84ab0c487fbbb895afbfa24c7ac02db5922b2eb468b3a4663aaca52af29b420c',
  'uws_darwin_x64_127.node': '1bcd63a9cd5cda811d899b80f9b1f7c9f29d128feafebe6976069ab1045a0335',
  'uws_linux_arm64_127.node': 'a7d9bc3ec166421a49416d5ea4f49118ae68ea1dbf8a765c4f45a79b0b6adb13',
  'uws_linux_x64_127.node': '78e38a9a163b1cf33ce539619e5908111dea95a12e7943d95fbcdd524879caa8',
  'uws_win32_x64_127.node': 'bf190a123983621f89f8ac667c354fd95f45b9b153095bdfe1167c50d1922746',
  'uws_darwin_arm64_137.node': 'dd7623e7e600dcc1384c4a639ac05849f0c27125be8c431b702e0513e86613f0',
  'uws_darwin_x64_137.node': '7df6e0b2be43048200370a64ee91d6563879f5d3b0207f846dc81377ffc4e189',
  'uws_linux_arm64_137.node': 'b6eb007d627e00bcce03ad38f197124e9027c03f6fe784b37f97b8a6ea709cb4',
  'uws_linux_x64_137.node': '3b549c14e01d9d1faf234cdf4b6f0fb08158605e3692cd0eb1b905e327bd3449',
  'uws_win32_x64_137.node': 'ad2eff4924594a5dba3b451334f432bd526c33885960f8b68e85261b0ac4ff07',
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
  if (expected === undefined) return { ok: false, reason: `no known binary for this platform (${name})` }
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
  // The usual failure: the binaries for Node.js 22 and 24 need a newer C library than that of Debian 12.
  const needed = /version [`']GLIBC_([\d.]+)' not found/.exec(line)?.[1]
  if (needed !== undefined) {
    const [release] = process.versions.node.split('.')
    return `uWebSockets.js for Node.js ${release} needs glibc ${needed} and this machine has ${glibcVersion()}`
  }
  // The message begins with the path, which does not belong in a log.
  return `${name} does not load: ${line.slice(line.lastIndexOf('/') + 1)}`
}

/** Returns the version of the C library, such as `2.36`; undefined where it is not glibc. */
export function glibcVersion(): string | undefined {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return header?.glibcVersionRuntime
}
