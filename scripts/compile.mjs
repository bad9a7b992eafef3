// Compiles the TypeScript of src, workers and bench to dist/: it only removes types, which takes a second. `npm run check` checks
// them. A file of another folder is compiled, or copied if it is JSON, when one of these imports it.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transformWithOxc } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))
const FOLDERS = ['src', 'workers', 'bench']
const OPTIONS = {
  target: 'es2023',
  typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' },
}
const isSource = (file) => file.endsWith('.ts') && !file.endsWith('.d.ts') && !file.startsWith('src/wasm/assembly/')

const pending = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)),
).filter(isSource)
const known = new Set(pending)
for (const file of pending) {
  const target = join(root, 'dist', file)
  mkdirSync(dirname(target), { recursive: true })
  if (file.endsWith('.json')) {
    copyFileSync(join(root, file), target)
    continue
  }
  const text = readFileSync(join(root, file), 'utf8')
  const { code, map } = await transformWithOxc(text, join(root, file), OPTIONS)
  const name = basename(file, '.ts')
  writeFileSync(target.replace(/\.ts$/, '.js'), `${code}//# sourceMappingURL=${name}.js.map\n`)
  writeFileSync(
    target.replace(/\.ts$/, '.js.map'),
    JSON.stringify({
      ...map,
      file: `${name}.js`,
      sources: [relative(dirname(target), join(root, file))],
      sourcesContent: undefined,
    }),
  )
  for (const imported of importsOf(code, file)) {
    if (known.has(imported)) continue
    known.add(imported)
    pending.push(imported)
  }
}

/** Returns the files that compiled code imports. */
function importsOf(code, file) {
  return [...code.matchAll(/\b(?:from|import\(|import)\s*"(\.[^"]+)"/g)].map(([, target]) =>
    resolve('/', dirname(file), target).slice(1).replace(/\.js$/, '.ts'),
  )
}
