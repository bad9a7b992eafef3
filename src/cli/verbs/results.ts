/** Verbs that compute and verify results, one at a time or for all items of a file. */

import { Argument, type Command, Option } from 'commander'
import {
  collectOption,
  DEFAULT_URL_TEXT,
  type Finish,
  formatOption,
  hexBytes,
  integerBetween,
  OPERATION_NAMES,
  withChain,
  withExamples,
  withJson,
  withMembers,
  withServer,
} from '../options.ts'
import type { Terminal } from '../terminal.ts'

export function addCompute(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('compute')
    .description('compute a signed distance, area, length or predicate of geometries, or a geometry or matrix')
    .addArgument(new Argument('<operation>', 'operation to run').choices(OPERATION_NAMES))
    .argument('<inputs...>', 'lon,lat, WKT, h3:…, geohash:…, JSON, 0x…uid, a file (GeoJSON, WKT, CSV, GPX), file#2, -')
    .option('--local', 'compute in this process, without a service, and sign with the development key')
    .option('--data <folder>', 'folder of the development key of --local (default: DATA_DIR, or ./.data)')
    .option('--recipient <address>', 'recipient of the result', hexBytes(20))
    .option('--schema <uid>', 'attestation schema (default: that of the operation)', hexBytes(32))
    .option('--result-signature', 'also return a signature that contracts can check without EAS')
    .option('--salt', 'hash each input with a random salt, so that nobody can guess it')
    .addOption(formatOption())
    .option('--columns <names>', 'columns of a table without a header: lon,lat')
  withServer(withChain(withJson(withMembers(command))))
  withExamples(
    command,
    'trigpoint compute distance 2.2945,48.8584 2.3522,48.8566',
    'trigpoint compute within 2.2945,48.8584 2.3522,48.8566 --radius 5000 --salt',
    'trigpoint compute length walk.gpx#1 --local',
    "trigpoint compute within 2.2945,48.8584 'POINT (2.3522 48.8566)' --radius 5000 --json",
    'trigpoint compute direct 2.2945,48.8584 --azimuth 90 --distance 1000',
    'trigpoint compute waypoints 2.2945,48.8584 -73.9857,40.7484 --every 100000',
    'trigpoint compute buffer 2.2945,48.8584 --radius 5000 --tolerance 1',
    'trigpoint compute repair parcel.geojson',
    "trigpoint compute relate parks.geojson#1 parks.geojson#2 --pattern 'T*F**FFF*'",
    'ogr2ogr -f GeoJSON /vsistdout/ parks.shp | trigpoint compute area -',
  )
  command.action(async (operation, inputs, options) => {
    const { runCompute } = await import('../commands/compute.ts')
    finish(await runCompute(operation, inputs, options, terminal))
  })
}

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
    .option('-o, --output <file>', 'file for the results; - for standard output', '-')
    .addOption(
      new Option(
        '--output-format <name>',
        'format of the results (default: csv for a file name ending in .csv, and for a table on standard output; geojson for geometries in a file name ending in .geojson or .geojsonl; otherwise ndjson)',
      ).choices(['ndjson', 'csv', 'geojson']),
    )
    .option('--errors <file>', 'file for rejected items, with the reason (default: next to the output)')
    .option('--with <member=input>', 'the other input, the same for all items: --with target=2.3522,48.8566')
    .addOption(
      new Option('--attest <how>', 'sign each result or none (default: each; none in a table)').choices([
        'each',
        'none',
      ]),
    )
    .option('--recipient <address>', 'recipient of the results', hexBytes(20))
    .option('--concurrency <number>', 'number of concurrent requests', integerBetween(1, 64), 2)
    .option('--chunk <items>', 'items per request', integerBetween(1, 10_000), 256)
    .option('--restart', 'start again and overwrite the results of an earlier run')
    .option('--job', 'have the service compute the file as a job, which goes on if this command ends')
    .option('--submit', 'with --job: have the service submit each result to the chain')
    .option('--local', 'compute in this process, without a service, and sign with the development key')
    .option('--data <folder>', 'folder of the development key of --local (default: DATA_DIR, or ./.data)')
    .addOption(formatOption())
    .option('--columns <names>', 'columns of a table without a header: lon,lat')
  withServer(withChain(withJson(withMembers(command, ', if the file has none'))))
  withExamples(
    command,
    'trigpoint batch distance stops.csv --with to=2.3522,48.8566 -o distances.csv --local',
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

export function addVerify(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('verify')
    .description('verify a result, a batch, a proof or a stamp, check by check')
    .argument('<file>', 'a file, - for standard input, or the address of a receipt; several results as lines of JSON')
    .option('--attester <address>', 'expected signer; can be repeated', collectOption)
    .option('--issuer <file>', 'your copy of /.well-known/attester.json, or the URL of a service')
    // Other verbs take it, so it is tried here too: the error then names --issuer.
    .addOption(new Option('--url <address>').hideHelp())
    .option('--chain-id <id>', 'expected chain', integerBetween(1, Number.MAX_SAFE_INTEGER))
    .option(
      '--geometry <input>',
      'input of the request, as in compute; repeat it in the order of the request',
      collectOption,
    )
    .option('--recompute', 'recompute the result; needs --geometry')
    .option('--batch <file>', 'the batch of an item with a Merkle proof, or the attestation of the job of a line')
    .option('--proof <file>', 'the Merkle proof of a line of a job')
    .option('--rpc <address>', 'RPC URL to check the chain too: contract, schema, nonce, simulation, or the submission')
    .option('--allow-expired', 'accept a deadline that has passed')
    .option('--nonce <number>', 'nonce of a bare attestation', integerBetween(0, Number.MAX_SAFE_INTEGER))
    .option('--deadline <seconds>', 'deadline of a bare attestation', integerBetween(0, 2 ** 48))
    .addOption(formatOption())
  withJson(command)
  withExamples(
    command,
    'trigpoint verify answer.json --attester 0xDe20EEBf65d712AF3816d75Aa4f8FaA522C81002',
    'trigpoint verify answer.json --geometry 2.2945,48.8584 --geometry 2.3522,48.8566 --recompute',
    'trigpoint verify item.json --batch batch.json --issuer attester.json',
    'trigpoint verify line.json --proof proof.json --batch attestation.json --issuer attester.json',
    'trigpoint verify results.ndjson --issuer http://127.0.0.1:3000',
    "trigpoint verify 'https://geo.example.org/verify#r=…' --issuer attester.json",
  )
  command.action(async (file, options) => {
    const { runVerify } = await import('../commands/verify.ts')
    finish(await runVerify(file, options, terminal))
  })
}

export function addReceipt(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('receipt')
    .description('put a signed answer into an address that anyone can check, or check such an address')
    .argument('[file]', 'the answer: a file, or - for standard input', '-')
    .option('--url <address>', `service whose page /verify opens the receipt (default: ${DEFAULT_URL_TEXT})`)
    .option(
      '--geometry <input>',
      'input of the request, as in compute, to include it; repeat it in the order of the request',
      collectOption,
    )
    .option('--read <receipt>', 'check the address of a receipt instead, as verify does')
    .option('--attester <address>', 'with --read: expected signer; can be repeated', collectOption)
    .option('--issuer <file>', 'with --read: your copy of /.well-known/attester.json, or the URL of a service')
    .addOption(formatOption())
  withJson(command)
  withExamples(
    command,
    'trigpoint receipt answer.json --url https://geo.example.org --geometry 2.2945,48.8584 --geometry 2.3522,48.8566',
    "trigpoint receipt --read 'https://geo.example.org/verify#r=…' --issuer attester.json",
  )
  command.action(async (file, options) => {
    const { runReceipt } = await import('../commands/receipt.ts')
    finish(await runReceipt(file, options, terminal))
  })
}
