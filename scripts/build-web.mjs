// The pages of the service into dist/web: the explorer by Vite, with its map data, the kernel and brotli beside every file.
// Built again only when a file that went into it has changed.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { compressAssets } from './compress-assets.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const web = join(root, 'web')
const target = join(root, 'dist', 'web', 'explore')
const stampFile = join(root, 'dist', 'web', '.explore-stamp')
const generated = join(web, 'generated')
const FONTS = { 'geist.woff2': '@fontsource-variable/geist', 'geist-mono.woff2': '@fontsource-variable/geist-mono' }

/** @returns false when there was nothing to do */
export async function buildWeb() {
  if (isWebFresh()) return false
  const { build } = await import('vite')
  mkdirSync(generated, { recursive: true })
  writeKernels()
  await writeBasemap()
  const unfinished = `${target}.${process.pid}.tmp`
  const modules = new Set()
  await build({
    root: join(web, 'explorer'),
    base: '/explore/',
    configFile: false,
    logLevel: 'error',
    publicDir: join(web, 'public'),
    plugins: [{ name: 'note-modules', generateBundle: (_, bundle) => noteModules(bundle, modules) }],
    build: {
      outDir: unfinished,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 1400,
    },
  })
  mkdirSync(join(unfinished, 'fonts'))
  for (const [name, font] of Object.entries(FONTS))
    writeFileSync(join(unfinished, 'fonts', name), readFileSync(fontFile(font)))
  await compressAssets(unfinished)
  rmSync(target, { recursive: true, force: true })
  renameSync(unfinished, target)
  const inputs = [...new Set([...modules, ...ownSources()])].sort()
  writeFileSync(
    stampFile,
    JSON.stringify({ digest: digestOf(inputs), inputs: inputs.map((file) => relative(root, file)) }),
  )
  return true
}

/** Whether everything that went into the last build has the names, sizes and times it had then. */
export function isWebFresh() {
  if (!existsSync(join(target, 'index.html')) || !existsSync(stampFile)) return false
  const { digest, inputs } = JSON.parse(readFileSync(stampFile, 'utf8'))
  const files = inputs.map((file) => join(root, file))
  return ownSources().every((file) => files.includes(file)) && digestOf(files) === digest
}

function digestOf(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    const info = statSync(file, { throwIfNoEntry: false })
    hash.update(`${relative(root, file)} ${info?.size} ${info?.mtimeMs}\n`)
  }
  return hash.digest('hex')
}

function ownSources() {
  const own = ['explorer', 'public', 'styles'].flatMap((folder) => filesBelow(join(web, folder)))
  return [...own, fileURLToPath(import.meta.url), join(root, 'package-lock.json'), kernelSource('simd')]
}

function noteModules(bundle, modules) {
  for (const piece of Object.values(bundle)) {
    for (const id of piece.moduleIds ?? []) {
      const file = id.split('?')[0]
      if (file.startsWith(join(root, 'src'))) modules.add(file)
    }
  }
}

const kernelSource = (name) => join(root, 'src', 'wasm', 'generated', `${name}.ts`)

/** The very bytes that the service runs. */
function writeKernels() {
  for (const name of ['simd', 'scalar']) {
    const [, base64] = /'([A-Za-z0-9+/=]+)'/.exec(readFileSync(kernelSource(name), 'utf8'))
    writeFileSync(join(generated, `${name}.wasm`), Buffer.from(base64, 'base64'))
  }
}

/**
 * Land and borders of Natural Earth in plain longitude and latitude. The projection cuts at the antimeridian, where lines of the
 * source run through; without the cut they cross the whole map.
 */
async function writeBasemap() {
  const [{ feature, mesh }, { geoEquirectangular }, { geoProject }] = await Promise.all([
    import('topojson-client'),
    import('d3-geo'),
    import('d3-geo-projection'),
  ])
  const degrees = 180 / Math.PI
  const plain = () => geoEquirectangular().scale(degrees).translate([0, 0]).precision(0).reflectY(true)
  const rounded = (shape, digits) =>
    JSON.stringify(shape, (_, value) => (typeof value === 'number' ? Number(value.toFixed(digits)) : value))
  for (const [scale, digits] of [
    ['110m', 2],
    ['50m', 3],
  ]) {
    const atlas = JSON.parse(readFileSync(join(root, 'node_modules', 'world-atlas', `countries-${scale}.json`), 'utf8'))
    const land = geoProject(feature(atlas, atlas.objects.land), plain())
    const borders = geoProject(
      mesh(atlas, atlas.objects.countries, (a, b) => a !== b),
      plain(),
    )
    writeFileSync(join(generated, `land-${scale}.json`), rounded(land, digits))
    writeFileSync(join(generated, `borders-${scale}.json`), rounded(borders, digits))
  }
}

function fontFile(name) {
  const folder = join(root, 'node_modules', ...name.split('/'), 'files')
  const file = readdirSync(folder).find((entry) => /-latin-wght-normal\.woff2$/.test(entry))
  if (file === undefined) throw new Error(`${name} has no file of the latin letters`)
  return join(folder, file)
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const started = performance.now()
  const isNew = await buildWeb()
  process.stderr.write(
    `dist/web: ${isNew ? `built in ${((performance.now() - started) / 1000).toFixed(1)} s` : 'fresh'}\n`,
  )
}
