import geodesic from 'geographiclib-geodesic'
import type { Geometry, Position } from '../src/types/generated.ts'
import { jtsAnswer, jtsGeometry } from './jts.ts'

/**
 * Predicates on geodesic edges by brute force: edges are divided with geographiclib-geodesic, projected to the ellipsoidal gnomonic
 * plane around a centre, where geodesics are almost straight, and compared by jsts. Shares no code with the kernel.
 */

const { Geodesic } = geodesic
const { WGS84 } = Geodesic
const MASK = Geodesic.STANDARD | Geodesic.REDUCEDLENGTH | Geodesic.GEODESICSCALE

type Plane = readonly [x: number, y: number]
/** A piece of an edge, and how far its middle is from the straight line between its ends, metres in the plane. */
interface Piece {
  readonly from: Plane
  readonly to: Plane
  readonly sag: number
}

export interface Answers {
  readonly contains: boolean | undefined
  readonly intersects: boolean | undefined
}

/** Error of positions in the plane, metres. */
const ROUNDING_METERS = 2e-7
/** Smallest geodesic scale at which a position is projected: about 84° from the centre. */
const LEAST_SCALE = 0.1

class Beyond extends Error {}

/** Projects as C. F. F. Karney, Algorithms for geodesics, section 8: ρ = m12 / M12. */
function project([lon0, lat0]: Position, [lon, lat]: readonly number[]): Plane {
  const { m12, M12, azi1 } = WGS84.Inverse(lat0!, lon0!, lat!, lon!, MASK) as Record<string, number>
  if (M12! < LEAST_SCALE) throw new Beyond()
  const [sine, cosine] = [Math.sin((azi1! * Math.PI) / 180), Math.cos((azi1! * Math.PI) / 180)]
  return [(m12! / M12!) * sine, (m12! / M12!) * cosine]
}

/** A geometry in the plane, its original vertices there, and the pieces of its edges. */
class Drawn {
  readonly geometry: Geometry
  readonly vertices: Plane[] = []
  readonly pieces: Piece[] = []
  readonly #centre: Position
  readonly #count: number

  constructor(geometry: Geometry, centre: Position, count: number) {
    this.#centre = centre
    this.#count = count
    this.geometry = this.#draw(geometry)
  }

  #draw(geometry: Geometry): Geometry {
    switch (geometry.type) {
      case 'Point':
        return { type: 'Point', coordinates: this.#vertex(geometry.coordinates) }
      case 'MultiPoint':
        return { ...geometry, coordinates: geometry.coordinates.map((point) => this.#vertex(point)) }
      case 'LineString':
        return { ...geometry, coordinates: this.#line(geometry.coordinates) }
      case 'MultiLineString':
      case 'Polygon':
        return { ...geometry, coordinates: geometry.coordinates.map((line) => this.#line(line)) } as Geometry
      case 'MultiPolygon':
        return { ...geometry, coordinates: geometry.coordinates.map((rings) => rings.map((ring) => this.#line(ring))) }
      default:
        throw new RangeError('the oracle takes no collections')
    }
  }

  #vertex(position: Position): Position {
    const place = project(this.#centre, position)
    this.vertices.push(place)
    return [...place] as Position
  }

  #line(positions: readonly Position[]): Position[] {
    const drawn = [this.#vertex(positions[0]!)]
    for (let i = 1; i < positions.length; i++) {
      const [[lon1, lat1], [lon2, lat2]] = [positions[i - 1]!, positions[i]!] as [number[], number[]]
      const line = WGS84.InverseLine(lat1!, lon1!, lat2!, lon2!)
      const { s12 } = WGS84.Inverse(lat1!, lon1!, lat2!, lon2!)
      const at = (share: number): Plane => {
        const place = line.Position(share * s12!)
        return project(this.#centre, [place.lon2!, place.lat2!])
      }
      let from = drawn.at(-1) as unknown as Plane
      for (let piece = 1; piece <= this.#count; piece++) {
        const isLast = piece === this.#count
        const to = isLast ? (this.#vertex(positions[i]!) as unknown as Plane) : at(piece / this.#count)
        this.pieces.push({ from, to, sag: distanceToPiece(at((piece - 0.5) / this.#count), from, to) })
        drawn.push([...to] as Position)
        from = to
      }
    }
    return drawn
  }
}

function distanceToPiece([x, y]: Plane, [x1, y1]: Plane, [x2, y2]: Plane): number {
  const [dx, dy] = [x2 - x1, y2 - y1]
  const square = dx * dx + dy * dy
  const along = square === 0 ? 0 : Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / square))
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy)
}

/** Whether no vertex of one is so near to an edge of the other that the errors of the plane matter. They may share vertices. */
function isClear({ vertices }: Drawn, { pieces, vertices: others }: Drawn): boolean {
  const isSame = (a: Plane, b: Plane) => a[0] === b[0] && a[1] === b[1]
  return vertices.every(
    (vertex) =>
      pieces.every(
        ({ from, to, sag }) =>
          isSame(vertex, from) || isSame(vertex, to) || distanceToPiece(vertex, from, to) > 4 * sag + ROUNDING_METERS,
      ) &&
      others.every(
        (other) => isSame(vertex, other) || Math.hypot(other[0] - vertex[0], other[1] - vertex[1]) > ROUNDING_METERS,
      ),
  )
}

/**
 * Answers the predicates by brute force.
 *
 * @param centre of the plane: where the geometries are nearest, or the middle of one
 * @param count number of pieces of each edge
 * @returns undefined where the errors of the plane leave the answer open
 */
export function oracleAnswers(a: Geometry, b: Geometry, centre: Position, count: number): Answers | undefined {
  try {
    const [drawnA, drawnB] = [new Drawn(a, centre, count), new Drawn(b, centre, count)]
    if (!isClear(drawnA, drawnB) || !isClear(drawnB, drawnA)) return undefined
    const [planeA, planeB] = [jtsGeometry(drawnA.geometry), jtsGeometry(drawnB.geometry)]
    return {
      contains: jtsAnswer(() => planeA.contains(planeB)),
      intersects: jtsAnswer(() => planeA.intersects(planeB)),
    }
  } catch (error) {
    if (error instanceof Beyond) return undefined
    throw error
  }
}
