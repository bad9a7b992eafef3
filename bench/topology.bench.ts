/**
 * Compares reading, exact predicates and validity with jsts, turf and geos-wasm, and with GEOS in C++ and PostGIS if they are
 * installed.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { loadKernel } from '../src/wasm/loader.ts'
import { loadGeos } from './geos-wasm.ts'
import { comb } from './inputs.ts'
import { printPackages } from './machine.ts'
import { NATIVE_NAMES, type Native, openNative } from './native.ts'
import { printWrongAnswers, type Wrong } from './near-touch.ts'
import { openPostGis } from './postgis.ts'
import { pointRows, polygonRows, relateRows, type TopologyLibraries, validityRows } from './predicate-rows.ts'
import type { Contender, MeasuredRow, Row } from './rounds.ts'
import { scanRows, wholeRows } from './scan-rows.ts'
import { Marks, printRows } from './tables.ts'
import { encodeWkbPairs } from './wkb.ts'

const TIMEOUT_SECONDS = 60
const COLD_COMBS = 'intersects, interlocking combs of 85 KB, first call of a process'

/** Prints tables, and returns the measured rows and the targets. */
export async function run(): Promise<object> {
  printPackages(['jsts', 'geos-wasm', '@turf/boolean-point-in-polygon'])
  const native = openNative(['geos'])
  try {
    const postGis = await openPostGis()
    try {
      const geos = await loadGeos()
      console.log(`- geos-wasm contains GEOS ${geos.version}`)
      const libraries: TopologyLibraries = { kernel: loadKernel(), geos, native, postGis }
      const rows = [
        ...printRows('Reading GeoJSON', scanRows(libraries)),
        ...printRows('From bytes to a result', wholeRows(libraries)),
        ...printRows('Positions in polygons', pointRows(libraries)),
        ...printRows('Polygons and polygons', [...polygonRows(libraries), coldRow(native)]),
        ...printRows('Matrices', relateRows(libraries)),
        ...printRows('Validity', validityRows(libraries)),
      ]
      const wrong = printWrongAnswers(libraries)
      return { rows, wrong, marks: evaluateTargets(rows, wrong) }
    } finally {
      await postGis?.close()
    }
  } finally {
    native.close()
  }
}

/** Measures the first call: every round starts a new process. */
function coldRow(native: Native): Row {
  const contender = (name: string): Contender => ({ name, round: () => measureInNewProcess(name) })
  const inputs = native.input('combs', encodeWkbPairs([[comb(950, 1), comb(950, -1)]]))
  return {
    name: COLD_COMBS,
    items: 1,
    item: 'call',
    unit: 'answers',
    contenders: [
      ...['Trigpoint', 'jsts', 'geos-wasm'].map(contender),
      ...native.contenders(['geos'], 'intersects', inputs).map(({ name, round }) => ({ name, round: () => round(0) })),
    ],
  }
}

function measureInNewProcess(contender: string): { nanoseconds: number; result: number } {
  const module = JSON.stringify(new URL('./first-call.js', import.meta.url).href)
  const script = `import(${module}).then((m) => m.measureFirstCall(${JSON.stringify(contender)}))`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    encoding: 'utf8',
    timeout: 1000 * TIMEOUT_SECONDS,
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  })
  if (status !== 0) throw new Error(`${contender} in a new process failed: ${stderr}`)
  const [nanoseconds, result] = stdout.split(' ').map(Number)
  return { nanoseconds: nanoseconds!, result: result! }
}

function evaluateTargets(rows: readonly MeasuredRow[], wrong: readonly Wrong[]) {
  const marks = new Marks(rows)
  marks.atMost('10,000-vertex GeoJSON to area: ≤ 0.35 ms', 'bytes of 10,000 vertices to area', 0.35e6)
  marks.atMost('… to contains(point): ≤ 0.5 ms', 'bytes of 10,000 vertices to contains(point)', 0.5e6)
  marks.atMost('validity of a ring of 10,000: ≤ 1 ms', 'validity of a ring of 10,000', 1e6)
  marks.atMost('canonical hash: ≤ 1 ms', 'canonical hash of 10,000 vertices, scanned before', 1e6)
  marks.atMost('contains, prepared: ≤ 5 µs', 'prepared contains(polygon of 10,000, point)', 5e3)
  marks.atMost('interlocking combs of 85 KB, cold: ≤ 20 ms', COLD_COMBS, 20e6)
  marks.atMost('… warm: ≤ 20 ms', 'intersects, interlocking combs of 85 KB, warm', 20e6)
  const contains = 'contains(polygon of 10,000, point)'
  marks.atMost('contains(point), unindexed, 10,000 vertices: ≤ 25 µs', contains, 25e3)
  const [trigpoint] = wrong
  marks.add(
    'no wrong answer near a touch',
    `${trigpoint!.wrong + trigpoint!.threw} of ${trigpoint!.of}`,
    trigpoint!.wrong + trigpoint!.threw === 0,
  )
  const { geos } = NATIVE_NAMES
  marks.atLeastTimes('contains(point), unindexed: faster than GEOS C++', contains, geos, 1)
  marks.atLeastTimes(
    'matrix of polygons that overlap: ≥ 3 × GEOS C++',
    'relate, 10,000 and 10,000 overlapping',
    geos,
    3,
  )
  const neighbours = 'relate, 10,000 and 10,000 with a common border of 5,000'
  marks.atLeastTimes('matrix of neighbours: ≥ 3 × GEOS C++', neighbours, geos, 3)
  return marks.list
}
