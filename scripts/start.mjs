// `npm start`: from a fresh clone to a running service.
import { ensureBuilt, ensureInstalled, requireNode } from './prepare.mjs'

requireNode()
ensureInstalled()
ensureBuilt()
endWithNpm()
// In this process, so that signals and the exit code are the service's own.
const { main } = await import('../dist/src/main.js')
await main(process.argv.slice(2))

/**
 * npm runs this file through a shell that dies of a SIGTERM without passing it on, and the service would stay behind with
 * the port. So under npm the death of the parent is the signal.
 */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  timer.unref()
  // A signal that did come through is the only one: a second one would end the process without its answers.
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => clearInterval(timer))
}
