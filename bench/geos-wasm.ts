/** geos-wasm behind the few functions the benches ask. */
import initGeosJs from 'geos-wasm'
import type { Geometry } from '../src/types/generated.ts'
import { wkb } from './wkb.ts'

export interface Geos {
  readonly version: string
  /** A geometry in GEOS's own form; lives as long as the process. */
  read(geometry: Geometry): number
  prepare(geometry: number): number
  /** Undefined: GEOS threw. */
  contains(a: number, b: number): boolean | undefined
  intersects(a: number, b: number): boolean | undefined
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
      const bytes = wkb(geometry)
      const pointer = Module._malloc(bytes.length)
      Module.HEAPU8.set(bytes, pointer)
      const read = geos.GEOSGeomFromWKB_buf(pointer, bytes.length)
      Module._free(pointer)
      if (read === 0) throw new Error(`geos-wasm does not read the ${geometry.type}`)
      return read
    },
    free: (geometry) => void geos.GEOSGeom_destroy(geometry),
    prepare: (geometry) => geos.GEOSPrepare(geometry),
    contains: (a, b) => answerOf(geos.GEOSContains(a, b)),
    intersects: (a, b) => answerOf(geos.GEOSIntersects(a, b)),
    isValid: (geometry) => geos.GEOSisValid(geometry) === 1,
    preparedIntersects: (prepared, b) => geos.GEOSPreparedIntersects(prepared, b) === 1,
    preparedContains: (prepared, b) => geos.GEOSPreparedContains(prepared, b) === 1,
    preparedContainsPosition: (prepared, lon, lat) => geos.GEOSPreparedContainsXY(prepared, lon, lat) === 1,
  }
}

/** GEOS's 0, 1, or 2 for an exception. */
export function answerOf(flag: number): boolean | undefined {
  return flag === 2 ? undefined : flag === 1
}
