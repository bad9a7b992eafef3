import { checksumAddress } from '../attest/address.ts'
import { createMerkleTree } from '../attest/merkle.ts'
import { OPERATIONS } from '../compute/operations.ts'
import { resultMembers } from '../compute/result-text.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { AttestationPayload, Hex, SignedAttestation } from '../messages.ts'
import { type ProblemData, ProblemError, problemAt, underPath } from '../problem.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import { attestationMembers, computeAnswerJson } from './answer.ts'
import type { Attested } from './attest.ts'
import type { BatchRun, ComputedItem } from './batch.ts'
import type { ChainPolicy } from './chain-policy.ts'
import type { Gate } from './gate.ts'
import { attestMerkleRoot } from './merkle.ts'
import type { SignedAnswers } from './signed-answer.ts'

export interface BatchAnswerParts {
  readonly chains: ChainPolicy
  readonly answers: SignedAnswers
  readonly signer: SignerClient
  readonly keccak: Keccak
  /** Of all batches together: single requests find room at the signer. */
  readonly signing: Gate
}

type Found = readonly (string | ComputedItem)[]

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
        if (typeof item === 'string') return item
        const { id, operation, computed, proofInputs, path } = item
        try {
          return (await answers.answer(operation, computed, run.timestampSeconds, proofInputs, id)).json
        } catch (error) {
          return run.refuse(id, problemOf(error, path))
        }
      }),
    ),
  )
}

/** One attestation of the Merkle root over all results, and a proof for each (decision 103). */
export async function answerUnderRoot(run: BatchRun, found: Found, parts: BatchAnswerParts): Promise<BatchTexts> {
  const { chains, keccak, signer } = parts
  const { options, timestampSeconds } = run
  const chainId = options.chainId!
  const allowed = await allowedOnly(run, found, chainId, chains)
  const results = allowed.filter((item) => typeof item !== 'string')
  if (results.length === 0) return { items: allowed as string[], head: '"merkle":null,' }
  const tree = createMerkleTree(
    results.map(({ leaf }) => leaf!),
    keccak,
  )
  const recipient = (options.recipient?.toLowerCase() as Hex | undefined) ?? ZERO_ADDRESS
  const attested = await attestMerkleRoot({ chainId, recipient, timestampSeconds, tree }, { signer, chains })
  let leaf = 0
  const items = allowed.map((item) => {
    if (typeof item === 'string') return item
    const { kind, schema = chains.defaultSchema(kind), data } = item.computed
    const to = checksumAddress(item.computed.recipient)
    const members = resultMembers({ ...item.computed, units: unitsOf(item), timestampSeconds })
    return `{${item.id}${members},"schema":"${schema}","recipient":"${to}","data":"${data}","proof":${tree.proofJson(leaf++)}}`
  })
  const root = `"merkle":{"root":"${tree.root}","leafCount":${tree.leafCount},${attestationMembers(attested)}},`
  return { items, head: root }
}

/** Attestations with consecutive nonces, grouped as `multiAttestByDelegation` consumes them (decision 102). */
export async function answerInSequence(run: BatchRun, found: Found, parts: BatchAnswerParts): Promise<BatchTexts> {
  const { chains, signer } = parts
  const chainId = run.options.chainId!
  const allowed = await allowedOnly(run, found, chainId, chains)
  const payloads = new Map<ComputedItem, AttestationPayload>()
  for (const item of allowed) {
    if (typeof item === 'string') continue
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
  const items = allowed.map((item) => {
    if (typeof item === 'string') return item
    const { computed, proofInputs, id } = item
    const facts = { ...computed, units: unitsOf(item), timestampSeconds: run.timestampSeconds }
    return computeAnswerJson({ ...facts, ...attestedOf.get(item)!, proofInputs, resultSignature: undefined }, id)
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
  return Promise.all(
    found.map(async (item) => {
      if (typeof item === 'string') return item
      const { id, computed, path } = item
      try {
        if (computed.chainId !== chainId) throw otherChain(computed.chainId, chainId)
        if (computed.schema !== undefined) await chains.requireSchema(chain, computed.kind, computed.schema)
        return item
      } catch (error) {
        return run.refuse(id, problemOf(error, path))
      }
    }),
  )
}

function otherChain(found: number, wanted: number): ProblemError {
  return problemAt('invalid-input', ['chainId'], `is ${found}, the batch is signed for ${wanted}`, {
    code: 'other-chain',
    hint: 'leave it out, or send another batch',
  })
}

function unitsOf({ operation }: ComputedItem): string | undefined {
  const { result } = OPERATIONS[operation]
  return result.kind === 'numeric' ? result.units : undefined
}

function problemOf(error: unknown, path: readonly (string | number)[]): ProblemData {
  if (error instanceof ProblemError) return underPath(error.data, path)
  throw error
}
