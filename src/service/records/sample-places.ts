/** A place around which sample records are made: the middle of a city or of a landscape, in degrees with two decimals. */
export interface SamplePlace {
  readonly name: string
  readonly longitude: number
  readonly latitude: number
  /** Relative number of records at this place. */
  readonly weight: number
}

const ROWS: readonly (readonly [name: string, longitude: number, latitude: number, weight: number])[] = [
  ['Nairobi', 36.82, -1.29, 9],
  ['Lagos', 3.38, 6.52, 8],
  ['Accra', -0.19, 5.6, 4],
  ['Cape Town', 18.42, -33.92, 4],
  ['Cairo', 31.24, 30.04, 3],
  ['Kisumu', 34.77, -0.1, 5],
  ['Berlin', 13.4, 52.52, 7],
  ['Paris', 2.35, 48.86, 6],
  ['London', -0.13, 51.51, 6],
  ['Lisbon', -9.14, 38.72, 6],
  ['Zurich', 8.54, 47.38, 4],
  ['Prague', 14.42, 50.09, 3],
  ['Istanbul', 28.98, 41.01, 4],
  ['Reykjavik', -21.94, 64.15, 1],
  ['Tromsø', 18.96, 69.65, 1],
  ['New York', -74.01, 40.71, 7],
  ['San Francisco', -122.42, 37.77, 7],
  ['Denver', -104.99, 39.74, 4],
  ['Toronto', -79.38, 43.65, 4],
  ['Mexico City', -99.13, 19.43, 5],
  ['Bogotá', -74.07, 4.71, 5],
  ['Medellín', -75.57, 6.24, 3],
  ['São Paulo', -46.63, -23.55, 6],
  ['Manaus', -60.02, -3.12, 3],
  ['Buenos Aires', -58.38, -34.6, 6],
  ['Santiago', -70.67, -33.45, 3],
  ['Ushuaia', -68.3, -54.8, 1],
  ['Mumbai', 72.88, 19.08, 6],
  ['Bengaluru', 77.59, 12.97, 6],
  ['Kathmandu', 85.32, 27.72, 2],
  ['Bangkok', 100.5, 13.76, 4],
  ['Chiang Mai', 98.99, 18.79, 3],
  ['Singapore', 103.82, 1.35, 6],
  ['Manila', 120.98, 14.6, 4],
  ['Taipei', 121.56, 25.03, 4],
  ['Seoul', 126.98, 37.57, 4],
  ['Tokyo', 139.69, 35.68, 6],
  ['Sydney', 151.21, -33.87, 4],
  ['Auckland', 174.76, -36.85, 2],
  ['Suva', 178.44, -18.14, 2],
  ['Taveuni', 179.97, -16.85, 2],
  ['Honolulu', -157.86, 21.31, 2],
]

export const SAMPLE_PLACES: readonly SamplePlace[] = ROWS.map(([name, longitude, latitude, weight]) => ({
  name,
  longitude,
  latitude,
  weight,
}))
