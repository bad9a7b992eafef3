import { encodeMerkleRoot } from '../../attest/data.ts'
import { ZERO_UID } from '../../attest/uid.ts'
import { pack } from '../../base/bytes.ts'
import { ProblemError, problemAt } from '../../base/problem.ts'
import type { MerkleTree } from '../../compute/merkle-tree.ts'
import { attestationMembers, computeResponseJson, leafJson, proofInputsMember } from '../../compute/response-text.ts'
import { bytesToHex, utf8 } from '../../crypto/hex.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import type { TextsResult } from '../../wire/batch-messages.ts'
import type { AttestationPayload } from '../../wire/signing-messages.ts'
import type { Hex } from '../../wire/values.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import { type Attested, attest, nonceHeaders, toAttested } from '../compute/signed-answer.ts'
import type { BatchRun } from './batch.ts'
import {
  areTexts,
  type BatchItem,
  type BatchItems,
  type ComputedItem,
  finishedJson,
  isComputed,
  problemFrom,
  unpackTexts,
} from './items.ts'

interface MerkleRootRequest {
  /** Must have passed `ChainPolicy.require`. */
  readonly chainId: number
  /** Recipient of the root's attestation, lower case. Each leaf has its own recipient. */
  readonly recipient: Hex
  /** Time at which the results were computed. */
  readonly timestampSeconds: number
  readonly tree: Pick<MerkleTree, 'root' | 'leafCount'>
}

/**
 * Makes one delegated attestation that covers every leaf of a tree (decision 103).
 *
 * The signer sees only the root. The caller must therefore make sure that each leaf is a result of this service, and that its
 * schema passed `ChainPolicy.requireSchema` for the kind of its data.
 *
 * @throws {ProblemError} if the signer does not sign it
 */
export function attestMerkleRoot(
  { chainId, recipient, timestampSeconds, tree }: MerkleRootRequest,
  parts: {
    readonly signer: Pick<SignerClient, 'address' | 'sign'>
    readonly chains: Pick<ChainPolicy, 'defaultSchema'>
  },
): Promise<Attested> {
  const data = encodeMerkleRoot({ merkleRoot: tree.root, leafCount: tree.leafCount, timestampSeconds })
  const schema = parts.chains.defaultSchema('merkle-root')
  return attest({ kind: 'merkle-root', chainId, schema, recipient, data }, parts.signer)
}

export interface SignTogetherParts {
  readonly chains: ChainPolicy
  readonly signer: SignerClient
}

type Items = readonly BatchItem[]
type Chunks = readonly BatchItems[]

/** The results of a batch as comma-separated JSON in pieces, and the members that precede them. */
export interface BatchTexts {
  readonly items: readonly string[] | readonly Uint8Array[]
  /** JSON members, each followed by a comma, or empty. */
  readonly head: string
}

