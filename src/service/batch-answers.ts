import { checksumAddress } from '../attest/address.ts'
import { leafMembers } from '../attest/leaf-text.ts'
import type { AttestationPayload, Hex, SignedAttestation } from '../messages.ts'
import { type ProblemData, ProblemError, problemAt, underPath } from '../problem.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import { attestationMembers, computeAnswerJson, proofInputsMember } from './answer.ts'
import { type Attested, nonceHeaders } from './attest.ts'
import type { BatchRun } from './batch.ts'
import type { BatchItem, ComputedItem, LeafItem } from './batch-items.ts'
import type { ChainPolicy } from './chain-policy.ts'
import type { Gate } from './gate.ts'
import { attestMerkleRoot } from './merkle.ts'
import type { SignedAnswers } from './signed-answer.ts'

export interface BatchAnswerParts {
  readonly chains: ChainPolicy
  readonly answers: SignedAnswers
  readonly signer: SignerClient
  /** Of all batches together: single requests find room at the signer. */
  readonly signing: Gate
}

type Found = readonly BatchItem[]

/** Texts of a batch: one for each item, and what stands before the results. */
export interface BatchTexts {
  readonly items: readonly string[]
  /** JSON members with a comma after them, or empty. */
  readonly head: string
}

const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`
const ZERO_UID = `0x${'0'.repeat(64)}`

/** Each result with an attestation of its own. */
export function answerEach(run: BatchRun, found: Found, { answers, signing }: BatchAnswerParts): Promise<string[]> {
  if (found.every((item) => typeof item === 'string')) return Promise.resolve(found as string[])
  return signing.run(() =>
    Promise.all(
      found.map(async (item) => {
        if (!isComputed(item)) return textOf(item)
        const { id, computed, proofInputs, path } = item
        try {
          const { json, headers = {} } = await answers.answer(computed, proofInputs, id)
          run.tally.signed(1, headers)
          return json
        } catch (error) {
          return run.tally.refuse(id, problemOf(error, path))
        }
      }),
    ),
  )
}

/** One attestation of the Merkle root over all results, and a proof for each (decision 103). */
export async function answerUnderRoot(run: BatchRun, found: Found, parts: BatchAnswerParts): Promise<BatchTexts> {
  const { chains, signer } = parts
  const { options, timestampSeconds } = run
  const chainId = options.chainId!
  const allowed = await allowedOnly(run, found, chainId, chains)
  const leaves = allowed.flatMap((item) => (typeof item === 'string' ? [] : [item.leaf!]))
  if (leaves.length === 0) return { items: allowed as string[], head: '"merkle":null,' }
  const { root, proofs, starts } = await run.merkleTree(leaves)
  const recipient = (options.recipient?.toLowerCase() as Hex | undefined) ?? ZERO_ADDRESS
  const tree = { root, leafCount: leaves.length }
  const attested = await attestMerkleRoot({ chainId, recipient, timestampSeconds, tree }, { signer, chains })
  run.tally.signed(leaves.length, nonceHeaders(attested))
  let next = 0
  const items = allowed.map((item) => {
    if (typeof item === 'string') return item
    const text = 'text' in item ? item.text : leafTextOf(item, chains)
    return `${text},"proof":${proofs.slice(starts[next], starts[++next])}}`
  })
  const head = `"merkle":{"root":"${root}","leafCount":${leaves.length},${attestationMembers(attested)}},`
  return { items, head }
}

/** As the compute threads write it for items without a schema of their own. */
function leafTextOf({ id, computed, proofInputs }: ComputedItem, chains: ChainPolicy): string {
  const { kind, schema = chains.defaultSchema(kind), recipient, data, members } = computed
  return `{${id}${members},${leafMembers(schema, recipient, data)}${proofInputsMember(proofInputs)}`
}

/** Attestations with consecutive nonces, grouped as `multiAttestByDelegation` consumes them (decision 102). */
export async function answerInSequence(run: BatchRun, found: Found, parts: BatchAnswerParts): Promise<BatchTexts> {
  const { chains, signer } = parts
  const chainId = run.options.chainId!
  const allowed = await allowedOnly(run, found, chainId, chains)
  const payloads = new Map<ComputedItem, AttestationPayload>()
  for (const item of allowed) {
    if (!isComputed(item)) continue
    const { kind, schema = chains.defaultSchema(kind), recipient, data } = item.computed
    payloads.set(item, { kind, chainId, schema, recipient, data })
  }
  const groups = new Map<Hex, (readonly [ComputedItem, AttestationPayload])[]>()
  for (const entry of payloads) {
    const { schema } = entry[1]
    groups.set(schema, [...(groups.get(schema) ?? []), entry])
  }
  const ordered = [...groups.values()].flat()
  if (ordered.length === 0) return { items: allowed as string[], head: '"multi":[],' }
  const signed = await signer.sign({ kind: 'sequence', chainId, items: ordered.map(([, payload]) => payload) })
  if (!signed.ok) throw new ProblemError(signed.problem)
  const attestedOf = new Map(
    ordered.map(([item, payload], index) => [item, attestedAs(payload, signed.items[index]!, signer.address)]),
  )
  run.tally.signed(ordered.length, nonceHeaders(signed.items[0]!))
  const items = allowed.map((item) => {
    if (!isComputed(item)) return textOf(item)
    const { computed, proofInputs, id } = item
    const { members } = computed
    return computeAnswerJson({ members, ...attestedOf.get(item)!, proofInputs, resultSignature: undefined }, id)
  })
  const multi = [...groups].map(([schema, members]) =>
    groupJson(
      schema,
      members.map(([item]) => attestedOf.get(item)!),
    ),
  )
  return { items, head: `"multi":[${multi.join(',')}],` }
}

/** One argument of `multiAttestByDelegation`; contracts before 1.2.0 have no deadline and leave it out. */
function groupJson(schema: Hex, attested: readonly Attested[]): string {
  return JSON.stringify({
    schema,
    data: attested.map(({ recipient, data }) => ({
      recipient,
      expirationTime: 0,
      revocable: true,
      refUID: ZERO_UID,
      data,
      value: 0,
    })),
    signatures: attested.map(({ signature }) => ({
      v: Number.parseInt(signature.slice(130), 16),
      r: signature.slice(0, 66),
      s: `0x${signature.slice(66, 130)}`,
    })),
    attester: attested[0]!.attester,
    deadline: attested[0]!.deadlineSeconds,
    nonces: attested.map(({ nonce }) => nonce),
  })
}

function attestedAs(payload: AttestationPayload, signed: SignedAttestation, attester: string): Attested {
  const { signature, nonce, nonceSource, deadlineSeconds } = signed
  const recipient = checksumAddress(payload.recipient)
  return {
    schema: payload.schema,
    attester,
    recipient,
    data: payload.data,
    signature,
    nonce,
    nonceSource,
    deadlineSeconds,
  }
}

/** What is signed together is for one chain, under schemas that our signature may stand under. */
async function allowedOnly(run: BatchRun, found: Found, chainId: number, chains: ChainPolicy): Promise<Found> {
  const chain = chains.require(chainId)
  const check = async (item: ComputedItem) => {
    const { id, computed, path } = item
    try {
      if (computed.chainId !== chainId) throw otherChain(computed.chainId, chainId)
      if (computed.schema !== undefined) await chains.requireSchema(chain, computed.kind, computed.schema)
      return item
    } catch (error) {
      return run.tally.refuse(id, problemOf(error, path))
    }
  }
  return Promise.all(found.map((item) => (isComputed(item) ? check(item) : item)))
}

function otherChain(found: number, wanted: number): ProblemError {
  return problemAt('invalid-input', ['chainId'], `is ${found}, the batch is signed for ${wanted}`, {
    code: 'other-chain',
    hint: 'leave it out, or send another batch',
  })
}

function problemOf(error: unknown, path: readonly (string | number)[]): ProblemData {
  if (error instanceof ProblemError) return underPath(error.data, path)
  throw error
}

function isComputed(item: BatchItem): item is ComputedItem {
  return typeof item !== 'string' && 'computed' in item
}

/** Leaves are signed under their root alone. */
function textOf(item: string | LeafItem): string {
  if (typeof item !== 'string') throw new RangeError('a leaf has no answer without its tree')
  return item
}
