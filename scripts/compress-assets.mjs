// Puts a brotli and a gzip form beside each file of a folder that gets smaller by it, so that the service never compresses.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const COMPRESSIBLE = new Set([
  '.html',
  '.css',
  '.js',
  '.mjs',
  '.json',
  '.geojson',
  '.svg',
  '.txt',
  '.md',
  '.wasm',
  '.ico',
])
const SMALLEST_BYTES = 1024
/** Beyond it the best quality takes seconds for a few percent. */
const BEST_QUALITY_BYTES = 400_000

/** @param folder absolute; everything below it */
export async function compressAssets(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && COMPRESSIBLE.has(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name))
  await Promise.all(
    files.map(async (file) => {
      const bytes = readFileSync(file)
      if (bytes.length < SMALLEST_BYTES) return
      const quality = bytes.length > BEST_QUALITY_BYTES ? 9 : 11
      const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
      const forms = [
        ['.br', await promisify(brotliCompress)(bytes, { params })],
        ['.gz', await promisify(gzip)(bytes, { level: 9 })],
      ]
      for (const [ending, form] of forms) if (form.length < bytes.length) writeFileSync(file + ending, form)
    }),
  )
}
