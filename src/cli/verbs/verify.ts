import type { Command } from 'commander'
import { formatOption } from '../inputs/format-option.ts'
import { collected, integerBetween, withExamples, withJson } from '../options.ts'
import type { Finish } from '../program.ts'
import type { Terminal } from '../terminal.ts'

export function addVerify(program: Command, terminal: Terminal, finish: Finish): void {
  const command = program
    .command('verify')
    .description('say check by check whether an answer, a batch, a proof or a stamp holds')
    .argument('<answer>', 'a file, or - for standard input; many answers as lines of JSON')
    .option('--attester <address>', 'who should have signed; can be repeated', collected)
    .option('--issuer <file>', 'a copy of /.well-known/attester.json that you keep; an address asks that service')
    .option('--chain-id <id>', 'chain it should be signed for', integerBetween(1, Number.MAX_SAFE_INTEGER))
    .option('--geometry <input>', 'what was asked, in its order, as in compute; can be repeated', collected)
    .option('--recompute', 'compute the result again; needs --geometry')
    .option('--batch <file>', 'the batch that an item with a Merkle proof came from')
    .option('--rpc <address>', 'ask the chain too: contract, schema, nonce, simulation')
    .option('--allow-expired', 'a deadline that has passed is no failure')
    .option('--nonce <number>', 'of an attestation without its delegation', integerBetween(0, Number.MAX_SAFE_INTEGER))
    .option('--deadline <seconds>', 'of an attestation without its delegation', integerBetween(0, 2 ** 48))
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
    const { runVerify } = await import('../run/verify.ts')
    finish(await runVerify(file, options, terminal))
  })
}
