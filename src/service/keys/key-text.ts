/** The text of API keys, `tp_<tier>_<22 base62>_<6 base62>`, and of the tokens of a session. */
import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Tier } from '../../wire/key-messages.ts'

const TIER_CODES: Readonly<Record<Tier, string>> = { public: 'pub', developer: 'dev', internal: 'int' }
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_LENGTH = 22 // 62²² is 131 bits
const CHECKSUM_LENGTH = 6 // 62⁶ is more than 2³²

/** Makes a key `tp_<tier>_<22 base62>_<6 crc>`. Secret scanners find the prefix; the checksum detects typing errors. */
export function generateKey(tier: Tier): string {
  return withChecksum(`tp_${TIER_CODES[tier]}_${randomBase62(SECRET_LENGTH)}`)
}

/** Returns true if the last digits of a key are the checksum of the others. */
export function hasValidChecksum(key: string, prefix = 'tp_'): boolean {
  const separatorIndex = key.length - CHECKSUM_LENGTH - 1
  return (
    key.startsWith(prefix) &&
    key[separatorIndex] === '_' &&
    key.slice(separatorIndex + 1) === checksum(key.slice(0, separatorIndex))
  )
}

/** Appends an underscore and six digits. */
export function withChecksum(body: string): string {
  return `${body}_${checksum(body)}`
}

/** Makes a random text. 22 characters have 131 bits, 43 have 256. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    // 248 is the largest multiple of 62 in a byte; larger bytes would make the first characters more likely.
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62]
    }
  }
  return text
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
