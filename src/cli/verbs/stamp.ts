import type { Command } from 'commander'
import { collectOption, numberBetween, withExamples } from '../options.ts'
import type { Terminal } from '../terminal.ts'

export function addStamp(program: Command, terminal: Terminal): void {
  const stamp = program.command('stamp').description('create and sign location stamps for tests; they prove nothing')
  const create = stamp
    .command('create')
    .description('create a stamp of the mock plugin, signed if a key is given')
    .requiredOption('--at <place>', 'lon,lat, WKT, GeoJSON or a file')
    .option('--start <time>', 'ISO 8601 or Unix seconds (default now)')
    .option('--seconds <number>', 'duration of the observation', numberBetween(0, 31_536_000), 60)
    .option('--accuracy <meters>', 'value of the signal accuracy', numberBetween(0, 1_000_000), 10)
    .option('--plugin <name>', 'plugin of the stamp', 'mock')
    .option('--signal <name=value>', 'additional signal, JSON or text; can be repeated', collectOption)
  withKey(create)
  withExamples(
    create,
    'trigpoint stamp create --at 2.2945,48.8584 --key signer.key',
    'trigpoint stamp create --at 2.2945,48.8584 --key 0x…01 --start 2026-01-01T00:00:00Z   # the same every time',
  )
  create.action(async (options) => {
    const { createStamp } = await import('../commands/stamp.ts')
    await createStamp(options, terminal)
  })
  const sign = stamp
    .command('sign')
    .description('add a signature to a stamp')
    .argument('<stamp>', 'file with the stamp, or -')
    .option('--replace', 'remove existing signatures')
  withKey(sign)
  withExamples(sign, 'trigpoint stamp sign stamp.json --key signer.key | trigpoint verify -')
  sign.action(async (file, options) => {
    const { signStampFile } = await import('../commands/stamp.ts')
    await signStampFile(file, options, terminal)
  })
}

/** Adds the options for a key. It should be a file, because every user of the machine can see the command line. */
export function withKey(command: Command): Command {
  return command
    .option('--key <key>', 'key file (keygen, keystore, dev-signer.json); 0x… only for tests: process lists show it')
    .option('--password-file <file>', 'file with the password of a keystore')
}
