// Builds `dist/empty-store.tar.gz`, the files of a new embedded database. A first start then unpacks 5 MB and does not run
// initdb, which takes seconds of processor time and 0.9 GB of memory.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const file = join(root, 'dist', 'empty-store.tar.gz')
const stamp = join(root, 'dist', '.empty-store-stamp')

function engineVersion() {
  return JSON.parse(readFileSync(join(root, 'node_modules/@electric-sql/pglite/package.json'), 'utf8')).version
}

/** Returns true when the installed engine made the file. */
export function isStoreFresh() {
  return existsSync(file) && existsSync(stamp) && readFileSync(stamp, 'utf8') === engineVersion()
}

if (fileURLToPath(import.meta.url) === process.argv[1]) {
  const { PGlite } = await import('@electric-sql/pglite')
  const engine = await PGlite.create()
  await engine.exec('checkpoint')
  const files = await engine.dumpDataDir('gzip')
  mkdirSync(join(root, 'dist'), { recursive: true })
  writeFileSync(file, Buffer.from(await files.arrayBuffer()))
  writeFileSync(stamp, engineVersion())
  await engine.close()
}
