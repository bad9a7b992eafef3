// Compresses the files of a folder with brotli and gzip ahead of time, so that the service never has to. A compressed copy is
// kept only if it is smaller.
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
/** Smaller files are not compressed. */
const MIN_BYTES = 1024
/** Larger files are compressed with a lower quality: the best one takes seconds and saves only a few percent more. */
const MAX_BEST_QUALITY_BYTES = 400_000

/** Compresses all files below a folder. @param folder an absolute path */
export async function compressAssets(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && COMPRESSIBLE.has(extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name))
  await Promise.all(
    files.map(async (file) => {
      const bytes = readFileSync(file)
      if (bytes.length < MIN_BYTES) return
      const quality = bytes.length > MAX_BEST_QUALITY_BYTES ? 9 : 11
      const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
      const copies = [
        ['.br', await promisify(brotliCompress)(bytes, { params })],
        ['.gz', await promisify(gzip)(bytes, { level: 9 })],
      ]
      for (const [extension, copy] of copies) if (copy.length < bytes.length) writeFileSync(file + extension, copy)
    }),
  )
}
