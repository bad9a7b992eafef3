import { verifyMerkleProof } from '../attest/merkle-proof.ts'
import type { ResultSignature, VerifyProofResponse } from '../types/generated.ts'
import { createChainReader } from './chain-calls.ts'
import {
  type CheckContext,
  checkAttestation,
  checkItemData,
  checkResultSignature,
  checkTime,
  type FoundSigned,
  type Signed,
} from './check-attestation.ts'
import { checkOnChain } from './check-chain.ts'
import { checkInputs } from './check-inputs.ts'
import { checkProof, checkUid } from './check-proof.ts'
import {
  ATTESTATION_FORM,
  COMPUTE_FORM,
  DELEGATION_FORM,
  type Form,
  faultsOf,
  isObject,
  MERKLE_ITEM_FORM,
  MERKLE_ROOT_FORM,
  PROOF_ATTESTATION_FORM,
  PROOF_FORM,
  RESULT_SIGNATURE_FORM,
  SIGNED_FORM,
} from './forms.ts'
import { type DataKind, differencesOf, type SignedData, statementOf } from './signed-data.ts'
import { type AnswerKind, CheckList, type Verdict } from './verdict.ts'
import type { VerifyResultOptions } from './verify-options.ts'

const RPC_TIMEOUT_MS = 10_000
const RESULT_KINDS = ['numeric', 'boolean'] as const

