// `npm run package` runs this after the build: packs the client without the service, as trigpoint-client-x.y.z.tgz. The package has the
// name of the whole one, so that programs import the same names from both. It has the modules that src/client/client.ts and src/client/recompute.ts reach, their types, and only the dependencies that these import.
// The argument is the folder for the tarball; without it, that is the repository.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseSync } from 'vite'
import { root } from './prepare.mjs'

const NAME = 'trigpoint'
/** What can be imported from the package, and the module for it in dist/src. */
const EXPORTS = { './client': 'client/client', './client/recompute': 'client/recompute' }

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const built = join(root, 'dist', 'src')
const { files, packages } = reach(Object.values(EXPORTS).flatMap((module) => [`${module}.js`, `${module}.d.ts`]))
const folder = mkdtempSync(join(tmpdir(), 'trigpoint-client-'))
try {
  for (const file of files) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    copyFileSync(join(built, file), join(folder, file))
  }
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'README.md'), readme())
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(clientManifest(), null, 2)}\n`)
  const destination = resolve(process.argv[2] ?? root)
  const packed = spawnSync('npm', ['pack', '--silent'], { cwd: folder, encoding: 'utf8' })
  if (packed.status !== 0) throw new Error(`npm cannot pack the client: ${packed.stderr}`)
  const tarball = `trigpoint-client-${manifest.version}.tgz`
  copyFileSync(join(folder, packed.stdout.trim()), join(destination, tarball))
  console.log(tarball)
} finally {
  rmSync(folder, { recursive: true })
}

/** Follows the imports of built files. Returns all files that they reach, and the names of the packages. */
function reach(entries) {
  const files = new Set(entries)
  const packages = new Set()
  for (const file of files) {
    for (const specifier of importsOf(file)) {
      if (!specifier.startsWith('.')) {
        packages.add(specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/'))
        continue
      }
      const target = join(dirname(file), specifier)
      files.add(file.endsWith('.d.ts') ? target.replace(/\.[jt]s$/, '.d.ts') : target)
    }
  }
  return { files, packages }
}

function importsOf(file) {
  const text = readFileSync(join(built, file), 'utf8')
  const { module } = parseSync(file, text)
  return [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    // Its file name is a literal, which still has its quotes here.
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ]
}

function clientManifest() {
  const { version, license, type, engines } = manifest
  const dependencies = [...packages].sort().map((name) => {
    const pinned = manifest.dependencies[name]
    if (pinned === undefined) throw new Error(`the client imports ${name}, which is not a dependency of package.json`)
    return [name, pinned]
  })
  return {
    name: NAME,
    version,
    description: 'Client of Trigpoint: computes with a service, and verifies its results offline',
    license,
    type,
    private: true,
    engines,
    sideEffects: false,
    exports: Object.fromEntries(
      Object.entries(EXPORTS).map(([name, module]) => [name, { types: `./${module}.d.ts`, default: `./${module}.js` }]),
    ),
    dependencies: Object.fromEntries(dependencies),
  }
}

function readme() {
  return `# ${NAME}

The client of Trigpoint, without the service: functions for its endpoints, and the verification of its results offline. For
Node.js and browsers. A running service has its documentation at \`/docs/guide/client\`.

\`\`\`js
import { createClient, verifyResult } from '${NAME}/client'
import { createRecompute } from '${NAME}/client/recompute'
\`\`\`
`
}
