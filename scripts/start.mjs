// `npm start`: from a fresh clone to a running service.
import { ensureBuilt, ensureInstalled, requireNode } from './prepare.mjs'

requireNode()
await ensureInstalled(asksForChain() ? 'chain' : 'start')
await ensureBuilt('start')
endWithNpm()
// While the service loads, SIGHUP must not end this process. There is nothing to replace yet.
process.on('SIGHUP', () => {})
// Runs in this process, so that it gets the signals and sets the exit code.
const argv = process.argv.slice(2)
if (argv[0] === 'plugin-test') await (await import('../dist/src/trigpoint.js')).trigpoint(argv)
else await (await import('../dist/src/main.js')).main(argv)

/** Returns true when the settings ask for the local chain, whose program is in a package of its own. */
function asksForChain() {
  return process.argv.includes('--chain') || ['1', 'true'].includes(process.env.LOCAL_CHAIN)
}

/**
 * Ends the service when npm ends. npm runs this file through a shell that dies of SIGTERM without passing it on, so the service
 * would keep running and hold the port. Under npm, the death of the parent process therefore counts as SIGTERM.
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
  // If a signal does arrive, do not send another one: it would end the process before it has answered all requests.
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => clearInterval(timer))
}
