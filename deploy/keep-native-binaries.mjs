// Keeps only what the service runs with. Of the native transport that is the binary that the running Node.js loads, of the forty for
// all platforms and releases (240 MB). Removes the packages that only builds and tests need, and the development chain, which is not
// allowed in production.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, posix } from 'node:path'

const folder = process.argv[2]
if (folder === undefined) {
  process.stderr.write('usage: node deploy/keep-native-binaries.mjs <node_modules>\n')
  process.exit(2)
}
const { platform, arch, versions } = process
const wanted = `uws_${platform}_${arch}_${versions.modules}.node`
const transport = join(folder, 'uWebSockets.js')
const binaries = existsSync(transport) ? readdirSync(transport).filter((name) => /^uws_.*\.node$/.test(name)) : []
for (const name of binaries) if (name !== wanted) rmSync(join(transport, name))
rmSync(join(folder, '@foundry-rs'), { recursive: true, force: true })
const kept = binaries.includes(wanted) ? `kept ${wanted}` : `no ${wanted}: the service will use node:http instead`
process.stderr.write(`${kept}, removed ${binaries.filter((name) => name !== wanted).length} others\n`)
const lock = join(folder, '.package-lock.json')
if (existsSync(lock)) removeOtherPackages(JSON.parse(readFileSync(lock, 'utf8')).packages)

/** Removes the packages that the service does not need. @param installed npm's list: a path and a manifest for each package */
function removeOtherPackages(installed) {
  const root = JSON.parse(readFileSync(join(folder, '..', 'package.json'), 'utf8'))
  const needed = new Set()
  const visit = (path, { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta = {} }) => {
    const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta[name]?.optional)
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const found = resolve(path, name, installed)
      if (found === undefined || needed.has(found)) continue
      needed.add(found)
      visit(found, installed[found])
    }
  }
  visit('', root)
  const others = Object.keys(installed).filter((path) => path.includes('node_modules/') && !needed.has(path))
  for (const path of others) rmSync(join(folder, '..', path), { recursive: true, force: true })
  process.stderr.write(`removed ${others.length} packages that only builds and tests need\n`)
}

/** Finds a package as Node.js does: in the folder of the importing package, else in the folders above it. */
function resolve(path, name, installed) {
  for (let folder = path; ; folder = posix.dirname(folder)) {
    const candidate = posix.join(folder, 'node_modules', name)
    if (candidate in installed) return candidate
    if (folder === '' || folder === '.') return undefined
  }
}
