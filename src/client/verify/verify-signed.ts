import { createLeafHasher, verifyMerkleProof } from '../../attest/merkle-proof.ts'
import { bytesToHex } from '../../crypto/hex.ts'
import type { ResultSignature, VerifyProofResponse } from '../../types/generated.ts'
import {
  ATTESTATION_FORM,
  COMPUTE_FORM,
  DELEGATION_FORM,
  type Form,
  findFaults,
  isObject,
  MATCH_FORM,
  MERKLE_ITEM_FORM,
  MERKLE_ROOT_FORM,
  PROOF_ATTESTATION_FORM,
  PROOF_FORM,
  RESULT_SIGNATURE_FORM,
  SIGNED_FORM,
  SIGNED_RESULT_FORM,
} from '../forms.ts'
import {
  type CheckContext,
  type CheckedAttestation,
  checkAttestation,
  checkAttestationDeadline,
  checkDeadline,
  checkItemData,
  checkLoneResultSignature,
  checkResultSignature,
  checkTime,
  type Signed,
  type SubmissionState,
} from './check-attestation.ts'
import { checkOnChain } from './check-chain.ts'
import { checkInputs, type InputSalts, refuseInputs } from './check-inputs.ts'
import { checkProof, checkUid } from './check-proof.ts'
import { type DataKind, describeData, findDifferences, type SignedData } from './signed-data.ts'
import { skipSubmission, submissionFaults, submissionOf } from './submission.ts'
import type { JobProof, VerifyResultOptions } from './verdict.ts'
import { CheckList, type ResponseKind, type Verdict } from './verdict.ts'

/** `refUID` of an attestation that refers to no other, as in all of the service. */
const NO_UID = `0x${'0'.repeat(64)}`
const RESULT_KINDS = ['numeric', 'boolean'] as const

interface Layout {
  readonly form: Form
  readonly attestation: Form
  /** Kinds of data that the attestation may have. */
  readonly kinds: readonly DataKind[]
}

const LAYOUTS: Readonly<Record<'compute' | 'attestation' | 'merkle-root' | 'verified-proof', Layout>> = {
  compute: { form: COMPUTE_FORM, attestation: ATTESTATION_FORM, kinds: RESULT_KINDS },
  attestation: {
    form: SIGNED_FORM,
    attestation: ATTESTATION_FORM,
    kinds: ['numeric', 'boolean', 'verify', 'merkle-root'],
  },
  'merkle-root': { form: MERKLE_ROOT_FORM, attestation: ATTESTATION_FORM, kinds: ['merkle-root'] },
  'verified-proof': { form: PROOF_FORM, attestation: PROOF_ATTESTATION_FORM, kinds: ['verify'] },
}

/** What to do with a line of a job whose root is signed. A batch has the proof in the item. */
const LINE_HINT =
  ': a line of a job is signed with the root of the job, so verify one line at a time and also give its proof (GET …/jobs/{id}/results/{n}/proof, as --proof or proof) and the answer of GET …/jobs/{id}/attestation (as --batch or merkle)'

