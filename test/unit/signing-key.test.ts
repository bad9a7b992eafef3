import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mnemonicToAccount } from 'viem/accounts'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { loadDevelopmentKey } from '../../src/attest/development-key.ts'
import { decryptKeystore } from '../../src/attest/keystore.ts'
import { resolveSigningKey } from '../../src/attest/signing-key.ts'
import { readConfig } from '../../src/config/config.ts'
import { ConfigError, type Environment } from '../../src/config/setting.ts'
import {
  forgetSigningKey,
  publicEnvironment,
  readSigningKey,
  type SigningKeySource,
} from '../../src/config/signing-key.ts'
import { publicKeyAddress } from '../../src/crypto/address.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak, Secp256k1 } from '../../src/crypto/primitives.ts'
import { loadSecp256k1 } from '../../src/crypto/secp256k1.ts'

const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const MNEMONIC = 'test test test test test test test test test test test junk'

// The PBKDF2 test vector of the Web3 Secret Storage definition.
const SECRET = '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const PASSWORD = 'testpassword'
const PBKDF2 = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  version: 3,
}
// The light scrypt key of go-ethereum's test data; its password is empty and its address is published with it.
const SCRYPT = {
  address: '45dea0fb0bba44f4fcf290bba71fd57d7117cbb8',
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: 'dc4926b48a105133d2f16b96833abf1e' },
    ciphertext: 'b87781948a1befd247bff51ef4063f716cf6c2d3481163e9a8f42e1f9bb74145',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 2,
      p: 1,
      r: 8,
      salt: '004244bbdc51cadda545b1cfa43cff9ed2ae88e08c61f1479dbb45410722f8f0',
    },
    mac: '39990c1684557447940d4c69e06b1b82b2aceacb43f284df65c956daf3046b85',
  },
  version: 3,
}

let dir: string
let keccak: Keccak
let secp256k1: Secp256k1
beforeAll(async () => {
  keccak = await createKeccak()
  secp256k1 = await loadSecp256k1()
})
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'trigpoint-key-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const read = (env: Environment) => readSigningKey(env, readConfig({ DATA_DIR: dir, ...env }, 1))
const resolve = (source: SigningKeySource) => resolveSigningKey(source, secp256k1, keccak)

describe('where the key comes from', () => {
  it('is the one setting of the environment that is set, otherwise a development key', () => {
    expect(read({ SIGNER_PRIVATE_KEY: KEY })).toEqual({ kind: 'private-key', privateKey: KEY })
    expect(read({ SIGNER_MNEMONIC: MNEMONIC })).toMatchObject({ kind: 'mnemonic', path: "m/44'/60'/0'/0/0" })
    expect(read({ SIGNER_KEYSTORE: 'a', SIGNER_PASSWORD_FILE: 'b' })).toEqual({
      kind: 'keystore',
      file: 'a',
      passwordFile: 'b',
    })
    expect(read({})).toEqual({ kind: 'development', file: join(dir, 'dev-signer.json') })
  })

  it('is rejected when several are set, or when a keystore has no password', () => {
    const all = { SIGNER_PRIVATE_KEY: KEY, SIGNER_MNEMONIC: MNEMONIC, SIGNER_KEYSTORE: 'a' }
    for (const name of Object.keys(all)) expect(() => read({ ...all, [name]: '' })).toThrow(ConfigError)
    expect(() => read({ SIGNER_KEYSTORE: 'a' })).toThrow(/SIGNER_PASSWORD_FILE/)
  })

  it('is never a generated key in production, unless a setting allows it explicitly', () => {
    expect(() => read({ NODE_ENV: 'production' })).toThrow(/SIGNER_PRIVATE_KEY.*ALLOW_DEV_KEY=1/)
    expect(read({ NODE_ENV: 'production', ALLOW_DEV_KEY: '1' }).kind).toBe('development')
    expect(read({ NODE_ENV: 'production', SIGNER_PRIVATE_KEY: KEY }).kind).toBe('private-key')
  })

  it('is removed from the environment; files and all other variables stay', () => {
    const environment: Record<string, string> = {
      SIGNER_PRIVATE_KEY: KEY,
      SIGNER_MNEMONIC: MNEMONIC,
      SIGNER_KEYSTORE: 'a',
      PATH: '/bin',
    }
    forgetSigningKey(environment)
    expect(environment).toEqual({ SIGNER_KEYSTORE: 'a', PATH: '/bin' })
  })

  it('is not read by code that needs only the other variables', () => {
    const environment = {
      get SIGNER_PRIVATE_KEY(): string {
        throw new Error('the key was read')
      },
      get SIGNER_MNEMONIC(): string {
        throw new Error('the mnemonic was read')
      },
      SIGNER_KEYSTORE: 'a',
      PATH: '/bin',
    }
    expect(publicEnvironment(environment)).toEqual({ SIGNER_KEYSTORE: 'a', PATH: '/bin' })
  })
})

