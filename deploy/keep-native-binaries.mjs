// Keeps only the native transport that the running Node.js loads, of the forty for all platforms and releases (240 MB). Also removes
// the development chain, which is not allowed in production.
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
const kept = binaries.includes(wanted) ? `kept ${wanted}` : `no ${wanted}: the service will use node:http instead`
process.stderr.write(`${kept}, removed ${binaries.filter((name) => name !== wanted).length} others\n`)
