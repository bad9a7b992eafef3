/**
 * Reads the text that a wallet signs to sign in (EIP-4361). The whole text must have the form of the standard: a parser that looks for
 * its lines would accept a text that shows people something else. viem's is one of that kind.
 */
import { problemAt } from '../base/problem.ts'
import type { Hex } from '../wire/values.ts'
import { parseJsonObject } from './json-body.ts'
import { getValidator } from './schemas.ts'
import { check } from './sentences.ts'

/** A message of EIP-4361. Times are milliseconds since the epoch. */
export interface SignInMessage {
  readonly scheme: string | undefined
  /** Host, with a port unless it is that of the scheme. */
  readonly domain: string
  /** As written. */
  readonly address: Hex
  readonly uri: string
  readonly chainId: number
  readonly nonce: string
  readonly issuedAtMs: number
  readonly expirationMs: number | undefined
  readonly notBeforeMs: number | undefined
}

export interface SignInRequest {
  readonly message: string
  readonly parsed: SignInMessage
  readonly signature: Hex
  /** UID of the attestation that is to give a higher tier. */
  readonly attestation: Hex | undefined
}

const TIME = String.raw`\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)`
/** ABNF of EIP-4361, with the characters of a URI (RFC 3986) and of a date and time (RFC 3339). */
const MESSAGE = new RegExp(
  [
    String.raw`^(?:(?<scheme>[a-zA-Z][a-zA-Z0-9+.-]*)://)?(?<domain>[^\s/?#@]+) wants you to sign in with your Ethereum account:`,
    '(?<address>0x[0-9a-fA-F]{40})',
    '',
    // One line, or none.
    String.raw`(?:[\x20-\x7e]+\n)?`,
    String.raw`URI: (?<uri>[\x21-\x7e]+)`,
    'Version: 1',
    String.raw`Chain ID: (?<chainId>\d{1,15})`,
    'Nonce: (?<nonce>[a-zA-Z0-9]{8,64})',
    `Issued At: (?<issued>${TIME})`,
  ].join('\\n') +
    String.raw`(?:\nExpiration Time: (?<expiration>${TIME}))?(?:\nNot Before: (?<notBefore>${TIME}))?` +
    String.raw`(?:\nRequest ID: [\x21-\x7e]*)?(?:\nResources:(?:\n- [\x21-\x7e]+)*)?$`,
)

const FORM = {
  code: 'eip-4361',
  hint: 'make the message with createSiweMessage of viem/siwe or with another library for EIP-4361, and sign its text unchanged',
}

/**
 * Reads the body of a sign-in.
 *
 * @throws {ProblemError} `bad-request` or `invalid-input`
 */
export function readSignInRequest(body: Uint8Array, maxDepth: number): SignInRequest {
  const value = parseJsonObject(body, maxDepth)
  check(getValidator('account.schema.json#/$defs/SignInRequest'), value, [])
  const { message, signature, attestation } = value as unknown as {
    readonly message: string
    readonly signature: Hex
    readonly attestation?: Hex
  }
  const parsed = parseSignInMessage(message)
  return { message, signature, parsed, attestation: attestation?.toLowerCase() as Hex | undefined }
}

/**
 * Reads the body of a refresh.
 *
 * @throws {ProblemError} `bad-request` or `invalid-input`
 */
export function readRefreshRequest(body: Uint8Array, maxDepth: number): string {
  const value = parseJsonObject(body, maxDepth)
  check(getValidator('account.schema.json#/$defs/RefreshRequest'), value, [])
  return (value as unknown as { readonly refreshToken: string }).refreshToken
}

/** @throws {ProblemError} `invalid-input` if the text is not a message of EIP-4361 */
export function parseSignInMessage(message: string): SignInMessage {
  if (!/^[\x20-\x7e\n]*$/.test(message)) {
    const detail = 'has a character that is neither printable ASCII nor a line feed'
    throw problemAt('invalid-input', ['message'], detail, FORM)
  }
  const groups = MESSAGE.exec(message)?.groups
  if (groups === undefined) {
    const version = /\nVersion: (.*)/.exec(message)?.[1]
    const detail =
      version === undefined || version === '1'
        ? 'is not exactly a message of EIP-4361'
        : `is not of version 1 of EIP-4361`
    throw problemAt('invalid-input', ['message'], detail, FORM)
  }
  const time = (name: string, field: string) => (groups[name] === undefined ? undefined : readTime(groups[name], field))
  return {
    scheme: groups['scheme'],
    domain: groups['domain']!,
    address: groups['address'] as Hex,
    uri: groups['uri']!,
    chainId: Number(groups['chainId']),
    nonce: groups['nonce']!,
    issuedAtMs: time('issued', 'Issued At')!,
    expirationMs: time('expiration', 'Expiration Time'),
    notBeforeMs: time('notBefore', 'Not Before'),
  }
}

function readTime(text: string, field: string): number {
  const timeMs = Date.parse(text.toUpperCase())
  if (Number.isNaN(timeMs)) throw problemAt('invalid-input', ['message'], `${field} is not a time`, FORM)
  return timeMs
}