/** Checks a response that has its own attestation. */
export async function verifySigned(
  kind: keyof typeof LAYOUTS,
  value: Record<string, unknown>,
  options: VerifyResultOptions,
  context: CheckContext,
  list: CheckList,
): Promise<Verdict> {
  const layout = LAYOUTS[kind]
  if (!('attestation' in value)) {
    const hint = isMatch(kind, value) ? ': match with attest=each' : 'data' in value ? LINE_HINT : ''
    const reason =
      'error' in value ? 'is a problem, which is never signed' : `has no attestation, so it is not signed${hint}`
    list.fail('signature', reason)
    return list.verdict(kind)
  }
  const faults = [
    ...findFaults(value, isMatch(kind, value) ? MATCH_FORM : layout.form),
    ...findFaults(value['attestation'], layout.attestation, 'attestation.'),
    ...findFaults(value['delegatedAttestation'], DELEGATION_FORM, 'delegatedAttestation.'),
    ...('resultSignature' in value
      ? findFaults(value['resultSignature'], RESULT_SIGNATURE_FORM, 'resultSignature.')
      : []),
    ...submissionFaults(value),
  ]
  if (!list.judge('form', faults, 'has the members of its kind and no others')) return list.verdict(kind)
  const signed = value as unknown as Signed
  const checked = checkAttestation(signed, layout.kinds, contextFor(kind, value, context, list), list)
  const { chain, data } = checked
  const uid = kind === 'verified-proof' ? String((value['attestation'] as Record<string, unknown>)['uid']) : undefined
  const attested = { attested: signed.attestation, delegated: signed.delegatedAttestation, data, uid }
  const onChain = await askChain(attested, value, chain, context)
  checkAttestationDeadline(signed.delegatedAttestation.deadline, chain, onChain, context, list)
  if (data !== undefined) checkMembers(kind, value, data, signed, checked, options, context, list)
  if ('resultSignature' in value) {
    checkResultSignature(signed, value['resultSignature'] as ResultSignature, chain, onChain, context, list)
  }
  skipUnsigned(value, list)
  skipSubmission(onChain.submission, onChain.checks.length > 0, list)
  list.checks.push(...onChain.checks)
  return list.verdict(kind, {
    ...(data === undefined ? {} : { statement: describeData(data, signed.attestation.recipient) }),
    ...(chain === undefined ? {} : { signer: signed.attestation.attester, chainId: chain.id }),
  })
}

/**
 * Compares a response with its chain, if there is an RPC.
 *
 * @returns the checks; empty if the chain was not asked
 */
async function askChain(
  attested: Pick<Parameters<typeof checkOnChain>[0], 'attested' | 'delegated' | 'data' | 'uid'>,
  value: Readonly<Record<string, unknown>>,
  chain: CheckedAttestation['chain'],
  { reader, keccak }: CheckContext,
): Promise<SubmissionState & Pick<CheckList, 'checks'>> {
  const list = new CheckList()
  const submission = submissionOf(value)
  const isOnChain =
    reader !== undefined &&
    chain !== undefined &&
    (await checkOnChain({ ...attested, submission, chain, reader, keccak, list }))
  return { isOnChain, submission, checks: list.checks }
}

/** Returns whether a result is a match of a point with a set. Only matches name a feature. */
function isMatch(kind: ResponseKind, value: Readonly<Record<string, unknown>>): boolean {
  return kind === 'compute' && 'feature' in value
}

/** Adds a skipped check for each member that is not signed. */
function skipUnsigned(value: Readonly<Record<string, unknown>>, list: CheckList): void {
  if ('id' in value) list.skip('id', 'was chosen by the caller and is not signed')
  if ('feature' in value)
    list.skip('feature', 'names a feature of a set and was not signed; inputRefs has its geometry')
  if ('properties' in value) list.skip('properties', 'are those of the feature and were not signed')
  if ('notes' in value) list.skip('notes', 'say how inputs were read, and are not signed')
  if (!('proofInputs' in value)) return
  list.skip('proof-inputs', 'describe proofs among the inputs and are not signed; the references of the proofs are')
}

/** Restricts the context to the chain that a verified proof names; the check fails if the caller expects another one. */
function contextFor(
  kind: ResponseKind,
  value: Readonly<Record<string, unknown>>,
  context: CheckContext,
  list: CheckList,
): CheckContext {
  if (kind !== 'verified-proof') return context
  const chains = context.chains.filter(({ id }) => id === value['chainId'])
  if (chains.length === 0) list.fail('chain', `chain ${value['chainId']} is not the expected one, or is not known`)
  return { ...context, chains }
}

