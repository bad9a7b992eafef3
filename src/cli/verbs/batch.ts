import { Argument, type Command, Option } from 'commander'
import { formatOption } from '../inputs/format-option.ts'
import { OPERATION_NAMES } from '../operation-names.ts'
import { hexBytes, integerBetween, numberBetween, withChain, withExamples, withJson, withServer } from '../options.ts'
import type { Finish } from '../program.ts'
import type { Terminal } from '../terminal.ts'

export function addBatch(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('batch')
    .description('run one operation on every item of a file, in order; resumes after an interruption')
    .addArgument(
      new Argument('<operation>', 'operation to run; mixed: each line names it as "op"').choices([
        ...OPERATION_NAMES,
        'mixed',
      ]),
    )
    .argument('<file>', 'lines of JSON, GeoJSON, WKT, CSV or GPX; - for standard input')
    .option('-o, --output <file>', 'file for the results, one per line; - for standard output', '-')
    .option('--errors <file>', 'file for rejected items, with the reason (default: next to the output)')
    .option('--with <member=input>', 'the other input, the same for all items: --with target=2.3522,48.8566')
    .option('--radius <meters>', 'radius of within, if the file has none', numberBetween(0, 20_037_508))
    .addOption(new Option('--attest <how>', 'sign each result or none').choices(['each', 'none']))
    .option('--recipient <address>', 'recipient of the results', hexBytes(20))
    .option('--concurrency <number>', 'number of concurrent requests', integerBetween(1, 64), 2)
    .option('--chunk <items>', 'items per request', integerBetween(1, 10_000), 256)
    .option('--restart', 'start again and overwrite the results of an earlier run')
    .option('--local', 'compute in this process, without a service, and sign with the development key')
    .option('--data <folder>', 'folder of the development key of --local (default: DATA_DIR, or ./.data)')
    .addOption(formatOption())
    .option('--columns <names>', 'columns of a table without a header: lon,lat')
  withServer(withChain(withJson(command)))
  withExamples(
    command,
    'trigpoint batch area parcels.geojson -o areas.ndjson',
    'trigpoint batch within stops.csv --with target=2.3522,48.8566 --radius 500 -o near.ndjson',
    'trigpoint batch contains points.csv --with container=city.geojson --attest none -o inside.ndjson',
    'trigpoint batch mixed requests.ndjson -o answers.ndjson   # {"op":"distance","from":…,"to":…}',
    '',
    'While it runs, answers.ndjson.part records the progress. Run the same command again to resume',
    'after any interruption: no result is lost or duplicated.',
  )
  command.action(async (operation, file, options) => {
    const { runBatch } = await import('../commands/batch.ts')
    finish(await runBatch(operation, file, options, terminal))
  })
}
