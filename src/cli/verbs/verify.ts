import type { Command } from 'commander'
import { formatOption } from '../inputs/format-option.ts'
import { collectOption, integerBetween, withExamples, withJson } from '../options.ts'
import type { Finish } from '../program.ts'
import type { Terminal } from '../terminal.ts'

export function addVerify(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('verify')
    .description('verify a result, a batch, a proof or a stamp, check by check')
    .argument('<file>', 'a file, or - for standard input; several results as lines of JSON')
    .option('--attester <address>', 'expected signer; can be repeated', collectOption)
    .option('--issuer <file>', 'your copy of /.well-known/attester.json, or the URL of a service')
    .option('--chain-id <id>', 'expected chain', integerBetween(1, Number.MAX_SAFE_INTEGER))
    .option(
      '--geometry <input>',
      'input of the request, as in compute; repeat it in the order of the request',
      collectOption,
    )
    .option('--recompute', 'recompute the result; needs --geometry')
    .option('--batch <file>', 'the batch of an item with a Merkle proof')
    .option('--rpc <address>', 'RPC URL to check the chain too: contract, schema, nonce, simulation')
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
    'trigpoint verify results.ndjson --issuer http://127.0.0.1:3000',
  )
  command.action(async (file, options) => {
    const { runVerify } = await import('../commands/verify.ts')
    finish(await runVerify(file, options, terminal))
  })
}
