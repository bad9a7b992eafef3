// Starts the service as a new user would (`npm start`, no settings, a new data folder), calls every operation once, and stops it
// with SIGTERM. Prints the time until /health answered; fails when a result is wrong or the service does not stop.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ensureBuilt, ensureInstalled, root } from './prepare.mjs'

await ensureInstalled()
await ensureBuilt()

const point = { type: 'Point', coordinates: [2.2945, 48.8584] }
const line = {
  type: 'LineString',
  coordinates: [
    [2.2945, 48.8584],
    [2.3522, 48.8566],
  ],
}
const square = {
  type: 'Polygon',
  coordinates: [
    [
      [2, 48],
      [3, 48],
      [3, 49],
      [2, 49],
      [2, 48],
    ],
  ],
}
// Distances and area from GeographicLib.
const REQUESTS = [
  ['distance', { from: point, to: { type: 'Point', coordinates: [2.3522, 48.8566] } }, 4238.77],
  ['length', { geometry: line }, 4238.77],
  ['area', { geometry: square }, 8_217_589_924.7707],
  ['contains', { container: square, containee: point }, true],
  ['within', { geometry: point, target: line, radius: 500 }, true],
  ['intersects', { geometry1: square, geometry2: line }, true],
  ['covers', { geometry1: square, geometry2: line }, true],
]

const data = mkdtempSync(join(tmpdir(), 'trigpoint-smoke-'))
const started = performance.now()
const child = spawn('npm', ['start', '--silent', '--', '--log-format', 'json', '--data', data], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'pipe'],
  detached: true,
})
const deadline = setTimeout(() => fail('did not start, answer and stop within 60 s'), 60_000)
const exited = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)))

function fail(reason) {
  console.error(`smoke: ${reason}`)
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {}
  process.exit(1)
}

let isReady = false
let announceStop
const stopped = new Promise((resolve) => {
  announceStop = resolve
})
const ready = await new Promise((resolve) => {
  createInterface({ input: child.stderr }).on('line', (text) => {
    console.error(`  ${text}`)
    if (text.includes('"event":"ready"')) resolve(JSON.parse(text))
    if (text.includes('"event":"stopped"')) announceStop()
  })
  void exited.then((code) => isReady || fail(`exited with ${code} before it was ready`))
})
isReady = true
const health = await fetch(`${ready.url}/health`)
const seconds = (performance.now() - started) / 1000
assert.equal(health.status, 200)
console.error(
  `smoke: /health after ${seconds.toFixed(2)} s of npm start, ${ready.readySeconds.toFixed(2)} s of them in the service`,
)

for (const [operation, body, expected] of REQUESTS) {
  const response = await fetch(`${ready.url}/compute/v0/${operation}`, {
    method: 'POST',
    body: JSON.stringify({ chainId: 84532, ...body }),
  })
  const responseBody = await response.json()
  assert.equal(response.status, 200, JSON.stringify(responseBody))
  if (operation === 'area') assert.ok(Math.abs(responseBody.result - expected) < 1e-3, `${responseBody.result}`)
  else assert.equal(responseBody.result, expected, operation)
  assert.match(responseBody.attestation.signature, /^0x[0-9a-f]{128}1[bc]$/)
}
assert.equal(statSync(join(data, 'dev-signer.json')).mode & 0o777, 0o600)
// Sent only to npm, as `kill $!` or a supervisor does; the service must end too.
process.kill(child.pid, 'SIGTERM')
await stopped
assert.equal(await fetch(`${ready.url}/health`).catch(() => 'refused'), 'refused')
clearTimeout(deadline)
rmSync(data, { recursive: true, force: true })
console.error('smoke: every operation answered, SIGTERM to npm ended the service')
process.exit(0)
