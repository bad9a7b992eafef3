// `npm start`: from a fresh clone to a running service.
import { ensureBuilt, ensureInstalled, requireNode } from './prepare.mjs'

requireNode()
ensureInstalled()
ensureBuilt()
// In this process, so that signals and the exit code are the service's own.
const { main } = await import('../dist/src/main.js')
await main(process.argv.slice(2))
