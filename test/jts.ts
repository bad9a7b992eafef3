/** JTS (jsts 2.12.1) for comparison. No reference: wrong for lines that end on each other, and throws for collections. */
import GeoJSONReader from 'jsts/org/locationtech/jts/io/GeoJSONReader.js'
import IsValidOp from 'jsts/org/locationtech/jts/operation/valid/IsValidOp.js'
// Importing it adds the methods contains and intersects to its geometries.
import 'jsts/org/locationtech/jts/monkey.js'
import type { Geometry } from '../src/types/generated.ts'

export interface JtsGeometry {
  contains(other: JtsGeometry): boolean
  intersects(other: JtsGeometry): boolean
}

/** @throws on shapes that JTS refuses to build */
export function jtsGeometry(geometry: Geometry): JtsGeometry {
  return new GeoJSONReader(undefined as never).read(geometry as never) as unknown as JtsGeometry
}

export function jtsIsValid(geometry: JtsGeometry): boolean {
  return (new IsValidOp(geometry as never) as unknown as { isValid(): boolean }).isValid()
}

/** Returns the result, or undefined when JTS throws. */
export function jtsAnswer(question: () => boolean): boolean | undefined {
  try {
    return question()
  } catch {
    return undefined
  }
}