const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`

/** Attests the Merkle root over all results, and gives each result its Merkle proof (decision 103). */
export async function attestUnderRoot(
  run: BatchRun,
  chunks: Chunks,
  { chains, signer }: SignTogetherParts,
): Promise<BatchTexts> {
  const { options, timestampSeconds } = run
  const chainId = options.chainId!
  chains.require(chainId)
  const settled = await Promise.all(
    chunks.map((chunk) => (areTexts(chunk) ? chunk : rejectDisallowed(run, chunk, chainId, chains))),
  )
  const pieces = settled.flatMap((chunk) => (areTexts(chunk) ? [chunk] : treePieces(chunk, chains)))
  const leafCount = pieces.reduce((sum, { leaves }) => sum + leaves.length / 32, 0)
  if (leafCount === 0)
    return { items: [pieces.flatMap(({ texts }) => unpackTexts(texts)).join(',')], head: '"merkle":null,' }
  const { root, items } = await run.merkleTree(pieces)
  const recipient = (options.recipient?.toLowerCase() as Hex | undefined) ?? ZERO_ADDRESS
  const tree = { root, leafCount }
  const attested = await attestMerkleRoot({ chainId, recipient, timestampSeconds, tree }, { signer, chains })
  run.tally.countSigned(leafCount, nonceHeaders(attested))
  const head = `"merkle":{"root":"${root}","leafCount":${leafCount},${attestationMembers(attested)}},`
  return { items, head }
}

/**
 * Groups the items for the thread that builds the tree: consecutive items with leaves form one piece, and so do those without.
 */
function treePieces(items: Items, chains: ChainPolicy): TextsResult[] {
  const treeParts: { readonly texts: Uint8Array[]; readonly leaves: Uint8Array[] }[] = []
  for (const item of items) {
    const isLeaf = typeof item !== 'string'
    const text = typeof item === 'string' ? item : 'text' in item ? item.text : leafText(item, chains)
    let piece = treeParts.at(-1)
    if (piece === undefined || piece.leaves.length > 0 !== isLeaf) {
      piece = { texts: [], leaves: [] }
      treeParts.push(piece)
    }
    piece.texts.push(utf8(`${text},`))
    if (isLeaf) piece.leaves.push(item.leaf!)
  }
  return treeParts.map(({ texts, leaves }) => ({
    type: 'texts',
    texts: pack(texts),
    leaves: new Uint8Array(Buffer.concat(leaves)),
  }))
}

/** Writes the JSON of a result under a root, in the same form as the compute threads write it for items that name no schema. */
function leafText({ id, computed, proofInputs }: ComputedItem, chains: ChainPolicy): string {
  const { kind, schema = chains.defaultSchema(kind), recipient, data, members } = computed
  return `{${id}${members},${leafJson(schema, recipient, `0x${bytesToHex(data)}`)}${proofInputsMember(proofInputs)}`
}

/**
 * Attests the results with consecutive nonces, grouped in the way that `multiAttestByDelegation` consumes them (decision 102).
 */
export async function attestInSequence(
  run: BatchRun,
  chunks: Chunks,
  { chains, signer }: SignTogetherParts,
): Promise<BatchTexts> {
  const chainId = run.options.chainId!
  const items = chunks.flatMap((chunk) => (areTexts(chunk) ? unpackTexts(chunk.texts) : chunk))
  const allowed = await rejectDisallowed(run, items, chainId, chains)
  const payloads = new Map<ComputedItem, AttestationPayload<Uint8Array>>()
  for (const item of allowed) {
    if (!isComputed(item)) continue
    const { kind, schema = chains.defaultSchema(kind), recipient, data } = item.computed
    payloads.set(item, { kind, chainId, schema, recipient, data })
  }
  const groups = new Map<Hex, (readonly [ComputedItem, AttestationPayload<Uint8Array>])[]>()
  for (const entry of payloads) {
    const { schema } = entry[1]
    groups.set(schema, [...(groups.get(schema) ?? []), entry])
  }
  const ordered = [...groups.values()].flat()
  if (ordered.length === 0) return { items: [allowed.join(',')], head: '"multi":[],' }
  const signed = await signer.sign({ kind: 'sequence', chainId, items: ordered.map(([, payload]) => payload) })
  if (!signed.ok) throw new ProblemError(signed.problem)
  const attestedByItem = new Map(
    ordered.map(([item, payload], index) => [item, toAttested(payload, signed.items[index]!, signer.address)]),
  )
  run.tally.countSigned(ordered.length, nonceHeaders(signed.items[0]!))
  const itemsJson = allowed.map((item) => {
    if (!isComputed(item)) return finishedJson(item)
    const { computed, proofInputs, id } = item
    const { members } = computed
    return computeResponseJson({ members, ...attestedByItem.get(item)!, proofInputs, resultSignature: undefined }, id)
  })
  const multi = [...groups].map(([schema, members]) =>
    groupJson(
      schema,
      members.map(([item]) => attestedByItem.get(item)!),
    ),
  )
  return { items: [itemsJson.join(',')], head: `"multi":[${multi.join(',')}],` }
}

/** Writes one argument of `multiAttestByDelegation`. Callers of contracts before 1.2.0, which have no deadline, leave it out. */
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

/**
 * Replaces results that must not be signed with their problem: those for another chain, and those with a schema we may not sign
 * under.
 */
async function rejectDisallowed(run: BatchRun, items: Items, chainId: number, chains: ChainPolicy): Promise<Items> {
  const chain = chains.require(chainId)
  const check = async (item: ComputedItem) => {
    const { id, computed, path } = item
    try {
      if (computed.chainId !== chainId) throw otherChainProblem(computed.chainId, chainId)
      if (computed.schema !== undefined) await chains.requireSchema(chain, computed.kind, computed.schema)
      return item
    } catch (error) {
      return run.tally.fail(id, problemFrom(error, path))
    }
  }
  return Promise.all(items.map((item) => (isComputed(item) ? check(item) : item)))
}

function otherChainProblem(chainId: number, batchChainId: number): ProblemError {
  return problemAt('invalid-input', ['chainId'], `is ${chainId}, but the batch is signed for ${batchChainId}`, {
    code: 'other-chain',
    hint: 'leave it out, or send another batch',
  })
}
