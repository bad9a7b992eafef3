// Builds `dist/empty-store.tar.gz`, the files of a new embedded database. A first start then unpacks 5 MB and does not run
// initdb, which takes seconds of processor time and 0.9 GB of memory.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { root } from './prepare.mjs'

const engine = await PGlite.create()
await engine.exec('checkpoint')
const files = await engine.dumpDataDir('gzip')
writeFileSync(join(root, 'dist', 'empty-store.tar.gz'), Buffer.from(await files.arrayBuffer()))
await engine.close()
