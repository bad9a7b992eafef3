// Sends every request of schemas/examples.json to the built service again and records the responses. Run it when responses have
// changed; test/docs/examples.test.ts fails until then. `$uid` in a path is the UID of a sample record.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ensureBuilt, ensureInstalled, root } from './prepare.mjs'

await ensureInstalled()
await ensureBuilt()
const file = join(root, 'schemas', 'examples.json')
const examples = JSON.parse(readFileSync(file, 'utf8'))
const dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-examples-'))
// The private key is 1, so nobody can mistake these signatures for those of a real service.
const env = {
  PATH: process.env.PATH,
  PORT: '0',
  DATA_DIR: dataDir,
  LOG_FORMAT: 'json',
  SAMPLE_RECORDS: '1',
  PUBLIC_URL: 'http://127.0.0.1:3000',
  RATE_LIMIT_PUBLIC: '100000',
  SIGNER_PRIVATE_KEY: `0x${'1'.padStart(64, '0')}`,
}
const child = spawn(process.execPath, ['-e', 'import("./dist/src/main.js").then((m) => m.main([]))'], {
  cwd: root,
  env,
  stdio: ['ignore', 'inherit', 'pipe'],
})
const limit = setTimeout(() => child.kill('SIGKILL'), 120_000)
const ready = { url: undefined, hasSamples: false }
for await (const line of createInterface({ input: child.stderr })) {
  if (line.includes('"event":"ready"')) ready.url = JSON.parse(line).url
  if (line.includes('"event":"sample records stored"')) ready.hasSamples = true
  if (ready.url !== undefined && ready.hasSamples) break
}
if (ready.url === undefined || !ready.hasSamples) throw new Error('the service did not start')
const { data } = await (await fetch(`${ready.url}/api/v0/location-records?limit=1`)).json()
for (const [operationId, recorded] of Object.entries(examples)) {
  for (const example of recorded) {
    if (operationId === 'resign') {
      const { attestation, delegatedAttestation } = examples.distance[0].answer
      example.request = { chainId: examples.distance[0].request.chainId, attestation, delegatedAttestation }
    }
    const path = example.path.replace('$uid', data[0].uid)
    const response = await fetch(ready.url + path, {
      method: example.method,
      headers: example.headers ?? {},
      ...(example.request === undefined ? {} : { body: JSON.stringify(example.request) }),
    })
    example.status = response.status
    example.mediaType = response.headers.get('content-type').split(';')[0]
    example.answer = await response.json()
    console.log(`${example.status} ${example.method} ${path}`)
  }
}
writeFileSync(file, `${JSON.stringify(examples, null, 2)}\n`)
clearTimeout(limit)
child.kill('SIGTERM')
await new Promise((resolve) => child.on('exit', resolve))
rmSync(dataDir, { recursive: true, force: true })
