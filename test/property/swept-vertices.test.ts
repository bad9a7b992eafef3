import { describe, expect, it } from 'vitest'
import { edgeReachDegrees, isFar } from '../../src/compute/swept-vertex.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { seededRandom } from '../random-geometry.ts'
import { scaled } from '../scale.ts'

const kernel = loadKernel()

describe('a position between an edge and its geodesic', () => {
  it('is never called far from the edge', () => {
    const random = seededRandom(23)
    const between = (from: number, to: number) => from + (to - from) * random()
    const count = scaled(4000)
    let farther = 0
    for (let index = 0; index < count; index++) {
      const width = 20 * random() ** 2 + 1e-4
      const isSteep = random() < 0.3
      const y1 = between(-80, 80)
      const y2 = Math.max(-80, Math.min(80, y1 + (isSteep ? between(-120, 120) : between(-2, 2) * width)))
      const chord = { start: 0, x1: 10, y1, x2: 10 + width, y2 }
      const reach = edgeReachDegrees(width, Math.abs(y2 - y1))
      const length = kernel.inverse(y1, chord.x1, y2, chord.x2)
      const [salp, calp] = [kernel.salp1(), kernel.calp1()]
      for (const share of [random(), random() ** 4, 1 - random() ** 4]) {
        const lat = kernel.direct(y1, chord.x1, salp, calp, length * share)
        const x = kernel.arrivalLon()
        const planar = y1 + (y2 - y1) * ((x - chord.x1) / width)
        for (const part of [0.01, random(), 1]) {
          const y = planar + part * (lat - planar)
          if (x <= chord.x1 || x >= chord.x2) continue
          expect(isFar(chord, x, y, reach), JSON.stringify({ chord, x, y })).toBe(false)
        }
        if (isFar(chord, x, planar + 10 * (lat - planar), reach)) farther++
      }
    }
    const found = farther / (3 * count)
    console.log(`${(100 * found).toFixed(0)} % of positions ten times as far as the geodesic are called far`)
    expect(found).toBeGreaterThan(0.4)
  })

  it('is far if it is near an end of the edge, but not between edge and geodesic', () => {
    const chord = { start: 0, x1: 0, y1: 1, x2: 7, y2: 7 }
    const reach = edgeReachDegrees(7, 6)
    expect(isFar(chord, 0.1, 1.3, reach)).toBe(true)
    expect(isFar(chord, 6.9, 6.7, reach)).toBe(true)
    expect(isFar(chord, 3.5, 4.05, reach)).toBe(false)
    expect(isFar(chord, 1e-9, 1, reach)).toBe(false)
  })
})
