import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { abortAtRead, cliFolder, type RunOptions, runCli } from '../cli-runner.ts'

const root = resolve(import.meta.dirname, '../..')
/** Cells that a careless writer changes: quotes, separators, line ends, spaces, a formula, an escape sequence, no text. */
const CELLS = [
  'plain',
  'a "quoted" word',
  'one, two; three',
  'two\nlines',
  'two\r\nlines',
  ' spaces ',
  '=1+1',
  '\u001b[1m',
  '',
]

/** Reads a table by the rules of RFC 4180, independently of the program. */
function parseTable(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!)
    if (end === '') break
    if (end !== ',') rows.push([])
  }
  return rows.slice(0, -1)
}

describe('a table of results', () => {
  let folder: ReturnType<typeof cliFolder>
  beforeEach(() => {
    folder = cliFolder()
  })
  afterEach(() => folder.remove())

  const path = (name: string) => join(folder.path, name)
  const file = (name: string, text: string | Uint8Array) => {
    writeFileSync(path(name), text)
    return path(name)
  }
  const distances = (input: string, more: readonly string[] = [], options: RunOptions = {}) =>
    runCli(['batch', 'distance', input, '--with', 'to=2.3522,48.8566', '--local', ...more], {
      env: { DATA_DIR: path('.data') },
      ...options,
    })
  const table = (name: string) => parseTable(readFileSync(path(name), 'utf8'))

  it('numbers the columns of the result whose names the input has', async () => {
    const input = file('names.csv', 'lon,lat,result,Error,error_2\n2.3522,48.8566,old,,\n')
    expect(parseTable((await distances(input)).out)).toEqual([
      ['lon', 'lat', 'result', 'Error', 'error_2', 'result_2', 'units', 'operation', 'error_3'],
      ['2.3522', '48.8566', 'old', '', '', '0', 'meters', 'distance', ''],
    ])
  })

  it('has the columns of the input unchanged, then those of the result, and a row for every item', async () => {
    const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`
    const rows = CELLS.map((cell, index) => `${quoted(cell)};${index};2.2945;48.8584\r\n`)
    const text = `\ufeffNote;id;LON;Lat\r\n${rows.join('')}\r\nshort;9;2.2945\r\nlong;10;2.2945;48.8584;more\r\nlast;11;2.3522;48.8566`
    const run = await distances(file('cells.csv', text), ['-o', path('out.csv')])
    expect([run.exitCode, run.out]).toEqual([
      1,
      `10 results in ${path('out.csv')}, 2 rejected (${path('out.errors.ndjson')}); 0.0 s\n`,
    ])
    const header = ['Note', 'id', 'LON', 'Lat', 'result', 'units', 'operation', 'error']
    const result = (value: string) => [value, 'meters', 'distance', '']
    expect(table('out.csv')).toEqual([
      header,
      ...CELLS.map((cell, index) => [cell, String(index), '2.2945', '48.8584', ...result('4238.77')]),
      ['short', '9', '2.2945', '', '', '', '', 'column "lat": latitude is empty: write a number such as 48.8566'],
      [
        'long',
        '10',
        '2.2945',
        '48.8584',
        '',
        '',
        '',
        'has 5 fields, but the header has 4: quote a field that contains the separator, and write numbers with a decimal point',
      ],
      ['last', '11', '2.3522', '48.8566', ...result('0')],
    ])
    const errors = readFileSync(path('out.errors.ndjson'), 'utf8').trim().split('\n')
    expect(errors.map((line) => JSON.parse(line).id)).toEqual(['9', '10'])
  })

  it('has the id of each item if the input is not a table', async () => {
    const lines = ['{"id":"a,b","type":"Point","coordinates":[2.2945,48.8584]}', '{"id":"\\ud800"}', 'nonsense']
    const input = file('in.ndjson', `${lines.join('\n')}\n`)
    await distances(input, ['-o', path('out.csv')])
    const [header, first, second, third] = table('out.csv')
    expect(header).toEqual(['id', 'result', 'units', 'operation', 'error'])
    expect(first).toEqual(['a,b', '4238.77', 'meters', 'distance', ''])
    // UTF-8 cannot represent half of a surrogate pair.
    expect(second).toEqual(['\ufffd', '', '', '', 'has no "from": distance takes from and to'])
    expect([third![0], third![4]]).toEqual(['3', expect.stringContaining('is not JSON')])
    const piped = await distances(input, ['--output-format', 'csv'])
    expect(piped.out).toBe(readFileSync(path('out.csv'), 'utf8').replace('\ufffd', '\ud800'))
  })

  it('has truth values, and no units, for a predicate', async () => {
    const input = file('stops.csv', 'lon,lat\n2.3522,48.8567\n2,48\n')
    await runCli([
      'batch',
      'within',
      input,
      '--with',
      'target=2.3522,48.8566',
      '--radius',
      '500',
      '--local',
      '-o',
      path('out.csv'),
    ])
    expect(table('out.csv')).toEqual([
      ['lon', 'lat', 'result', 'units', 'operation', 'error'],
      ['2.3522', '48.8567', 'true', '', 'within:50000', ''],
      ['2', '48', 'false', '', 'within:50000', ''],
    ])
  })

  it('is selected by the name of the output, or by a table as input, and never drops signatures unasked', async () => {
    const input = file('in.csv', 'lon,lat\n2.2945,48.8584\n')
    const lines = file('in.ndjson', '{"type":"Point","coordinates":[2.2945,48.8584]}\n')
    const isTable = (text: string) => text.startsWith('lon,lat,result') || text.startsWith('id,result')
    const isSigned = (text: string) => JSON.parse(text).attestation !== undefined
    expect(isTable((await distances(input)).out)).toBe(true)
    expect(isSigned((await distances(input, ['--attest', 'each'])).out)).toBe(true)
    expect(isSigned((await distances(input, ['--output-format', 'ndjson'])).out)).toBe(true)
    expect(isSigned((await distances(lines)).out)).toBe(true)
    await distances(input, ['-o', path('signed.ndjson')])
    expect(isSigned(readFileSync(path('signed.ndjson'), 'utf8'))).toBe(true)
    await distances(lines, ['-o', path('plain.csv')])
    expect(isTable(readFileSync(path('plain.csv'), 'utf8'))).toBe(true)
    for (const more of [
      ['-o', path('x.csv')],
      ['--output-format', 'csv'],
    ]) {
      const run = await distances(input, [...more, '--attest', 'each'])
      expect([run.exitCode, run.err]).toEqual([2, expect.stringContaining('a table (csv) has no signatures')])
    }
  })

  it('names the columns that --columns gives', async () => {
    const run = await distances(file('headless.csv', '2.2945,48.8584\n'), ['--columns', 'lon,lat'])
    expect(parseTable(run.out)[0]!.slice(0, 3)).toEqual(['lon', 'lat', 'result'])
  })

  it('names --columns, not a header, if a row has more fields than they name', async () => {
    const run = await distances(file('headless.csv', '2.2945,48.8584\n2.2945,48.8584,more\n'), ['--columns', 'lon,lat'])
    expect(parseTable(run.out)[2]!.at(-1)).toContain('has 3 fields, but --columns names 2: quote a field')
    expect(JSON.parse(run.err.split('\n')[0]!)).toMatchObject({ place: 'line 2' })
  })

  it.each([
    ['0x10', 'longitude "0x10" is not a decimal number such as 2.3522'],
    ['1e999', 'longitude "1e999" is not a decimal number such as 2.3522'],
    ['Infinity', 'longitude "Infinity" is not a decimal number such as 2.3522'],
    ['"2,2945"', 'longitude "2,2945" has a decimal comma: write 2.2945'],
    ['', 'longitude is empty: write a number such as 2.3522'],
    ['190', 'longitude 190 is outside -180..180'],
    [
      '222638.98',
      'longitude 222638.98 is outside -180..180 (the coordinates look projected: reproject them to WGS 84 longitude and latitude, for example with ogr2ogr -t_srs EPSG:4326)',
    ],
  ])('says where a number is that it does not read, and what would work: %s', async (longitude, fault) => {
    const run = await distances(file('numbers.csv', `id,lon,lat\n1, +2.29450 ,48.8584\n2,${longitude},48\n`))
    expect(parseTable(run.out)[1]!.slice(3)).toEqual(['4238.77', 'meters', 'distance', ''])
    expect(parseTable(run.out)[2]!.at(-1)).toBe(`column "lon": ${fault}`)
    expect(JSON.parse(run.err.split('\n')[0]!)).toMatchObject({ place: 'line 3', id: '2' })
  })

  it.each([
    ['has a header', 'lon,lat\n1,2\n', ['--columns', 'lon,lat'], 'line 1 is a header: leave out --columns'],
    [
      'lacks a column',
      '1,2\n',
      ['--columns', 'id,lon,lat'],
      '--columns names "lat", but line 1 has 2 fields: "1", "2"',
    ],
    [
      'has more columns',
      'a,1,2\n',
      ['--columns', 'lon,lat'],
      '--columns names 2 columns, but line 1 has 3 fields: "a", "1", "2"; name every column of the file in its order',
    ],
    ['has no column of a geometry', 'name,east,north\nA,1,2\n', [], 'found "name", "east", "north": name two columns'],
  ])('says what is wrong with the columns if the file %s', async (_what, text, more, message) => {
    const run = await distances(file('columns.csv', text), more)
    expect([run.exitCode, run.err]).toEqual([2, expect.stringContaining(message)])
  })

  it('reads semicolons without a header, also between numbers with decimal commas', async () => {
    const run = await distances(file('comma.csv', '2,2945;48,8584\n2.2945;48.8584\n'), ['--columns', 'lon,lat'])
    expect(run.out).toContain('longitude ""2,2945"" has a decimal comma: write 2.2945')
    expect(parseTable(run.out)[2]!.slice(0, 3)).toEqual(['2.2945', '48.8584', '4238.77'])
  })

  it.each(['parks.gpkg', 'parks.shp'])('says how to convert %s', async (name) => {
    const run = await distances(file(name, new Uint8Array([0, 255])))
    expect([run.exitCode, run.err]).toEqual([
      2,
      expect.stringContaining('convert it: ogr2ogr -f CSV -t_srs EPSG:4326 -lco GEOMETRY=AS_WKT parks.csv '),
    ])
  })

  it('is the same after an interruption as without one', async () => {
    const rows = Array.from({ length: 3000 }, (_, index) =>
      index % 7 === 0 ? `far,"${index}"\n` : `${index / 100},"${index / 50}"\n`,
    )
    const input = file('in.csv', `lon,lat\n${rows.join('')}`)
    const signal = abortAtRead(8)
    const output = ['-o', path('out.csv')]
    expect((await distances(input, output, { signal })).exitCode).toBe(130)
    const { items } = JSON.parse(readFileSync(path('out.csv.part'), 'utf8')).checkpoint
    expect(table('out.csv')).toHaveLength(items + 1)
    const resumed = await distances(input, output)
    expect(resumed.err).toBe(`resuming after item ${items.toLocaleString('en-US')}\n`)
    const text = readFileSync(path('out.csv'), 'utf8')
    await distances(input, [...output, '--restart'])
    expect(readFileSync(path('out.csv'), 'utf8')).toBe(text)
    expect(parseTable(text)).toHaveLength(3001)
    const asLines = await distances(input, [...output, '--output-format', 'ndjson', '--restart'])
    expect(asLines.exitCode).toBe(1)
  })

  it('passes through a pipe without a change of any byte of a cell', () => {
    const input = `note,lon,lat\n"\u001b[1m\r\n\u0007é🌍",2.2945,48.8584\n`
    const argv = ['scripts/trigpoint.mjs', 'batch', 'distance', '-', '--with', 'to=2.3522,48.8566', '--local']
    const run = spawnSync(process.execPath, argv, { cwd: root, input, encoding: 'utf8' })
    expect([run.status, run.stdout]).toEqual([
      0,
      `note,lon,lat,result,units,operation,error\n"\u001b[1m\r\n\u0007é🌍",2.2945,48.8584,4238.77,meters,distance,\n`,
    ])
  })
})