describe('the key', () => {
  it('is read from hex digits with and without 0x', async () => {
    for (const privateKey of [KEY, `0x${KEY}`, ` 0x${KEY.toUpperCase()}\n`]) {
      expect(hex(await resolve({ kind: 'private-key', privateKey }))).toBe(KEY)
    }
  })

  it('is rejected without being repeated in the message when it is invalid', async () => {
    const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
    for (const privateKey of ['0'.repeat(64), order, 'f'.repeat(64), KEY.slice(1), `${KEY}0`, `${KEY.slice(0, -1)}g`]) {
      const error = await resolve({ kind: 'private-key', privateKey }).catch((reason: Error) => reason)
      expect(error).toBeInstanceOf(ConfigError)
      expect(String(error)).not.toContain(privateKey.slice(0, 20))
    }
  })

  it('is derived from a mnemonic along the derivation path', async () => {
    expect(hex(await resolve({ kind: 'mnemonic', mnemonic: MNEMONIC, path: "m/44'/60'/0'/0/0" }))).toBe(KEY)
    const other = await resolve({ kind: 'mnemonic', mnemonic: MNEMONIC, path: "m/44'/60'/0'/0/7" })
    const expected = mnemonicToAccount(MNEMONIC, { addressIndex: 7 }).address.toLowerCase()
    expect(publicKeyAddress(secp256k1.publicKey(other), keccak)).toBe(expected)
    for (const words of [`${'abandon '.repeat(11)}about`, `${'abandon '.repeat(23)}art`]) {
      // The all-zero vectors of BIP-39 for 12 and 24 words.
      const key = await resolve({ kind: 'mnemonic', mnemonic: words, path: "m/44'/60'/0'/0/0" })
      expect(publicKeyAddress(secp256k1.publicKey(key), keccak)).toBe(mnemonicToAccount(words).address.toLowerCase())
    }
    for (const [mnemonic, path] of [
      ['test test test', "m/44'/60'/0'/0/0"],
      [MNEMONIC.replace('junk', 'test'), "m/44'/60'/0'/0/0"],
      [MNEMONIC.replace('junk', 'trigpoint'), "m/44'/60'/0'/0/0"],
      [MNEMONIC, '44/60'],
    ] as const) {
      await expect(resolve({ kind: 'mnemonic', mnemonic, path })).rejects.toThrow(ConfigError)
    }
  })

  it('is decrypted from a keystore with the password in a file, without its line feed', async () => {
    const [file, passwordFile] = [join(dir, 'keystore.json'), join(dir, 'password')]
    writeFileSync(file, JSON.stringify(PBKDF2))
    writeFileSync(passwordFile, `${PASSWORD}\n`)
    expect(hex(await resolve({ kind: 'keystore', file, passwordFile }))).toBe(SECRET)
    writeFileSync(passwordFile, 'wrong')
    await expect(resolve({ kind: 'keystore', file, passwordFile })).rejects.toThrow(/cannot be decrypted/)
    await expect(resolve({ kind: 'keystore', file: join(dir, 'none'), passwordFile })).rejects.toThrow(/ENOENT/)
  })
})