/** Checks that the response's other members match the signed data. */
function checkMembers(
  kind: ResponseKind,
  value: Record<string, unknown>,
  data: SignedData,
  signed: Signed,
  { chain }: CheckedAttestation,
  options: VerifyResultOptions,
  context: CheckContext,
  list: CheckList,
): void {
  const { deadline } = signed.delegatedAttestation
  switch (data.kind) {
    case 'verify':
      refuseInputs(options, 'the signed data names no inputs', list)
      if (kind !== 'verified-proof') return
      checkUid(value['attestation'] as never, context.keccak, list)
      checkTime(BigInt((value as unknown as VerifyProofResponse).evaluatedAt), deadline, context, list, false)
      checkProof(value as unknown as VerifyProofResponse, data, context.keccak, list)
      return
    case 'merkle-root':
      refuseInputs(options, 'the signed data names no inputs', list)
      checkTime(BigInt(data.timestampSeconds), deadline, context, list)
      if (kind === 'merkle-root')
        list.judge('values', rootFaults(value, data), 'root and leafCount match the signed data')
      return
    default:
      if (kind === 'compute') list.judge('values', resultFaults(value, data), 'the members match the signed data')
      // The signature of `legacy` does not cover the deadline, so an expired deadline proves nothing.
      checkTime(data.timestampSeconds, chain?.profile === 'legacy' ? Number.MAX_SAFE_INTEGER : deadline, context, list)
      checkInputs(data, value['inputSalts'] as InputSalts, options, context, list)
  }
}

function resultFaults(value: Record<string, unknown>, data: Parameters<typeof findDifferences>[1]): string[] {
  const faults = [...findDifferences(value, data)]
  // A match by distance repeats its result.
  if ('distance' in value && value['distance'] !== value['result'])
    faults.push('distance is not the result, which was signed')
  return faults
}

function rootFaults(value: Record<string, unknown>, data: Extract<SignedData, { kind: 'merkle-root' }>): string[] {
  const faults: string[] = []
  if (String(value['root']).toLowerCase() !== data.merkleRoot)
    faults.push(`root is not ${data.merkleRoot}, which was signed`)
  if (value['leafCount'] !== data.leafCount) faults.push(`leafCount is not ${data.leafCount}, which was signed`)
  return faults
}

/** The root of a batch, with the outcome of its checks. */
interface VerifiedRoot {
  readonly root: string
  readonly verdict: Verdict
}

/** Checks the root of a batch, once for all its items. @returns undefined if none is given */
export async function verifyRoot(given: unknown, context: CheckContext): Promise<VerifiedRoot | undefined> {
  const root = rootIn(given)
  if (root === undefined) return undefined
  return { root: String(root['root']), verdict: await verifySigned('merkle-root', root, {}, context, new CheckList()) }
}

/** Returns the root with its submission: from a batch, from the attestation of a job, or the root itself. */
export function rootIn(given: unknown): Record<string, unknown> | undefined {
  if (!isObject(given)) return undefined
  if (!('merkle' in given)) return given
  const { merkle, submission } = given
  if (!isObject(merkle) || submission === undefined) return isObject(merkle) ? merkle : undefined
  // A second submission would hide the first one, so the check of the members finds it.
  const { submission: inner, ...root } = merkle
  return { ...root, submission, ...(inner === undefined ? {} : { 'merkle.submission': inner }) }
}

/**
 * Checks an item of a batch that was signed as a whole: its leaf must be under the signed root.
 *
 * @param stated what the service says of the proof of a line of a job
 */
