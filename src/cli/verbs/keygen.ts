import type { Command } from 'commander'
import { withExamples, withJson } from '../options.ts'
import type { Terminal } from '../terminal.ts'

export function addKeygen(program: Command, terminal: Terminal): void {
  const command = program
    .command('keygen')
    .description('make a signing key (secp256k1) and keep it in a file')
    .option('--out <file>', 'write the key itself into a new file that its owner alone can read')
    .option('--keystore <file>', 'write it encrypted (version 3, scrypt); needs --password-file')
    .option('--password-file <file>', 'holds the password of the keystore')
    .option('--mnemonic', "12 English words (BIP-39), key m/44'/60'/0'/0/0")
    .option('--reveal', 'print the secret, which is not printed else')
  withJson(command)
  withExamples(
    command,
    'trigpoint keygen --out signer.key',
    'trigpoint keygen --keystore signer.json --password-file password.txt   # SIGNER_KEYSTORE, SIGNER_PASSWORD_FILE',
    'trigpoint keygen --mnemonic --reveal',
  )
  command.action(async (options) => {
    const { runKeygen } = await import('../run/keygen.ts')
    await runKeygen(options, terminal)
  })
}
