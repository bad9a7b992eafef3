import { authenticateSignature } from '../../attest/authenticate.ts'
import type { BuiltInChain } from '../../attest/chains.ts'
import { createResultDigest } from '../../attest/typed-data.ts'
import { checksumAddress, recoverAddress } from '../../crypto/address.ts'
import { hexToBytes } from '../../crypto/hex.ts'
import type { Keccak, Secp256k1 } from '../../crypto/primitives.ts'
import { parseSignature } from '../../crypto/signature.ts'
import type { AttestationData, DelegatedAttestationData, ResultSignature } from '../../types/generated.ts'
import type { ChainReader } from './chain-reader.ts'
import { type DataKind, readSignedData, type SignedData, timeText } from './signed-data.ts'
import { deadlineAdvice, type StatedSubmission } from './submission.ts'
import type { CheckList } from './verdict.ts'

/** What the checks compare with. */
export interface CheckContext {
  /** The chains to try as the one that was signed for; only one when the caller named it. */
  readonly chains: readonly BuiltInChain[]
  /** Trusted signers, lower case; undefined when any signer is accepted. */
  readonly attesters: readonly string[] | undefined
  /** Known schema UIDs, lower case → their kind of data. */
  readonly schemas: ReadonlyMap<string, DataKind>
  readonly nowSeconds: number
  readonly allowExpired: boolean
  readonly keccak: Keccak
  readonly secp256k1: Secp256k1
  /** Reads the chain; undefined if the caller gave no RPC. */
  readonly reader: ChainReader | undefined
}

/** An attestation whose form has been checked. Only attestations of proofs have `expirationTime`. */
export interface Signed {
  readonly attestation: Omit<AttestationData, 'revocable' | 'signature'> & {
    readonly revocable: boolean
    readonly expirationTime?: number
    readonly signature?: string
  }
  readonly delegatedAttestation: DelegatedAttestationData
}

export interface CheckedAttestation {
  readonly chain: BuiltInChain | undefined
  readonly data: SignedData | undefined
}

/** The service's clock may be this far ahead of ours. */
const CLOCK_SKEW_SECONDS = 300

/**
 * Checks who signed, for which chain, until when, and what: adds `signer`, `signature`, `chain`, `schema`, `data`.
 *
 * @param expected kinds of data that are allowed in this response
 * @returns the chain that was signed for and the decoded data; undefined where a check failed
 */
export function checkAttestation(
  signed: Signed,
  expected: readonly DataKind[],
  context: CheckContext,
  list: CheckList,
): CheckedAttestation {
  const { attestation } = signed
  checkSigner(attestation.attester, context, list)
  const chain = checkSignature(signed, context, list)
  return { chain, data: checkData(attestation, expected, context, list) }
}

function checkSigner(attester: string, { attesters }: CheckContext, list: CheckList): void {
  if (attesters === undefined) {
    list.skip('signer', `${attester} was not compared: name the attester that you trust`)
  } else if (attesters.includes(attester.toLowerCase())) {
    list.pass('signer', `${attester} is the attester`)
  } else {
    list.fail('signer', `${attester} is not ${attesters.map((address) => checksumAddress(address)).join(' or ')}`)
  }
}

/** Finds the chain that was signed for. The signature covers the chain, so at most one fits. */
function checkSignature(signed: Signed, context: CheckContext, list: CheckList): BuiltInChain | undefined {
  const { attestation, delegatedAttestation } = signed
  const fields = { ...attestation, expirationTime: attestation.expirationTime ?? 0 }
  const attesters = [attestation.attester.toLowerCase()]
  let reason = 'no chain to compare with is known'
  for (const chain of context.chains) {
    const { keccak, secp256k1 } = context
    const authentication = authenticateSignature(
      { attestation: fields, delegatedAttestation: { ...delegatedAttestation } },
      { chain, attesters, keccak, secp256k1 },
    )
    if (authentication.ok) {
      list.pass('signature', `${attestation.attester} signed these fields with nonce ${delegatedAttestation.nonce}`)
      list.pass('chain', `signed for ${chain.name} (${chain.id}), EAS ${chain.easVersion} at ${chain.easAddress}`)
      return chain
    }
    reason =
      context.chains.length === 1 ? authentication.reason : 'the attester did not sign these fields for any known chain'
  }
  list.fail('signature', reason)
  return undefined
}

/** Decodes the data as its schema says. Under an unknown schema, the expected kinds are tried. */
function checkData(
  { schema, data }: Pick<Signed['attestation'], 'schema' | 'data'>,
  expected: readonly DataKind[],
  { schemas }: Pick<CheckContext, 'schemas'>,
  list: CheckList,
): SignedData | undefined {
  const kind = schemas.get(schema.toLowerCase())
  if (kind === undefined) {
    list.skip('schema', `${schema} is not a schema of this service; only its registry can say what it means`)
  } else if (expected.includes(kind)) {
    list.pass('schema', `${schema} is the schema of ${kind} data`)
  } else {
    list.fail('schema', `${schema} is the schema of ${kind} data, not of ${expected.join(' or ')}`)
  }
  const kinds = kind === undefined ? expected : [kind]
  const reasons: string[] = []
  for (const candidate of kinds) {
    const read = readSignedData(candidate, data)
    if (read.ok) {
      list.pass('data', `is ${candidate} data in its canonical encoding`)
      return read.value
    }
    reasons.push(read.reason)
  }
  list.fail('data', `is not ${kinds.join(' or ')} data: it ${reasons.join('; it ')}`)
  return undefined
}

