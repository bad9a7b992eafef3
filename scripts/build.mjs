// `npm run build`: builds everything. With `--service` only what the service runs, which needs fewer packages.
import { ensureBuilt, ensureInstalled, requireNode } from './prepare.mjs'

const set = process.argv.includes('--service') ? 'start' : 'all'
requireNode()
await ensureInstalled(set)
await ensureBuilt(set)
