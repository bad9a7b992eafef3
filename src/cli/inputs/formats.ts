/** Input formats. `json` is GeoJSON over any number of lines. */
export const FORMATS = ['json', 'ndjson', 'csv', 'gpx', 'wkt'] as const
export type Format = (typeof FORMATS)[number]