export function verifyMerkleItem(
  value: Record<string, unknown>,
  root: VerifiedRoot | undefined,
  options: VerifyResultOptions,
  context: CheckContext,
  list: CheckList,
  stated?: JobProof,
): Verdict {
  if (!list.judge('form', findFaults(value, MERKLE_ITEM_FORM), 'has the members of an item and no others')) {
    return list.verdict('merkle-item')
  }
  if (root === undefined) {
    list.fail(
      'signature',
      'the item is signed with its batch or job: also give the response to the batch, or the attestation of the job',
    )
    return list.verdict('merkle-item')
  }
  for (const check of root.verdict.checks) list.checks.push({ ...check, id: rootCheckId(check.id) })
  const item = value as unknown as { schema: string; recipient: string; data: string; proof: string[] }
  const proofFaults = stated === undefined ? [] : statedFaults(item, stated, root, context)
  if (!verifyMerkleProof(item, item.proof, root.root, context.keccak))
    proofFaults.push('the item is not under the root')
  list.judge('proof', proofFaults, 'the item is under the signed root')
  const data = checkItemData(item, context, list)
  if (data?.kind === 'numeric' || data?.kind === 'boolean') {
    list.judge('values', findDifferences(value, data), 'the members match the signed data')
    checkInputs(data, value['inputSalts'] as InputSalts, options, context, list)
  }
  skipUnsigned(value, list)
  return list.verdict('merkle-item', {
    ...(data === undefined ? {} : { statement: describeData(data, item.recipient) }),
    ...(root.verdict.signer === undefined ? {} : { signer: root.verdict.signer }),
    ...(root.verdict.chainId === undefined ? {} : { chainId: root.verdict.chainId }),
  })
}

/** Compares leaf and root of a proof with the line of the job and with the signed root. */
function statedFaults(
  item: Parameters<typeof verifyMerkleProof>[0],
  { operation, leaf, root }: JobProof,
  signed: VerifiedRoot,
  { keccak }: CheckContext,
): string[] {
  const faults: string[] = []
  if (`0x${bytesToHex(createLeafHasher(keccak)(item))}` !== leaf.toLowerCase())
    faults.push(`the proof is that of operation ${operation} (counted from 0), which is another line`)
  if (root.toLowerCase() !== signed.root.toLowerCase())
    faults.push(`the proof leads to the root ${root} of another job`)
  return faults
}

/** Checks a result whose only signature has no nonce, such as a result of a job. */
export async function verifySignedResult(
  value: Record<string, unknown>,
  options: VerifyResultOptions,
  context: CheckContext,
  list: CheckList,
): Promise<Verdict> {
  const faults = [
    ...findFaults(value, SIGNED_RESULT_FORM),
    ...findFaults(value['resultSignature'], RESULT_SIGNATURE_FORM, 'resultSignature.'),
    ...submissionFaults(value),
  ]
  if (!list.judge('form', faults, 'has the members of its kind and no others')) return list.verdict('signed-result')
  const { resultSignature, ...result } = value as unknown as SignedResult
  const chain = checkLoneResultSignature(result, resultSignature, context, list)
  const data = checkItemData(result, context, list)
  const { attester, deadline } = resultSignature
  const attested = { ...result, attester, revocable: true, refUID: NO_UID }
  const onChain = await askChain({ attested, delegated: undefined, data, uid: undefined }, value, chain, context)
  checkDeadline('deadline', deadline, onChain, context, list)
  if (data?.kind === 'numeric' || data?.kind === 'boolean') {
    list.judge('values', findDifferences(value, data), 'the members match the signed data')
    checkTime(data.timestampSeconds, deadline, context, list)
    checkInputs(data, value['inputSalts'] as InputSalts, options, context, list)
  }
  skipUnsigned(value, list)
  skipSubmission(onChain.submission, onChain.checks.length > 0, list)
  list.checks.push(...onChain.checks)
  return list.verdict('signed-result', {
    ...(data === undefined ? {} : { statement: describeData(data, result.recipient) }),
    ...(chain === undefined ? {} : { signer: resultSignature.attester, chainId: chain.id }),
  })
}

interface SignedResult {
  readonly schema: string
  readonly recipient: string
  readonly data: string
  readonly resultSignature: ResultSignature
}

/** Adds `root-` to the id of a check of the root if the check of an item has the same id. */
function rootCheckId(id: string): string {
  return ['form', 'schema', 'data', 'values'].includes(id) ? `root-${id}` : id
}
