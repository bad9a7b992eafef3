import type { Command } from 'commander'
import { collected, numberBetween, withExamples } from '../options.ts'
import type { Terminal } from '../terminal.ts'

export function addStamp(program: Command, terminal: Terminal): void {
  const stamp = program.command('stamp').description('make and sign location stamps, for tests: evidence of nothing')
  const create = stamp
    .command('create')
    .description('a stamp of the mock plugin, signed when a key is given')
    .requiredOption('--at <place>', 'lon,lat, WKT, GeoJSON or a file')
    .option('--start <time>', 'ISO 8601 or Unix seconds (default now)')
    .option('--seconds <number>', 'how long it was observed', numberBetween(0, 31_536_000), 60)
    .option('--accuracy <meters>', 'signal of that name', numberBetween(0, 1_000_000), 10)
    .option('--plugin <name>', 'kind of evidence', 'mock')
    .option('--signal <name=value>', 'another signal, JSON or text; can be repeated', collected)
  withKey(create)
  withExamples(
    create,
    'trigpoint stamp create --at 2.2945,48.8584 --key signer.key',
    'trigpoint stamp create --at 2.2945,48.8584 --key 0x…01 --start 2026-01-01T00:00:00Z   # the same every time',
  )
  create.action(async (options) => {
    const { createStamp } = await import('../run/stamp.ts')
    await createStamp(options, terminal)
  })
  const sign = stamp
    .command('sign')
    .description('sign a stamp; its own signatures stay')
    .argument('<stamp>', 'a file, or -')
    .option('--replace', 'drop the signatures that are there')
  withKey(sign)
  withExamples(sign, 'trigpoint stamp sign stamp.json --key signer.key | trigpoint verify -')
  sign.action(async (file, options) => {
    const { signStampFile } = await import('../run/stamp.ts')
    await signStampFile(file, options, terminal)
  })
}

/** Keys in files: a key on the command line is seen by everybody on the machine, and is for tests. */
export function withKey(command: Command): Command {
  return command
    .option(
      '--key <key>',
      'a key file (keygen, keystore, dev-signer.json); 0x… for tests alone: lists of processes show it',
    )
    .option('--password-file <file>', 'password of a keystore')
}