interface Layout {
  readonly form: Form
  readonly attestation: Form
  /** What may stand in its data. */
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

/** The answers that have an attestation of their own. */
export async function verifySigned(
  kind: keyof typeof LAYOUTS,
  value: Record<string, unknown>,
  options: VerifyResultOptions,
  context: CheckContext,
  list: CheckList,
): Promise<Verdict> {
  const layout = LAYOUTS[kind]
  if (!('attestation' in value)) {
    const signed = 'error' in value ? 'is a refusal, which nobody signs' : 'has no attestation: nobody signed it'
    list.fail('signature', signed)
    return list.verdict(kind)
  }
  const faults = [
    ...faultsOf(value, layout.form),
    ...faultsOf(value['attestation'], layout.attestation, 'attestation.'),
    ...faultsOf(value['delegatedAttestation'], DELEGATION_FORM, 'delegatedAttestation.'),
    ...('resultSignature' in value
      ? faultsOf(value['resultSignature'], RESULT_SIGNATURE_FORM, 'resultSignature.')
      : []),
  ]
  if (!list.judge('form', faults, 'has the members of its kind and no others')) return list.verdict(kind)
  const signed = value as unknown as Signed
  const found = checkAttestation(signed, layout.kinds, contextFor(kind, value, context, list), list)
  const { chain, data } = found
  const uid = kind === 'verified-proof' ? String((value['attestation'] as Record<string, unknown>)['uid']) : undefined
  if (data !== undefined) checkSaid(kind, value, data, signed, found, options, context, list)
  if ('resultSignature' in value) {
    checkResultSignature(signed, value['resultSignature'] as ResultSignature, chain, context, list)
  }
  skipUnsigned(value, list)
  if (options.rpcUrl !== undefined && chain !== undefined) {
    const reader = createChainReader(options.rpcUrl, options.rpcTimeoutMs ?? RPC_TIMEOUT_MS, options.fetch ?? fetch)
    await checkOnChain(signed, data, uid, chain, reader, context.keccak, list)
  }
  return list.verdict(kind, {
    ...(data === undefined ? {} : { statement: statementOf(data, signed.attestation.recipient) }),
    ...(chain === undefined ? {} : { signer: signed.attestation.attester, chainId: chain.id }),
  })
}

/** Members that stand beside what was signed. */
function skipUnsigned(value: Readonly<Record<string, unknown>>, list: CheckList): void {
  if ('id' in value) list.skip('id', 'is the caller’s own and not signed')
  if ('notes' in value) list.skip('notes', 'say how inputs were read and are not signed')
  if (!('proofInputs' in value)) return
  list.skip('proof-inputs', 'what is said of proofs among the inputs is not signed; their references are')
}

/** A verified proof names its chain itself; it has to be the one that the caller wants. */
function contextFor(
  kind: AnswerKind,
  value: Readonly<Record<string, unknown>>,
  context: CheckContext,
  list: CheckList,
): CheckContext {
  if (kind !== 'verified-proof') return context
  const chains = context.chains.filter(({ id }) => id === value['chainId'])
  if (chains.length === 0) list.fail('chain', `chain ${value['chainId']} is not the one wanted, or not known`)
  return { ...context, chains }
}

/** Whether the answer's members say what was signed. */
function checkSaid(
  kind: AnswerKind,
  value: Record<string, unknown>,
  data: SignedData,
  signed: Signed,
  { chain }: FoundSigned,
  options: VerifyResultOptions,
  context: CheckContext,
  list: CheckList,
): void {
  const { deadline } = signed.delegatedAttestation
  switch (data.kind) {
    case 'verify':
      if (kind !== 'verified-proof') return
      checkUid(value['attestation'] as never, context.keccak, list)
      checkTime(BigInt((value as unknown as VerifyProofResponse).evaluatedAt), deadline, context, list)
      checkProof(value as unknown as VerifyProofResponse, data, context.keccak, list)
      return
    case 'merkle-root':
      checkTime(BigInt(data.timestampSeconds), deadline, context, list)
      if (kind === 'merkle-root')
        list.judge('values', rootFaults(value, data), 'root and number of leaves are as signed')
      return
    default:
      if (kind === 'compute') list.judge('values', differencesOf(value, data), 'the members say what was signed')
      // Where the deadline is not signed it says nothing about the time.
      checkTime(data.timestampSeconds, chain?.profile === 'legacy' ? Number.MAX_SAFE_INTEGER : deadline, context, list)
      checkInputs(data, options.inputs, options.recompute, context.keccak, list)
  }
}

function rootFaults(value: Record<string, unknown>, data: Extract<SignedData, { kind: 'merkle-root' }>): string[] {
  const faults: string[] = []
  if (String(value['root']).toLowerCase() !== data.merkleRoot)
    faults.push(`root is not the signed one, ${data.merkleRoot}`)
  if (value['leafCount'] !== data.leafCount) faults.push(`leafCount is not the signed one, ${data.leafCount}`)
  return faults
}

/** An item of a batch that was signed as a whole: its leaf has to stand under the root that was signed. */
export async function verifyMerkleItem(
  value: Record<string, unknown>,
  options: VerifyResultOptions,
  context: CheckContext,
  list: CheckList,
): Promise<Verdict> {
  const { merkle } = options
  if (!list.judge('form', faultsOf(value, MERKLE_ITEM_FORM), 'has the members of an item and no others')) {
    return list.verdict('merkle-item')
  }
  if (!isObject(merkle)) {
    list.fail('signature', 'the item is signed by its batch: give the member merkle of the answer it came in')
    return list.verdict('merkle-item')
  }
  const { inputs: _, recompute: __, ...rootOptions } = options
  const root = await verifySigned('merkle-root', merkle, rootOptions, context, new CheckList())
  for (const check of root.checks) list.checks.push({ ...check, id: renamed(check.id) })
  const item = value as unknown as { schema: string; recipient: string; data: string; proof: string[] }
  const isUnder = verifyMerkleProof(item, item.proof, String(merkle['root']), context.keccak)
  list.judge(
    'proof',
    isUnder ? [] : ['the item does not stand under the root'],
    'the item stands under the signed root',
  )
  const data = checkItemData(item, context, list)
  if (data?.kind === 'numeric' || data?.kind === 'boolean') {
    list.judge('values', differencesOf(value, data), 'the members say what was signed')
    checkInputs(data, options.inputs, options.recompute, context.keccak, list)
  }
  skipUnsigned(value, list)
  return list.verdict('merkle-item', {
    ...(data === undefined ? {} : { statement: statementOf(data, item.recipient) }),
    ...(root.signer === undefined ? {} : { signer: root.signer }),
    ...(root.chainId === undefined ? {} : { chainId: root.chainId }),
  })
}

/** Checks of the root that its items have too. */
function renamed(id: string): string {
  return ['form', 'schema', 'data', 'values'].includes(id) ? `root-${id}` : id
}
