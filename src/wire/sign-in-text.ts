/**
 * The text that a wallet signs to sign in (EIP-4361). The client writes it and the service reads it; both use this file, so there is one
 * description of its form. The whole text must have the form of the standard: a parser that looks for its lines would accept a text that
 * shows people something else. viem's is one of that kind.
 */
import type { Hex } from './values.ts'

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

/** What a client writes into a message. */
export interface SignInFields extends Pick<SignInMessage, 'domain' | 'uri' | 'chainId' | 'nonce' | 'issuedAtMs'> {
  /** With its checksum (EIP-55), as the standard requires. */
  readonly address: string
  /** One line for people, in printable ASCII. */
  readonly statement: string | undefined
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

/**
 * Writes the text for a wallet.
 *
 * @throws {RangeError} if the fields make no message of EIP-4361, such as a statement of two lines
 */
export function writeSignInText(fields: SignInFields): string {
  const { domain, address, statement, uri, chainId, nonce, issuedAtMs } = fields
  if (statement !== undefined && !/^[\x20-\x7e]+$/.test(statement))
    throw new RangeError('the statement is not one line of printable ASCII')
  const text = [
    `${domain} wants you to sign in with your Ethereum account:`,
    address,
    '',
    ...(statement === undefined ? [] : [statement]),
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${new Date(issuedAtMs).toISOString()}`,
  ].join('\n')
  const read = readSignInText(text)
  if (!read.ok) {
    const parts = JSON.stringify({ domain, address, uri, chainId, nonce })
    throw new RangeError(`the message ${read.reason}, with ${parts}`)
  }
  return text
}

/** Reads the text. `reason` continues a sentence about the message. */
export function readSignInText(
  text: string,
): { readonly ok: true; readonly message: SignInMessage } | { readonly ok: false; readonly reason: string } {
  if (!/^[\x20-\x7e\n]*$/.test(text))
    return { ok: false, reason: 'has a character that is neither printable ASCII nor a line feed' }
  const groups = MESSAGE.exec(text)?.groups
  if (groups === undefined) {
    const version = /\nVersion: (.*)/.exec(text)?.[1]
    const isOther = version !== undefined && version !== '1'
    return { ok: false, reason: isOther ? 'is not of version 1 of EIP-4361' : 'is not exactly a message of EIP-4361' }
  }
  const [issuedAtMs, expirationMs, notBeforeMs] = ['issued', 'expiration', 'notBefore'].map((name) =>
    groups[name] === undefined ? undefined : Date.parse(groups[name].toUpperCase()),
  )
  for (const [field, timeMs] of Object.entries({
    'Issued At': issuedAtMs,
    'Expiration Time': expirationMs,
    'Not Before': notBeforeMs,
  }))
    if (Number.isNaN(timeMs)) return { ok: false, reason: `has no time as its ${field}` }
  const message = {
    scheme: groups['scheme'],
    domain: groups['domain']!,
    address: groups['address'] as Hex,
    uri: groups['uri']!,
    chainId: Number(groups['chainId']),
    nonce: groups['nonce']!,
    issuedAtMs: issuedAtMs!,
    expirationMs,
    notBeforeMs,
  }
  return { ok: true, message }
}
