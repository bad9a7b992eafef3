import { expect, it } from 'vitest'
import { MAX_ROWS, parseCsv, readBatchFile, writeCsv, writeGeoJson } from '../../web/explorer/compute/batch-file.ts'

const rowsOf = (text: string) => {
  const file = readBatchFile(text)
  if (!file.ok) throw new Error(file.reason)
  return file.rows
}

it('reads coordinates from the columns that are named so, in any order', () => {
  const text = '\uFEFFName;Lon;Lat\nEiffel;2,2945;48,8584\n"A; B";139.6917;35.6895\n'
  expect(rowsOf(text)).toMatchObject([
    { name: 'Eiffel', geometry: { type: 'Point', coordinates: [2.2945, 48.8584] } },
    { name: 'A; B', geometry: { type: 'Point', coordinates: [139.6917, 35.6895] } },
  ])
})

it('reads WKT, and keeps rows that cannot be read with the reason', () => {
  const text = 'wkt\n"POLYGON ((0 0, 1 0, 1 1, 0 0))"\nnonsense here'
  const rows = rowsOf(text)
  expect(rows[0]).toMatchObject({ name: 'Row 1', geometry: { type: 'Polygon' }, problem: undefined })
  expect(rows[1]).toMatchObject({ geometry: undefined, problem: expect.stringContaining('WKT') })
})

it.each(['lat,lon\n95,2', 'name,lat,lon\nA,,', 'lat,lon\nx,y'])('keeps a row without a valid position: %j', (text) => {
  expect(rowsOf(text)).toMatchObject([{ geometry: undefined, problem: expect.any(String) }])
})

it('reads a FeatureCollection, a feature and a bare geometry', () => {
  const geometry = { type: 'Point', coordinates: [1, 2] }
  const feature = { type: 'Feature', properties: { title: 'T', n: 5 }, geometry }
  expect(rowsOf(JSON.stringify({ type: 'FeatureCollection', features: [feature, feature] }))).toHaveLength(2)
  expect(rowsOf(JSON.stringify(feature))).toMatchObject([{ name: 'T', properties: { n: 5 }, geometry }])
  expect(rowsOf(JSON.stringify(geometry))).toMatchObject([{ name: 'Row 1', geometry }])
  expect(rowsOf('{"type":"FeatureCollection","features":[null]}')).toMatchObject([{ geometry: undefined }])
})

it.each(['', '{', 'a,b\n1,2', 'lat,lon', `lat,lon\n${'1,2\n'.repeat(MAX_ROWS + 1)}`])('rejects file %#', (text) => {
  expect(readBatchFile(text)).toMatchObject({ ok: false, reason: expect.any(String) })
})

it('splits quoted cells', () => {
  expect(parseCsv('a,"b ""c"", d"\r\n"x\ny",\n\n')).toEqual([
    ['a', 'b "c", d'],
    ['x\ny', ''],
  ])
})

it('writes the rows with their results', () => {
  const rows = rowsOf('name,lat,lon\n"a, b",1,2\nbad,95,0')
  const result = { result: 12.5, units: 'meters', operation: 'distance', timestamp: 7 } as const
  expect(writeCsv(rows, [result, undefined])).toBe(
    'name,lat,lon,result,units,operation,timestamp,error,signature\r\n' +
      '"a, b",1,2,12.5,meters,distance,7,,\r\n' +
      'bad,95,0,,,,,The latitude 95 is outside -90 to 90.,\r\n',
  )
  const { features } = JSON.parse(writeGeoJson(rows, [result, undefined]))
  expect(features[0]).toMatchObject({ geometry: { coordinates: [2, 1] }, properties: { name: 'a, b', result: 12.5 } })
  expect(features[1]).toMatchObject({ geometry: null, properties: { error: expect.stringContaining('95') } })
})
