import { english, generateMnemonic, mnemonicToAccount } from 'viem/accounts'

/** 12 English words of 128 random bits (BIP-39) and the first key of an Ethereum wallet with them. */
export function newMnemonic(): { readonly mnemonic: string; readonly key: Uint8Array } {
  const mnemonic = generateMnemonic(english)
  const { privateKey } = mnemonicToAccount(mnemonic).getHdKey()
  if (privateKey === null) throw new Error('the words gave no key')
  return { mnemonic, key: privateKey }
}
