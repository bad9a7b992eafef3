import { checksumAddress } from '../attest/address.ts'
import { leafMembers } from '../attest/leaf-text.ts'
import type { TextsResult } from '../batch-messages.ts'
import { utf8 } from '../crypto/hex.ts'
import type { AttestationPayload, Hex, SignedAttestation } from '../messages.ts'
import { pack } from '../packed-bytes.ts'
import { type ProblemData, ProblemError, problemAt, underPath } from '../problem.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import { attestationMembers, computeAnswerJson, proofInputsMember } from './answer.ts'
import { type Attested, nonceHeaders } from './attest.ts'
import type { BatchRun } from './batch.ts'
import { areTexts, type BatchItem, type BatchItems, type ComputedItem, type LeafItem, textsOf } from './batch-items.ts'
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
type Chunks = readonly BatchItems[]

/** The results of a batch as JSON text with commas between them, in pieces; and what stands before them. */
export interface BatchTexts {
  readonly items: readonly string[] | readonly Uint8Array[]
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
export async function answerUnderRoot(run: BatchRun, chunks: Chunks, parts: BatchAnswerParts): Promise<BatchTexts> {
  const { chains, signer } = parts
  const { options, timestampSeconds } = run
  const chainId = options.chainId!
  chains.require(chainId)
  const settled = await Promise.all(
    chunks.map((chunk) => (areTexts(chunk) ? chunk : allowedOnly(run, chunk, chainId, chains))),
  )
  const pieces = settled.flatMap((chunk) => (areTexts(chunk) ? [chunk] : piecesOf(chunk, chains)))
  const leafCount = pieces.reduce((sum, { leaves }) => sum + leaves.length / 32, 0)
  if (leafCount === 0)
    return { items: [pieces.flatMap(({ texts }) => textsOf(texts)).join(',')], head: '"merkle":null,' }
  const { root, items } = await run.merkleTree(pieces)
  const recipient = (options.recipient?.toLowerCase() as Hex | undefined) ?? ZERO_ADDRESS
  const tree = { root, leafCount }
  const attested = await attestMerkleRoot({ chainId, recipient, timestampSeconds, tree }, { signer, chains })
  run.tally.signed(leafCount, nonceHeaders(attested))
  const head = `"merkle":{"root":"${root}","leafCount":${leafCount},${attestationMembers(attested)}},`
  return { items, head }
}

/** Items as the thread of the tree takes them: those with leaves in a row are one piece, and so are those without. */
function piecesOf(items: Found, chains: ChainPolicy): TextsResult[] {
  const rows: { readonly texts: Uint8Array[]; readonly leaves: Uint8Array[] }[] = []
  for (const item of items) {
    const isLeaf = typeof item !== 'string'
    const text = typeof item === 'string' ? item : 'text' in item ? item.text : leafTextOf(item, chains)
    let row = rows.at(-1)
    if (row === undefined || row.leaves.length > 0 !== isLeaf) {
      row = { texts: [], leaves: [] }
      rows.push(row)
    }
    row.texts.push(utf8(`${text},`))
    if (isLeaf) row.leaves.push(item.leaf!)
  }
  return rows.map(({ texts, leaves }) => ({ texts: pack(texts), leaves: new Uint8Array(Buffer.concat(leaves)) }))
}

/** As the compute threads write it for items without a schema of their own. */
function leafTextOf({ id, computed, proofInputs }: ComputedItem, chains: ChainPolicy): string {
  const { kind, schema = chains.defaultSchema(kind), recipient, data, members } = computed
  return `{${id}${members},${leafMembers(schema, recipient, data)}${proofInputsMember(proofInputs)}`
}

/** Attestations with consecutive nonces, grouped as `multiAttestByDelegation` consumes them (decision 102). */
export async function answerInSequence(run: BatchRun, chunks: Chunks, parts: BatchAnswerParts): Promise<BatchTexts> {
  const { chains, signer } = parts
  const chainId = run.options.chainId!
  const found = chunks.flatMap((chunk) => (areTexts(chunk) ? textsOf(chunk.texts) : chunk))
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
  if (ordered.length === 0) return { items: [allowed.join(',')], head: '"multi":[],' }
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
  return { items: [items.join(',')], head: `"multi":[${multi.join(',')}],` }
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
