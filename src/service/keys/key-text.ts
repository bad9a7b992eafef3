/** The text of an API key: `tp_<tier>_<22 base62>_<6 base62>`. */
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Tier } from '../../wire/key-messages.ts'

const TIER_CODES: Readonly<Record<Tier, string>> = { public: 'pub', developer: 'dev', internal: 'int' }
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_LENGTH = 22 // 62²² is 131 bits
const CHECKSUM_LENGTH = 6 // 62⁶ is more than 2³²

/** Makes a key `tp_<tier>_<22 base62>_<6 crc>`. Secret scanners find the prefix; the checksum detects typing errors. */
export function generateKey(tier: Tier): string {
  let secret = ''
  while (secret.length < SECRET_LENGTH) {
    // 248 is the largest multiple of 62 in a byte; larger bytes would make the first characters more likely.
    for (const byte of randomBytes(SECRET_LENGTH)) {
      if (byte < 248 && secret.length < SECRET_LENGTH) secret += BASE62[byte % 62]
    }
  }
  const body = `tp_${TIER_CODES[tier]}_${secret}`
  return `${body}_${checksum(body)}`
}

/** Returns true if the last digits of a key are the checksum of the others. */
export function hasValidChecksum(key: string): boolean {
  const separatorIndex = key.length - CHECKSUM_LENGTH - 1
  return (
    key.startsWith('tp_') &&
    key[separatorIndex] === '_' &&
    key.slice(separatorIndex + 1) === checksum(key.slice(0, separatorIndex))
  )
}

function checksum(text: string): string {
  let remaining = crc32(text)
  let digits = ''
  for (let index = 0; index < CHECKSUM_LENGTH; index++) {
    digits = BASE62[remaining % 62] + digits
    remaining = Math.floor(remaining / 62)
  }
  return digits
}
