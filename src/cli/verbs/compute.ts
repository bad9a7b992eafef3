import { Argument, type Command } from 'commander'
import { formatOption } from '../inputs/format-option.ts'
import { OPERATION_NAMES } from '../operation-names.ts'
import { hexBytes, numberBetween, withChain, withExamples, withJson, withServer } from '../options.ts'
import type { Finish } from '../program.ts'
import type { Terminal } from '../terminal.ts'

export function addCompute(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('compute')
    .description('compute a signed distance, area, length, contains, within or intersects')
    .addArgument(new Argument('<operation>', 'operation to run').choices(OPERATION_NAMES))
    .argument('<inputs...>', 'lon,lat, WKT, h3:…, geohash:…, JSON, 0x…uid, a file (GeoJSON, WKT, CSV, GPX), file#2, -')
    .option('--radius <meters>', 'radius of within', numberBetween(0, 20_037_508))
    .option('--local', 'compute in this process, without a service, and sign with the development key')
    .option('--data <folder>', 'folder of the development key of --local (default: DATA_DIR, or ./.data)')
    .option('--recipient <address>', 'recipient of the result', hexBytes(20))
    .option('--schema <uid>', 'attestation schema (default: that of the operation)', hexBytes(32))
    .option('--result-signature', 'also return a signature that contracts can check without EAS')
    .addOption(formatOption())
    .option('--columns <names>', 'columns of a table without a header: lon,lat')
  withServer(withChain(withJson(command)))
  withExamples(
    command,
    'trigpoint compute distance 2.2945,48.8584 2.3522,48.8566',
    'trigpoint compute length walk.gpx#1 --local',
    "trigpoint compute within 2.2945,48.8584 'POINT (2.3522 48.8566)' --radius 5000 --json",
    'ogr2ogr -f GeoJSON /vsistdout/ parks.shp | trigpoint compute area -',
  )
  command.action(async (operation, inputs, options) => {
    const { runCompute } = await import('../commands/compute.ts')
    finish(await runCompute(operation, inputs, options, terminal))
  })
}
