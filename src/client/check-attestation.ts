import { checksumAddress } from '../attest/address.ts'
import { authenticateSignature } from '../attest/authenticate.ts'
import type { BuiltInChain } from '../attest/chain-table.ts'
import { createResultDigest } from '../attest/result-digest.ts'
import { recoverAddress } from '../crypto/address.ts'
import { hexToBytes } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { Secp256k1 } from '../crypto/secp256k1.ts'
import { parseSignature } from '../crypto/signature.ts'
import type { AttestationData, DelegatedAttestationData, ResultSignature } from '../types/generated.ts'
import { type DataKind, readSignedData, type SignedData, timeText } from './signed-data.ts'
import type { CheckList } from './verdict.ts'

/** What checks are made with. */
export interface CheckContext {
  /** Among which the one is looked for that was signed for; one when the caller named it. */
  readonly chains: readonly BuiltInChain[]
  /** Addresses that may have signed, lower case; undefined: anybody. */
  readonly attesters: readonly string[] | undefined
  /** Schema UIDs, lower case → what stands under them. */
  readonly schemas: ReadonlyMap<string, DataKind>
  readonly nowSeconds: number
  readonly allowExpired: boolean
  readonly keccak: Keccak
  readonly secp256k1: Secp256k1
}

/** An attestation whose form was checked. Only those of proofs may expire. */
export interface Signed {
  readonly attestation: Omit<AttestationData, 'revocable' | 'signature'> & {
    readonly revocable: boolean
    readonly expirationTime?: number
    readonly signature?: string
  }
  readonly delegatedAttestation: DelegatedAttestationData
}

export interface FoundSigned {
  readonly chain: BuiltInChain | undefined
  readonly data: SignedData | undefined
}

/** A clock may be this far ahead of ours. */
const CLOCK_SKEW_SECONDS = 300

/**
 * Who signed, for which chain, until when, and what: checks `signer`, `signature`, `chain`, `schema`, `data`, `deadline`.
 *
 * @param expected kinds of data that may stand in this answer
 */
export function checkAttestation(
  signed: Signed,
  expected: readonly DataKind[],
  context: CheckContext,
  list: CheckList,
): FoundSigned {
  const { attestation, delegatedAttestation: delegated } = signed
  checkSigner(attestation.attester, context, list)
  const chain = checkSignature(signed, context, list)
  const data = checkData(attestation, expected, context, list)
  if (chain?.profile === 'legacy') {
    list.skip('deadline', `EAS ${chain.easVersion} of ${chain.name} signs no deadline: whoever sends it may change it`)
  } else {
    checkDeadline('deadline', delegated.deadline, context, list)
  }
  return { chain, data }
}

function checkSigner(attester: string, { attesters }: CheckContext, list: CheckList): void {
  if (attesters === undefined) {
    list.skip('signer', `${attester} is compared with nothing: name the attester you trust`)
  } else if (attesters.includes(attester.toLowerCase())) {
    list.pass('signer', `${attester} is the attester`)
  } else {
    list.fail('signer', `${attester} is not ${attesters.map((address) => checksumAddress(address)).join(' or ')}`)
  }
}

/** The chain is part of what is signed, so of several at most one fits. */
function checkSignature(signed: Signed, context: CheckContext, list: CheckList): BuiltInChain | undefined {
  const { attestation, delegatedAttestation } = signed
  const fields = { ...attestation, expirationTime: attestation.expirationTime ?? 0 }
  const attesters = [attestation.attester.toLowerCase()]
  let reason = 'there is no chain to compare with'
  for (const chain of context.chains) {
    const { keccak, secp256k1 } = context
    const found = authenticateSignature(
      { attestation: fields, delegatedAttestation: { ...delegatedAttestation } },
      { chain, attesters, keccak, secp256k1 },
    )
    if (found.ok) {
      list.pass('signature', `${attestation.attester} signed these fields with nonce ${delegatedAttestation.nonce}`)
      list.pass('chain', `signed for ${chain.name} (${chain.id}), EAS ${chain.easVersion} at ${chain.easAddress}`)
      return chain
    }
    reason = context.chains.length === 1 ? found.reason : 'the signature is not the attester’s for any known chain'
  }
  list.fail('signature', reason)
  return undefined
}

