import { canonicalBytes } from '../src/crypto/canonical.ts'

/** Returns the canonical JSON (RFC 8785) of any JSON value. */
export const canonicalJson = (value: unknown): string => Buffer.from(canonicalBytes(value)).toString('utf8')
