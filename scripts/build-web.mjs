// Builds the explorer into dist/web/explore: with Vite, its map data, the kernel, and a compressed copy of each file.
// Rebuilds only when one of its input files has changed.
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

/** Builds the explorer if needed. */
export async function buildWeb() {
  if (isWebFresh()) return
  const { build } = await import('vite')
  mkdirSync(generated, { recursive: true })
  writeKernels()
  await writeBasemap()
  const temporary = `${target}.${process.pid}.tmp`
  const modules = new Set()
  await build({
    root: join(web, 'explorer'),
    base: '/explore/',
    configFile: false,
    logLevel: 'error',
    publicDir: join(web, 'public'),
    plugins: [{ name: 'note-modules', generateBundle: (_, bundle) => collectModules(bundle, modules) }],
    build: {
      outDir: temporary,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 1400,
    },
  })
  mkdirSync(join(temporary, 'fonts'))
  for (const [name, font] of Object.entries(FONTS))
    writeFileSync(join(temporary, 'fonts', name), readFileSync(fontFile(font)))
  await compressAssets(temporary)
  rmSync(target, { recursive: true, force: true })
  renameSync(temporary, target)
  const inputs = [...new Set([...modules, ...ownSources()])].sort()
  writeFileSync(
    stampFile,
    JSON.stringify({ digest: digestFiles(inputs), inputs: inputs.map((file) => relative(root, file)) }),
  )
}

/** Returns true when all inputs of the last build still have the same names, sizes and times. */
export function isWebFresh() {
  if (!existsSync(join(target, 'index.html')) || !existsSync(stampFile)) return false
  const { digest, inputs } = JSON.parse(readFileSync(stampFile, 'utf8'))
  const files = inputs.map((file) => join(root, file))
  return ownSources().every((file) => files.includes(file)) && digestFiles(files) === digest
}

function digestFiles(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    const info = statSync(file, { throwIfNoEntry: false })
    hash.update(`${relative(root, file)} ${info?.size} ${info?.mtimeMs}\n`)
  }
  return hash.digest('hex')
}

function ownSources() {
  const own = ['explorer', 'public', 'styles'].flatMap((folder) => listFiles(join(web, folder)))
  return [...own, fileURLToPath(import.meta.url), join(root, 'package-lock.json'), kernelSource('simd')]
}

function collectModules(bundle, modules) {
  for (const piece of Object.values(bundle)) {
    for (const id of piece.moduleIds ?? []) {
      const file = id.split('?')[0]
      if (['src', 'contracts'].some((folder) => file.startsWith(join(root, folder)))) modules.add(file)
    }
  }
}

const kernelSource = (name) => join(root, 'src', 'wasm', 'generated', `${name}.ts`)

/** Writes the kernels: the same bytes that the service runs. */
function writeKernels() {
  for (const name of ['simd', 'scalar']) {
    const [, base64] = /'([A-Za-z0-9+/=]+)'/.exec(readFileSync(kernelSource(name), 'utf8'))
    writeFileSync(join(generated, `${name}.wasm`), Buffer.from(base64, 'base64'))
  }
}

/**
 * Writes land and borders of Natural Earth in longitude and latitude. The projection cuts lines at the antimeridian; without the
 * cut they would be drawn across the whole map.
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
  if (file === undefined) throw new Error(`${name} has no font file with Latin letters`)
  return join(folder, file)
}

function listFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildWeb()
