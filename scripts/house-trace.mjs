// Measures which TypeScript files a coordinate passes between the bytes of a request and its signature, for `house.mjs --trace`.
// Starts the built service in this process, warms it up, and lists the files of which a function ran while one more request was
// answered, in any thread. Prints their paths as a JSON array.
import { mkdtempSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt, root } from './prepare.mjs'

const WARM_UP_REQUESTS = 5
/** More than 512 bytes of JSON, so a compute thread handles the request, and not the main thread. */
const VERTICES = 60

await ensureBuilt()
const data = mkdtempSync(join(tmpdir(), 'trigpoint-trace-'))
process.on('exit', () => rmSync(data, { recursive: true, force: true }))
const port = await freePort()
// One thread, so that the warm-up reaches the thread that answers. No records, because their sync would run in between.
Object.assign(process.env, { PORT: port, DATA_DIR: data, COMPUTE_THREADS: '1', LARGE_THREADS: '1', RECORDS: '0' })

let messages = 0
const session = new Session()
session.connect()
const threads = await attachThreads()
await session.post('Profiler.enable')
const { main } = await import('../dist/src/main.js')
await main([])
await onEachThread('Profiler.enable')
await onEachThread('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
for (let i = 0; i < WARM_UP_REQUESTS; i++) await requestDistance(i)
await onEachThread('Profiler.takePreciseCoverage') // sets the counts to 0
await requestDistance(WARM_UP_REQUESTS)
const coverage = await onEachThread('Profiler.takePreciseCoverage')
const built = pathToFileURL(join(root, 'dist/')).href
const scripts = coverage.flatMap(({ result }) => result).filter(({ url }) => url.startsWith(built))
const ran = scripts.filter(({ functions }) => functions.some(({ ranges }) => ranges[0].count > 0))
const files = new Set(ran.map(({ url }) => url.slice(built.length).replace(/\.js$/, '.ts')))
process.stdout.write(`${JSON.stringify([...files].sort())}\n`, () => process.exit(0))

/** Attaches the inspector to every thread that starts from now on. Returns a map from the thread's session to pending replies. */
async function attachThreads() {
  const attached = new Map()
  session.on('NodeWorker.attachedToWorker', ({ params }) => attached.set(params.sessionId, new Map()))
  session.on('NodeWorker.detachedFromWorker', ({ params }) => attached.delete(params.sessionId))
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    const { id, result } = JSON.parse(params.message)
    attached.get(params.sessionId)?.get(id)?.(result)
  })
  await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  return attached
}

/** Sends a command of the inspector protocol to this thread and all others. Resolves with their results. */
function onEachThread(method, params) {
  const others = [...threads].map(
    ([sessionId, pending]) =>
      new Promise((resolve) => {
        const id = ++messages
        pending.set(id, resolve)
        const message = JSON.stringify({ id, method, params })
        void session.post('NodeWorker.sendMessageToWorker', { sessionId, message })
      }),
  )
  return Promise.all([session.post(method, params), ...others])
}

/** Sends one request. @throws {Error} if the response is not signed */
async function requestDistance(shift) {
  const coordinates = Array.from({ length: VERTICES }, (_, i) => [2 + 0.01 * i + 1e-5 * shift, 48 + 0.002 * (i % 7)])
  const body = JSON.stringify({
    chainId: 84532,
    from: { type: 'LineString', coordinates },
    to: { type: 'Point', coordinates: [2.3522, 49.8566] },
  })
  const response = await fetch(`http://127.0.0.1:${port}/compute/v0/distance`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const text = await response.text()
  if (response.status !== 200 || !text.includes('"signature"')) throw new Error(`no signed response: ${text}`)
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