/** The schema says how the data is read; under one that nobody here knows it is read as what the answer says it is. */
function checkData(
  { schema, data }: Pick<Signed['attestation'], 'schema' | 'data'>,
  expected: readonly DataKind[],
  { schemas }: Pick<CheckContext, 'schemas'>,
  list: CheckList,
): SignedData | undefined {
  const kind = schemas.get(schema.toLowerCase())
  if (kind === undefined) {
    list.skip('schema', `${schema} is not one of the service's own; its registry says what it means`)
  } else if (expected.includes(kind)) {
    list.pass('schema', `${schema} is the one of ${kind} data`)
  } else {
    list.fail('schema', `${schema} is the one of ${kind} data, not of ${expected.join(' or ')}`)
  }
  const kinds = kind === undefined ? expected : [kind]
  const reasons: string[] = []
  for (const tried of kinds) {
    const read = readSignedData(tried, data)
    if (read.ok) {
      list.pass('data', `is ${tried} data in its one encoding`)
      return read.value
    }
    reasons.push(read.reason)
  }
  list.fail('data', `is not ${kinds.join(' or ')} data: it ${reasons.join('; it ')}`)
  return undefined
}

/** The item of a Merkle tree has the data and the schema of an attestation, and no signature of its own. */
export function checkItemData(
  item: Pick<Signed['attestation'], 'schema' | 'data'>,
  context: CheckContext,
  list: CheckList,
): SignedData | undefined {
  return checkData(item, ['numeric', 'boolean'], context, list)
}

function checkDeadline(id: string, deadline: number, context: CheckContext, list: CheckList): void {
  const { nowSeconds, allowExpired } = context
  if (nowSeconds <= deadline) list.pass(id, `may be submitted until ${timeText(deadline)}`)
  else if (allowExpired) list.skip(id, `passed at ${timeText(deadline)}; that was allowed`)
  else list.fail(id, `passed at ${timeText(deadline)}: have it signed again`)
}

/** Neither before its time nor after the deadline it was signed with. */
export function checkTime(timestampSeconds: bigint, deadline: number, context: CheckContext, list: CheckList): void {
  const faults: string[] = []
  if (Number(timestampSeconds) > context.nowSeconds + CLOCK_SKEW_SECONDS) faults.push('lies in the future')
  if (Number(timestampSeconds) > deadline) faults.push('is after the deadline')
  const text = timeText(timestampSeconds)
  list.judge(
    'time',
    faults.map((fault) => `the time of computation, ${text}, ${fault}`),
    `computed ${text}`,
  )
}

/** The signature that contracts check without EAS. */
export function checkResultSignature(
  { attestation }: Signed,
  given: ResultSignature,
  chain: BuiltInChain | undefined,
  context: CheckContext,
  list: CheckList,
): void {
  const { keccak, secp256k1 } = context
  if (chain === undefined) {
    list.fail('result-signature', 'the chain it would have been signed for is not known')
    return
  }
  const parsed = parseSignature(given.signature)
  if (!parsed.ok) {
    list.fail('result-signature', parsed.reason)
    return
  }
  const digest = createResultDigest(
    chain.id,
    keccak,
  )({
    schema: attestation.schema,
    recipient: attestation.recipient,
    data: hexToBytes(attestation.data)!,
    deadlineSeconds: given.deadline,
    salt: given.salt,
  })
  const signer = recoverAddress(digest, parsed.signature, secp256k1, keccak)
  const faults: string[] = []
  if (given.attester.toLowerCase() !== attestation.attester.toLowerCase()) faults.push('names another attester')
  if (signer !== given.attester.toLowerCase()) faults.push(`is not ${given.attester}’s over this result`)
  list.judge('result-signature', faults, `${given.attester} signed the result without a nonce`)
  checkDeadline('result-deadline', given.deadline, context, list)
}
