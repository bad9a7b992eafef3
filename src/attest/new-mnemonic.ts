import { english, generateMnemonic, mnemonicToAccount } from 'viem/accounts'

/** Generates a BIP-39 mnemonic of 12 English words (128 random bits), and derives the first key of its Ethereum wallet. */
export function newMnemonic(): { readonly mnemonic: string; readonly key: Uint8Array } {
  const mnemonic = generateMnemonic(english)
  const { privateKey } = mnemonicToAccount(mnemonic).getHdKey()
  if (privateKey === null) throw new Error('the mnemonic has no private key')
  return { mnemonic, key: privateKey }
}
