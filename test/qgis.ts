/** PyQGIS, as a client written by others: QGIS without its windows. */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'

/** PyQGIS is a package of Debian, so Debian's own Python has it. */
const PYTHON = '/usr/bin/python3'
const found = spawnSync(PYTHON, ['-c', 'from qgis.core import Qgis; print(Qgis.QGIS_VERSION)'], { encoding: 'utf8' })

/** `QGIS 3.22.16-Białowieża`; undefined if PyQGIS is not installed (`apt-get install python3-qgis`). */
export const QGIS = found.status === 0 ? `QGIS ${found.stdout.trim()}` : undefined
if (QGIS === undefined) console.warn('skipped with QGIS: no PyQGIS on this machine (apt-get install python3-qgis)')

const run = promisify(execFile)

const STARTS = `
from qgis.core import *
application = QgsApplication([], False)
application.initQgis()
`
const OPENS_LAYER = `
import json, sys
from collections import Counter
layer = QgsVectorLayer(sys.argv[1], 'records', 'OAPIF')
if not layer.isValid():
    sys.exit('QGIS cannot open ' + sys.argv[1])
`

/**
 * Opens a layer with the provider for OGC API Features, and returns what a Python program makes of it.
 *
 * @param url landing page of the service
 * @param collection name of the layer
 * @param program Python that leaves a value in \`result\`; it has \`layer\` and all of \`qgis.core\`
 * @param home a folder for the settings and caches of QGIS
 */
export async function readInQgis(url: string, collection: string, program: string, home: string): Promise<unknown> {
  const source = `url='${url}' typename='${collection}' pageSize='1000' restrictToRequestBBOX='1'`
  return JSON.parse(await runInQgis(`${OPENS_LAYER}${program}\nprint(json.dumps(result))`, home, source))
}

/**
 * Runs a program as the Python console of QGIS does, and returns what it prints.
 *
 * @param home a folder for the settings and caches of QGIS
 */
export async function runInQgis(program: string, home: string, ...argv: readonly string[]): Promise<string> {
  const { stdout } = await run(PYTHON, ['-c', `${STARTS}${program}`, ...argv], {
    env: { PATH: process.env['PATH'], HOME: home, XDG_RUNTIME_DIR: home, QT_QPA_PLATFORM: 'offscreen' },
    timeout: 600_000,
    maxBuffer: 64 * 1_048_576,
  })
  return stdout
}
