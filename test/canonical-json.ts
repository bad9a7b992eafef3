import { canonicalBytes } from '../src/geometry/canonical.ts'

/** Canonical text of any JSON value by RFC 8785. */
export const canonicalJson = (value: unknown): string => Buffer.from(canonicalBytes(value)).toString('utf8')
