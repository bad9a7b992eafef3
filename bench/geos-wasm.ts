/** The functions of geos-wasm that the benches use. */
import initGeosJs from 'geos-wasm'
import type { Geometry } from '../src/types/generated.ts'
import { encodeWkb } from './wkb.ts'

export interface Geos {
  readonly version: string
  /** Creates a GEOS geometry and returns its pointer. It lives until `free`. */
  read(geometry: Geometry): number
  prepare(geometry: number): number
  /** Returns undefined if GEOS threw, as `intersects` does. */
  contains(a: number, b: number): boolean | undefined
  intersects(a: number, b: number): boolean | undefined
  /** Returns the DE-9IM matrix; undefined if GEOS threw. */
  relate(a: number, b: number): string | undefined
  free(geometry: number): void
  isValid(geometry: number): boolean
  preparedContains(prepared: number, b: number): boolean
  preparedIntersects(prepared: number, b: number): boolean
  preparedContainsPosition(prepared: number, lon: number, lat: number): boolean
}

export async function loadGeos(): Promise<Geos> {
  const geos = await initGeosJs()
  const { Module } = geos
  const version = geos.GEOSversion() as unknown
  return {
    version: typeof version === 'number' ? Module.UTF8ToString(version) : String(version),
    read(geometry) {
      const bytes = encodeWkb(geometry)
      const pointer = Module._malloc(bytes.length)
      Module.HEAPU8.set(bytes, pointer)
      const geosGeometry = geos.GEOSGeomFromWKB_buf(pointer, bytes.length)
      Module._free(pointer)
      if (geosGeometry === 0) throw new Error(`geos-wasm cannot read the ${geometry.type}`)
      return geosGeometry
    },
    free: (geometry) => void geos.GEOSGeom_destroy(geometry),
    prepare: (geometry) => geos.GEOSPrepare(geometry),
    contains: (a, b) => readGeosFlag(geos.GEOSContains(a, b)),
    intersects: (a, b) => readGeosFlag(geos.GEOSIntersects(a, b)),
    relate(a, b) {
      try {
        const text = geos.GEOSRelate(a, b) as unknown
        return typeof text === 'string' ? text : Module.UTF8ToString(text as number)
      } catch {
        return undefined
      }
    },
    isValid: (geometry) => geos.GEOSisValid(geometry) === 1,
    preparedIntersects: (prepared, b) => geos.GEOSPreparedIntersects(prepared, b) === 1,
    preparedContains: (prepared, b) => geos.GEOSPreparedContains(prepared, b) === 1,
    preparedContainsPosition: (prepared, lon, lat) => geos.GEOSPreparedContainsXY(prepared, lon, lat) === 1,
  }
}

/** Reads the result of a GEOS predicate: 0 is false, 1 is true, and 2 is an exception (undefined). */
export function readGeosFlag(flag: number): boolean | undefined {
  return flag === 2 ? undefined : flag === 1
}