/** Checks schema and data of a result without an attestation: adds `schema` and `data`. */
export function checkItemData(
  item: Pick<Signed['attestation'], 'schema' | 'data'>,
  context: CheckContext,
  list: CheckList,
): SignedData | undefined {
  return checkData(item, ['numeric', 'boolean'], context, list)
}

/** What is known of the submission of a response when its deadline is checked. */
export interface SubmissionState {
  /** Whether the chain has the attestation, which then needs no deadline. */
  readonly isOnChain: boolean
  readonly submission: StatedSubmission | undefined
}

/** Checks the deadline of an attestation: adds `deadline`. */
export function checkAttestationDeadline(
  deadline: number,
  chain: BuiltInChain | undefined,
  state: SubmissionState,
  context: CheckContext,
  list: CheckList,
): void {
  if (chain?.profile === 'legacy' && !state.isOnChain) {
    list.skip(
      'deadline',
      `EAS ${chain.easVersion} of ${chain.name} does not sign the deadline: any submitter can change it`,
    )
  } else checkDeadline('deadline', deadline, state, context, list)
}

/** Checks a deadline: adds `deadline` or the given id. */
export function checkDeadline(
  id: 'deadline' | 'result-deadline',
  deadline: number,
  { isOnChain, submission }: SubmissionState,
  { nowSeconds, allowExpired }: CheckContext,
  list: CheckList,
): void {
  if (isOnChain) list.skip(id, 'not needed: the attestation is on the chain')
  else if (nowSeconds <= deadline) list.pass(id, `may be submitted until ${timeText(deadline)}`)
  else if (allowExpired) list.skip(id, `passed at ${timeText(deadline)}; expired attestations are allowed`)
  else list.fail(id, `passed at ${timeText(deadline)}: ${deadlineAdvice(submission)}`)
}

/**
 * Checks that the time of computation is neither in the future nor after the deadline: adds `time`.
 *
 * @param isSigned false for a time that anyone may have changed, which is never more than possible
 */
export function checkTime(
  timestampSeconds: bigint,
  deadline: number,
  context: CheckContext,
  list: CheckList,
  isSigned = true,
): void {
  const faults: string[] = []
  if (Number(timestampSeconds) > context.nowSeconds + CLOCK_SKEW_SECONDS) faults.push('is in the future')
  if (Number(timestampSeconds) > deadline) faults.push('is after the deadline')
  const text = timeText(timestampSeconds)
  if (faults.length === 0 && !isSigned) {
    list.skip('time', `the time of evaluation, ${text}, is possible but not signed`)
    return
  }
  list.judge(
    'time',
    faults.map((fault) => `the time of computation, ${text}, ${fault}`),
    `computed ${text}`,
  )
}

/** Checks the signature that contracts can check without EAS: adds `result-signature` and `result-deadline`. */
export function checkResultSignature(
  { attestation }: Signed,
  given: ResultSignature,
  chain: BuiltInChain | undefined,
  state: SubmissionState,
  context: CheckContext,
  list: CheckList,
): void {
  if (chain === undefined) {
    list.fail('result-signature', 'the chain that it should be signed for is not known')
    return
  }
  const parsed = parseSignature(given.signature)
  if (!parsed.ok) {
    list.fail('result-signature', parsed.reason)
    return
  }
  const faults: string[] = []
  if (given.attester.toLowerCase() !== attestation.attester.toLowerCase()) faults.push('names another attester')
  if (!hasSignedResult(attestation, given, parsed.signature, chain, context))
    faults.push(`${given.attester} did not sign this result`)
  list.judge('result-signature', faults, `${given.attester} signed the result without a nonce`)
  checkDeadline('result-deadline', given.deadline, state, context, list)
}

type ResultFields = Pick<Signed['attestation'], 'schema' | 'recipient' | 'data'>

/**
 * Checks the signature of a result that has no attestation: adds `signer`, `signature` and `chain`.
 *
 * @returns the chain that was signed for
 */
export function checkLoneResultSignature(
  result: ResultFields,
  given: ResultSignature,
  context: CheckContext,
  list: CheckList,
): BuiltInChain | undefined {
  checkSigner(given.attester, context, list)
  const parsed = parseSignature(given.signature)
  const chain = parsed.ok
    ? context.chains.find((candidate) => hasSignedResult(result, given, parsed.signature, candidate, context))
    : undefined
  if (chain === undefined) {
    const expected = context.chains.length === 1 ? `chain ${context.chains[0]!.id}` : 'any known chain'
    list.fail('signature', parsed.ok ? `${given.attester} did not sign this result for ${expected}` : parsed.reason)
  } else {
    list.pass('signature', `${given.attester} signed the result without a nonce`)
    list.pass('chain', `signed for ${chain.name} (${chain.id})`)
  }
  return chain
}

function hasSignedResult(
  { schema, recipient, data }: ResultFields,
  { attester, deadline: deadlineSeconds, salt }: ResultSignature,
  signature: Parameters<typeof recoverAddress>[1],
  chain: BuiltInChain,
  { keccak, secp256k1 }: CheckContext,
): boolean {
  const toDigest = createResultDigest(chain.id, keccak)
  const digest = toDigest({ schema, recipient, data: hexToBytes(data)!, deadlineSeconds, salt })
  return recoverAddress(digest, signature, secp256k1, keccak) === attester.toLowerCase()
}
