/** Reads the bodies of a sign-in: the signed text (`wire/sign-in-text.ts`) with its signature, and the token of a refresh. */
import { problemAt } from '../base/problem.ts'
import { readSignInText, type SignInMessage } from '../wire/sign-in-text.ts'
import type { Hex } from '../wire/values.ts'
import { parseJsonObject } from './json-body.ts'
import { getValidator } from './schemas.ts'
import { check } from './sentences.ts'

export interface SignInRequest {
  readonly message: string
  readonly parsed: SignInMessage
  readonly signature: Hex
  /** UID of the attestation that is to give a higher tier. */
  readonly attestation: Hex | undefined
}

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
  const read = readSignInText(message)
  if (!read.ok) throw problemAt('invalid-input', ['message'], read.reason, FORM)
  return { message, signature, parsed: read.message, attestation: attestation?.toLowerCase() as Hex | undefined }
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
