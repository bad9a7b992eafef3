import { ensureBuilt, ensureInstalled, requireNode } from './prepare.mjs'

requireNode()
ensureInstalled()
ensureBuilt()
