/** Finds places by name or by coordinates. */
import { exactDegreesText } from '../format.ts'
import { readPosition } from '../geo/position-text.ts'
import type { LonLat } from '../geo/shape.ts'

export interface FoundPlace {
  readonly name: string
  /** The country; for coordinates, how they were read. */
  readonly detail: string
  readonly position: LonLat
}

/** The most populous place first. */
export type Places = readonly FoundPlace[]

/** The content of places.json, which scripts/build-places.mjs writes. */
export interface PlacesFile {
  /** Names of countries by their code. */
  readonly countries: Readonly<Record<string, string>>
  readonly places: readonly (readonly [name: string, country: string, longitude: number, latitude: number])[]
}

export function readPlaces({ countries, places }: PlacesFile): Places {
  return places.map(([name, country, longitude, latitude]) => {
    return { name, detail: countries[country] ?? country, position: [longitude, latitude] }
  })
}

const MAX_SUGGESTIONS = 7
/**
 * Returns places whose name or country begins with the text, or has a word that does. Names come before countries. Text that is
 * a position gives that position, or both of its readings.
 */
export function findPlaces(places: Places, text: string): Places {
  const position = readPosition(text)
  if (position?.kind === 'position') return [placeAt(position.position, 'coordinates')]
  if (position?.kind === 'ambiguous') {
    const [latitudeFirst, longitudeFirst] = position.readings
    return [placeAt(latitudeFirst, 'latitude first'), placeAt(longitudeFirst, 'longitude first')]
  }
  const wanted = plain(text)
  if (wanted === '') return []
  const rank = ({ name, detail }: FoundPlace) => {
    const plainName = ` ${plain(name)}`
    if (plainName.startsWith(` ${wanted}`)) return 0
    if (plainName.includes(` ${wanted}`)) return 1
    return ` ${plain(detail)}`.includes(` ${wanted}`) ? 2 : -1
  }
  return places
    .map((place) => ({ place, rank: rank(place) }))
    .filter(({ rank }) => rank >= 0)
    .sort((a, b) => a.rank - b.rank) // stable, so places of one rank stay ordered by population
    .slice(0, MAX_SUGGESTIONS)
    .map(({ place }) => place)
}

/** `São Paulo` → `sao paulo` */
function plain(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

function placeAt(position: LonLat, detail: string): FoundPlace {
  return { name: exactDegreesText(...position), detail, position }
}
