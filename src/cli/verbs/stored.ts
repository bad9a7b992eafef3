/** Verbs for geometries that a service keeps. */

import { type Command, Option } from 'commander'
import {
  type Finish,
  formatOption,
  hexBytes,
  integerBetween,
  numberBetween,
  withChain,
  withExamples,
  withJson,
  withServer,
} from '../options.ts'
import type { Terminal } from '../terminal.ts'

export function addGeometries(program: Command, terminal: Terminal): void {
  const geometries = program
    .command('geometries')
    .description('geometries that a service keeps for your key: put, list, get, delete')
  const put = geometries
    .command('put')
    .description('store geometries and print their hashes; ref:0x… is then an input in place of the geometry')
    .argument('<inputs...>', 'lon,lat, WKT, h3:…, geohash:…, JSON, a file (GeoJSON, WKT, CSV, GPX), file#2, -')
    .addOption(formatOption())
    .option('--columns <names>', 'columns of a table without a header: lon,lat')
  withExamples(
    put,
    'trigpoint geometries put city.geojson',
    'trigpoint compute contains "ref:$(trigpoint geometries put city.geojson)" 2.2945,48.8584',
  )
  withServer(withJson(put)).action(async (inputs, options) => {
    const { putGeometries } = await import('../commands/stored.ts')
    await putGeometries(inputs, options, terminal)
  })
  const list = geometries.command('list').description('list your stored geometries, and what they use of your quota')
  withServer(withJson(list)).action(async (options) => {
    const { listGeometries } = await import('../commands/stored.ts')
    await listGeometries(options, terminal)
  })
  const get = geometries
    .command('get')
    .description('print a stored geometry as GeoJSON')
    .argument('<ref>', '0x… or ref:0x…')
  withServer(get).action(async (ref, options) => {
    const { printGeometry } = await import('../commands/stored.ts')
    await printGeometry(ref, options, terminal)
  })
  const remove = geometries
    .command('delete')
    .description('delete a stored geometry')
    .argument('<ref>', '0x… or ref:0x…')
  withServer(remove).action(async (ref, options) => {
    const { deleteGeometry } = await import('../commands/stored.ts')
    await deleteGeometry(ref, options, terminal)
  })
}

export function addSets(program: Command, terminal: Terminal, finish: Finish): void {
  const sets = program
    .command('sets')
    .description('sets of features that a service keeps for your key: put, match, list, features, delete')
  const put = sets
    .command('put')
    .description('store the features of a file in place of the set of this name')
    .argument('<name>', 'name of the set')
    .argument('<file>', 'GeoJSON, one Feature per line, or FlatGeobuf; - for standard input')
  withExamples(
    put,
    'trigpoint sets put zones zones.geojson',
    'trigpoint sets put zones zones.fgb',
    'ogr2ogr -f GeoJSONSeq -t_srs EPSG:4326 /vsistdout/ zones.shp | trigpoint sets put zones -',
  )
  withServer(withJson(put)).action(async (name, file, options) => {
    const { putSet } = await import('../commands/stored.ts')
    await putSet(name, file, options, terminal)
  })
  const match = sets
    .command('match')
    .description('find the features that match each point of a file, in order; resumes after an interruption')
    .argument('<name>', 'name of the set')
    .argument('<points>', 'a file (lines of JSON, GeoJSON, WKT, CSV, GPX), - for standard input, or one point: lon,lat')
    .option('-o, --output <file>', 'file for the matches; - for standard output', '-')
    .addOption(
      new Option(
        '--output-format <name>',
        'format of the matches (default: csv for a file name ending in .csv; geojson for .geojson or .geojsonl; otherwise ndjson)',
      ).choices(['ndjson', 'csv', 'geojson']),
    )
    .option('--errors <file>', 'file for the errors (default: the name of the output, with .errors.ndjson)')
    .option('--restart', 'start again and overwrite the matches of an earlier run')
    .addOption(
      new Option('--predicate <name>', 'how a feature matches (default: intersects)').choices([
        'contains',
        'intersects',
      ]),
    )
    .option('--within <meters>', 'features within this distance', numberBetween(0.005, 20_037_508))
    .option('--nearest <number>', 'the nearest features, at most this many', integerBetween(1, 1000))
    .option('--limit <number>', 'the most matches of a point (default 100)', integerBetween(1, 1000))
    .option('--properties [names]', 'print all properties of the features, or those with these names: name,iso')
    .addOption(new Option('--attest <how>', 'sign each match or none (default: none)').choices(['each', 'none']))
    .option('--recipient <address>', 'recipient of the results', hexBytes(20))
    .addOption(formatOption())
    .option('--columns <names>', 'columns of a table without a header: lon,lat')
  withExamples(
    match,
    'trigpoint sets match zones 2.2945,48.8584',
    'trigpoint sets match zones stops.csv --properties name',
    'trigpoint sets match zones stops.csv --properties name -o matches.csv',
    'trigpoint sets match zones stops.csv --nearest 3 --within 5000',
  )
  withServer(withChain(match)).action(async (name, file, options) => {
    const { runMatch } = await import('../commands/match.ts')
    finish(await runMatch(name, file, options, terminal))
  })
  const list = sets.command('list').description('list your sets')
  withServer(withJson(list)).action(async (options) => {
    const { listSets } = await import('../commands/stored.ts')
    await listSets(options, terminal)
  })
  const features = sets
    .command('features')
    .description('print the features of a set, one per line')
    .argument('<name>', 'name of the set')
  withServer(features).action(async (name, options) => {
    const { printFeatures } = await import('../commands/stored.ts')
    await printFeatures(name, options, terminal)
  })
  const remove = sets.command('delete').description('delete a set').argument('<name>', 'name of the set')
  withServer(remove).action(async (name, options) => {
    const { deleteSet } = await import('../commands/stored.ts')
    await deleteSet(name, options, terminal)
  })
}