describe('keystores', () => {
  it('open with the published vectors for PBKDF2 and scrypt', async () => {
    const pbkdf2 = await decryptKeystore(JSON.stringify(PBKDF2), PASSWORD, keccak)
    expect(pbkdf2.ok && hex(pbkdf2.key)).toBe(SECRET)
    const scrypt = await decryptKeystore(JSON.stringify(SCRYPT), '', keccak)
    expect(scrypt.ok && publicKeyAddress(secp256k1.publicKey(scrypt.key), keccak)).toBe(`0x${SCRYPT.address}`)
  })

  it('open with the scrypt cost that wallets use', async () => {
    // n and r of geth: 256 MiB. Another n gives another key, so the MAC check rejects it, not our limit.
    const { kdfparams } = SCRYPT.crypto
    const expensive = { ...SCRYPT, crypto: { ...SCRYPT.crypto, kdfparams: { ...kdfparams, n: 262_144 } } }
    expect(await decryptKeystore(JSON.stringify(expensive), '', keccak)).toEqual({
      ok: false,
      reason: 'cannot be decrypted with this password',
    })
  })

  it('are rejected when they are damaged or too costly', async () => {
    const damaged: unknown[] = [
      null,
      [],
      'text',
      { ...PBKDF2, version: 1 },
      { ...PBKDF2, crypto: undefined },
      { ...PBKDF2, crypto: { ...PBKDF2.crypto, cipher: 'aes-128-cbc' } },
      { ...PBKDF2, crypto: { ...PBKDF2.crypto, kdf: 'md5' } },
      { ...PBKDF2, crypto: { ...PBKDF2.crypto, mac: 'zz' } },
      { ...PBKDF2, crypto: { ...PBKDF2.crypto, ciphertext: '00' } },
      { ...PBKDF2, crypto: { ...PBKDF2.crypto, kdfparams: { ...PBKDF2.crypto.kdfparams, c: 2 ** 40 } } },
      { ...SCRYPT, crypto: { ...SCRYPT.crypto, kdfparams: { ...SCRYPT.crypto.kdfparams, n: 2 ** 30 } } },
      { ...SCRYPT, crypto: { ...SCRYPT.crypto, kdfparams: { ...SCRYPT.crypto.kdfparams, n: 1000 } } },
    ]
    for (const file of damaged) {
      expect((await decryptKeystore(JSON.stringify(file), PASSWORD, keccak)).ok, JSON.stringify(file)).toBe(false)
    }
    expect((await decryptKeystore('{', PASSWORD, keccak)).ok).toBe(false)
  })
})

describe('the development key', () => {
  const parts = (key = KEY) => ({
    generate: () => Buffer.from(key, 'hex'),
    addressOf: (bytes: Uint8Array) => publicKeyAddress(secp256k1.publicKey(bytes), keccak),
  })

  it('is written once, readable only by its owner, marked as a development key, and no other file remains', () => {
    const file = join(dir, 'made', 'dev-signer.json')
    expect(hex(loadDevelopmentKey(file, parts()))).toBe(KEY)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(dir, 'made')).mode & 0o077).toBe(0)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      purpose: 'DEVELOPMENT ONLY',
      address: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
      privateKey: `0x${KEY}`,
    })
    expect(readdirSync(join(dir, 'made'))).toEqual(['dev-signer.json'])
    expect(hex(loadDevelopmentKey(file, parts('22'.repeat(32))))).toBe(KEY)
  })

  it('is the one that another process wrote first', () => {
    const file = join(dir, 'dev-signer.json')
    const racing = {
      ...parts(),
      // Another process writes its key between our check and our write.
      generate: () => {
        loadDevelopmentKey(file, parts('33'.repeat(32)))
        return Buffer.from(KEY, 'hex')
      },
    }
    expect(hex(loadDevelopmentKey(file, racing))).toBe('33'.repeat(32))
  })

  it('is rejected when others can read its file, with the remedy in the message', () => {
    const file = join(dir, 'dev-signer.json')
    loadDevelopmentKey(file, parts())
    for (const mode of [0o644, 0o640, 0o604, 0o660]) {
      chmodSync(file, mode)
      expect(() => loadDevelopmentKey(file, parts())).toThrow(/chmod 600/)
    }
    chmodSync(file, 0o400)
    expect(hex(loadDevelopmentKey(file, parts()))).toBe(KEY)
  })

  it('is rejected when the file is damaged or has another purpose, without showing the key', () => {
    const file = join(dir, 'dev-signer.json')
    const good = {
      purpose: 'DEVELOPMENT ONLY',
      address: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
      privateKey: `0x${KEY}`,
    }
    for (const content of [
      '',
      '{',
      'null',
      JSON.stringify({ ...good, purpose: 'PRODUCTION' }),
      JSON.stringify({ ...good, address: `0x${'11'.repeat(20)}` }),
      JSON.stringify({ ...good, privateKey: `0x${'00'.repeat(32)}` }),
      JSON.stringify({ ...good, privateKey: KEY }),
    ]) {
      writeFileSync(file, content, { mode: 0o600 })
      let message = ''
      try {
        loadDevelopmentKey(file, parts())
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError)
        message = String(error)
      }
      expect(message).toMatch(/damaged/)
      expect(message).not.toContain(KEY)
    }
  })

  it('names the setting to change when the folder cannot be written', () => {
    writeFileSync(join(dir, 'file'), '')
    expect(() => loadDevelopmentKey(join(dir, 'file', 'dev-signer.json'), parts())).toThrow(ConfigError)
  })
})
