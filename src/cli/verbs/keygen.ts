import type { Command } from 'commander'
import { withExamples, withJson } from '../options.ts'
import type { Terminal } from '../terminal.ts'

export function addKeygen(program: Command, terminal: Terminal): void {
  const command = program
    .command('keygen')
    .description('generate a signing key (secp256k1) and store it in a file')
    .option('--out <file>', 'write the key to a new file that only its owner can read')
    .option('--keystore <file>', 'write the key to an encrypted keystore (version 3, scrypt); needs --password-file')
    .option('--password-file <file>', 'file with the password of the keystore')
    .option('--mnemonic', "generate 12 English words (BIP-39) and use key m/44'/60'/0'/0/0")
    .option('--reveal', 'print the secret (by default it is not printed)')
  withJson(command)
  withExamples(
    command,
    'trigpoint keygen --out signer.key',
    'trigpoint keygen --keystore signer.json --password-file password.txt   # SIGNER_KEYSTORE, SIGNER_PASSWORD_FILE',
    'trigpoint keygen --mnemonic --reveal',
  )
  command.action(async (options) => {
    const { runKeygen } = await import('../commands/keygen.ts')
    await runKeygen(options, terminal)
  })
}
