import { randomBytes } from 'node:crypto'

/** Returns true if a client's own id may be used: 1–64 letters, digits and hyphens, which cannot forge a log line. */
export function isRequestId(text: string | undefined): text is string {
  if (text === undefined || text.length === 0 || text.length > 64) return false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const isDigit = code >= 0x30 && code <= 0x39
    const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
    if (!isDigit && !isLetter && code !== 0x2d) return false
  }
  return true
}

/**
 * Returns a generator of request ids. They are unique for 2³² requests of this process, show no order, and cost a fifth of a
 * random UUID.
 */
export function createRequestIds(): () => string {
  const prefix = randomBytes(6).toString('hex')
  const mask = randomBytes(4).readUInt32LE()
  let count = 0
  return () => {
    // Multiplying by an odd number permutes the 32-bit integers, so no value repeats.
    count = (count + 1) | 0
    return `${prefix}-${((Math.imul(count, 0x9e3779b1) ^ mask) >>> 0).toString(36)}`
  }
}
