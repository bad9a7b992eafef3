import { expect, it } from 'vitest'
import { distanceMeters } from '../../src/geodesy/distance.ts'
import { planarDeviationMeters } from '../../src/geodesy/planar-deviation.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { engine, kernel } from '../geometry-answers.ts'
import { seededBetween } from '../random-geometry.ts'
import { scaled } from '../scale.ts'

const flat = (geometry: Geometry) => readGeometry(geometry, [], engine.limits)
const line = (...coordinates: Position[]) => flat({ type: 'LineString', coordinates })

/** The farthest of many places on the straight edge from the geodesic. */
function farthestMeters([lon1, lat1]: Position, [lon2, lat2]: Position): number {
  const geodesic = line([lon1, lat1], [lon2, lat2])
  const meters = Array.from({ length: 63 }, (_, i) => {
    const share = (i + 1) / 64
    const place: Position = [lon1 + share * (lon2 - lon1), lat1 + share * (lat2 - lat1)]
    return distanceMeters(kernel, flat({ type: 'Point', coordinates: place }), geodesic, 1e6)
  })
  return Math.max(...meters)
}

it('bounds how far geodesics leave straight edges, and not by too much', () => {
  const between = seededBetween(20_261_127)
  let ratio = 0
  for (let i = 0; i < scaled(4000); i++) {
    const width = 10 ** between(-3, i % 2 === 0 ? 1.3 : 2.25)
    const height = i % 3 === 0 ? 0 : Math.min(170, width * 10 ** between(-3, 1))
    const lon = between(-180, 180 - Math.min(width, 179))
    const lat = between(-90, 90 - height)
    const ends: [Position, Position] = [
      [lon, lat],
      [Math.min(180, lon + width), lat + height],
    ]
    const bound = planarDeviationMeters(line(...ends))
    const found = farthestMeters(...ends)
    expect(found, JSON.stringify(ends)).toBeLessThanOrEqual(bound + 1e-6)
    // Level edges away from the equator, as those of boxes.
    if (height === 0 && width < 20 && Math.abs(lat) > 40 && Math.abs(lat) < 60) ratio = Math.max(ratio, bound / found)
  }
  console.log(`the bound of level edges at 40° to 60° is up to ${ratio.toFixed(2)} times the deviation`)
  expect(ratio).toBeLessThan(1.2)
})

it('is 0 where both are the same', () => {
  expect(planarDeviationMeters(line([5, -80], [5, 70]))).toBe(0)
  expect(planarDeviationMeters(line([-20, 0], [150, 0]))).toBe(0)
  expect(planarDeviationMeters(line([180, 10], [-180, 20]))).toBe(0)
  expect(
    planarDeviationMeters(
      flat({
        type: 'MultiPoint',
        coordinates: [
          [0, 0],
          [90, 45],
        ],
      }),
    ),
  ).toBe(0)
})
