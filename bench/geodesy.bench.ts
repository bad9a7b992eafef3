/**
 * Compares the geodesic kernel with geographiclib-geodesic (the same ellipsoid in JavaScript) and turf (a sphere), and with
 * GeographicLib in C++, PROJ and PostGIS if they are installed.
 */
import { loadKernel } from '../src/wasm/loader.ts'
import { distanceRows } from './distance-rows.ts'
import { type AreaErrors, type LengthErrors, printAreaErrors, printLengthErrors } from './geodesy-accuracy.ts'
import { inverseRows, type Libraries, ringRows } from './geodesy-rows.ts'
import { printPackages } from './machine.ts'
import { NATIVE_NAMES, openNative } from './native.ts'
import { openPostGis } from './postgis.ts'
import type { MeasuredRow } from './rounds.ts'
import { Marks, printRows } from './tables.ts'

/** Prints tables, and returns the measured rows and the targets. */
export async function run(): Promise<object> {
  printPackages(['geographiclib-geodesic', '@turf/distance'])
  const native = openNative(['geographiclib', 'geographiclibNative', 'proj'])
  try {
    const postGis = await openPostGis()
    try {
      const libraries: Libraries = { kernel: loadKernel(), native, postGis }
      const rows = [
        ...printRows('Areas and lengths', ringRows(libraries)),
        ...printRows('Distances of pairs of positions', inverseRows(libraries)),
        ...printRows('Distances of geometries', distanceRows(libraries)),
      ]
      const lengths = printLengthErrors(libraries)
      const areas = printAreaErrors(libraries)
      return { rows, lengths, areas, marks: evaluateTargets(rows, lengths, areas) }
    } finally {
      await postGis?.close()
    }
  } finally {
    native.close()
  }
}

function evaluateTargets(rows: readonly MeasuredRow[], lengths: readonly LengthErrors[], areas: readonly AreaErrors[]) {
  const marks = new Marks(rows)
  const { geographiclib, geographiclibNative } = NATIVE_NAMES
  const ring = 'area and length, ring of 10,000, 60 m'
  marks.atMost('area and length, edges ≤ 1 km: ≤ 8.4 ns an edge', ring, 8.4)
  marks.atLeastTimes('… ≥ 45 × GeographicLib C++ as Debian builds it', ring, geographiclib, 45)
  marks.atLeastTimes('… ≥ 85 × geographiclib-geodesic', ring, 'geographiclib-geodesic', 85)
  marks.atLeastTimes('… goal: ≥ 45 × C++ -O3 -march=native', ring, geographiclibNative, 45)
  marks.atLeastTimes('inverse below 1000 km: ≥ 10 × C++', 'inverse, 1 to 1000 km', geographiclib, 10)
  marks.atLeastTimes('inverse anywhere: ≥ 10 × C++', 'inverse, anywhere', geographiclib, 10)
  const antipode = 'inverse, near the antipode'
  marks.atLeastTimes('inverse near the antipode, in one call: not slower than C++', antipode, geographiclib, 1)
  marks.atLeastTimes('… a call a pair', antipode, geographiclib, 1, 'Trigpoint, a call a pair')
  marks.atMost('point to prepared 10,000-vertex polygon: ≤ 5 µs', 'point to polygon of 10,000, prepared', 5000)
  const trigpoint = lengths.filter(({ contender }) => contender.startsWith('Trigpoint'))
  const worst = Math.max(...trigpoint.map(({ largest }) => largest))
  marks.add('lengths of GeodTest within 15 nm', `${(worst * 1e9).toFixed(2)} nm`, worst <= 15e-9)
  const { largest } = areas[0]!
  marks.add('areas up to 10¹⁰ m² within 10⁻⁴ m²', `${largest.toExponential(1)} m²`, largest <= 1e-4)
  return marks.list
}
