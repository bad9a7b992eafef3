import type { GeometryType } from '../geometry/flat.ts'
import { findNotation } from '../geometry/notation.ts'
import type { LocationStamp } from '../types/generated.ts'
import { Checks } from './checks.ts'
import type { VerifyPlugin } from './plugin.ts'

const CRS =
  /^(?:https?:\/\/www\.opengis\.net\/def\/crs\/(?:OGC\/(?:1\.3|0)\/CRS84|EPSG\/0\/4326)|urn:ogc:def:crs:(?:OGC:1\.3:CRS84|EPSG::4326)|EPSG:4326|WGS84)$/
const SEMVER = /^\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+][0-9A-Za-z.+-]{1,40})?$/

/**
 * Checks the form of a stamp, beyond what already makes a request malformed. The location itself has been validated
 * before.
 *
 * Coordinates are always longitude, latitude, as in GeoJSON, whatever reference system the stamp names.
 *
 * @param type of the location, which may have been text
 */
export function checkStructure(stamp: LocationStamp, type: GeometryType, plugin: VerifyPlugin): Checks {
  const checks = new Checks()
  const { lpVersion, locationType, srs, temporalFootprint, pluginVersion, signatures } = stamp
  checks.fail('lp-version', lpVersion === '0.2', lpVersion, '0.2')
  checks.fail('plugin-version', SEMVER.test(pluginVersion), pluginVersion, 'semver')
  const expected = `geojson-${type.toLowerCase()}`
  // A location recorded in another notation may be sent as GeoJSON while `locationType` still names that notation.
  const isKnown = locationType.toLowerCase() === expected || findNotation(locationType) !== undefined
  checks.fail('location-type', isKnown, locationType, expected)
  checks.fail('srs', CRS.test(srs), srs, 'CRS84 or EPSG:4326')
  if (plugin.pointOnly) checks.fail('point-location', type === 'Point', type, 'Point')
  const { start, end } = temporalFootprint
  checks.fail('footprint-order', end >= start, end - start, 0)
  checks.fail('footprint-start', start >= 0, start, 0)
  checks.fail('signed', signatures.length > 0, signatures.length, 1)
  return checks
}
