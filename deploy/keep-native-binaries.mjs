// Leaves the one native transport that the running Node.js loads, of the forty for other platforms and releases (240 MB), and
// drops the development chain, which production refuses.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

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
const kept = binaries.includes(wanted) ? `kept ${wanted}` : `no ${wanted}: node:http answers instead`
process.stderr.write(`${kept}, removed ${binaries.filter((name) => name !== wanted).length} others\n`)
