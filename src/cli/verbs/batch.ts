import { Argument, type Command, Option } from 'commander'
import { formatOption } from '../inputs/format-option.ts'
import { OPERATION_NAMES } from '../operation-names.ts'
import { hexBytes, integerBetween, numberBetween, withChain, withExamples, withJson, withServer } from '../options.ts'
import type { Finish } from '../program.ts'
import type { Terminal } from '../terminal.ts'

export function addBatch(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('batch')
    .description('one operation on everything in a file, in order; goes on where it was interrupted')
    .addArgument(
      new Argument('<operation>', 'what is computed; mixed: each line says it, as "op"').choices([
        ...OPERATION_NAMES,
        'mixed',
      ]),
    )
    .argument('<file>', 'lines of JSON, GeoJSON, WKT, CSV or GPX; - for standard input')
    .option('-o, --output <file>', 'results, a line each; - for standard output', '-')
    .option('--errors <file>', 'what was refused, with the reason (default: beside the output)')
    .option('--with <member=input>', 'the other input, the same for all: --with target=2.3522,48.8566')
    .option('--radius <meters>', 'of within, where the file has none', numberBetween(0, 20_037_508))
    .addOption(new Option('--attest <how>', 'sign each result, or none').choices(['each', 'none']))
    .option('--recipient <address>', 'for whom the results are', hexBytes(20))
    .option('--concurrency <number>', 'requests under way at once', integerBetween(1, 64), 2)
    .option('--chunk <items>', 'items of one request', integerBetween(1, 10_000), 256)
    .option('--restart', 'begin anew, over what an earlier run has written')
    .option('--local', 'compute in this process, without a service, and sign with the development key')
    .option('--data <folder>', 'where the development key of --local is (DATA_DIR, else ./.data)')
    .addOption(formatOption())
    .option('--columns <names>', 'of a table without a header: lon,lat')
  withServer(withChain(withJson(command)))
  withExamples(
    command,
    'trigpoint batch area parcels.geojson -o areas.ndjson',
    'trigpoint batch within stops.csv --with target=2.3522,48.8566 --radius 500 -o near.ndjson',
    'trigpoint batch contains points.csv --with container=city.geojson --attest none -o inside.ndjson',
    'trigpoint batch mixed requests.ndjson -o answers.ndjson   # {"op":"distance","from":…,"to":…}',
    '',
    'While it runs, answers.ndjson.part says how far it is. The same command goes on from there,',
    'however it ended: nothing is lost or doubled.',
  )
  command.action(async (operation, file, options) => {
    const { runBatch } = await import('../run/batch.ts')
    finish(await runBatch(operation, file, options, terminal))
  })
}
