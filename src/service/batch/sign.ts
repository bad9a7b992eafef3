import { randomBytes } from 'node:crypto'
import { encodeMerkleRoot } from '../../attest/data.ts'
import { ZERO_UID } from '../../attest/uid.ts'
import { freeBuffer, type PackedBytes, pack, unpack } from '../../base/bytes.ts'
import { type ProblemData, ProblemError, problemAt, underPath } from '../../base/problem.ts'
import type { MerkleTree } from '../../compute/merkle-tree.ts'
import {
  attestationJsonTail,
  attestationMembers,
  computeResponseJson,
  leafJson,
  proofInputsMember,
  resultSignatureMember,
} from '../../compute/response-text.ts'
import { bytesToHex, utf8 } from '../../crypto/hex.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import type { MerklePiece } from '../../wire/batch-messages.ts'
import type { AttestationPayload, NonceSource, SignedAttestation } from '../../wire/signing-messages.ts'
import { payloadChainId, readSigned, SALT_BYTES, SIGNED_BYTES, setSalt } from '../../wire/signing-records.ts'
import type { Hex } from '../../wire/values.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import { type Attested, attest, nonceHeaders, type ResponseSigner, toAttested } from '../compute/signed-answer.ts'
import type { Gate } from '../gate.ts'
import {
  type BatchRun,
  type ComputedChunk,
  type ComputedItem,
  type HandledItem,
  itemPath,
  problemFrom,
} from './batch.ts'

export interface SignEachParts {
  readonly chains: ChainPolicy
  readonly answers: ResponseSigner
  readonly signer: SignerClient
  /** Shared by all batches, so that they leave room at the signer for single requests. */
  readonly signing: Gate
}

/**
 * Attests each result of a chunk separately, unless the batch is not signed.
 *
 * @param separator one ASCII character that follows each result
 * @returns finished JSON, each result followed by the separator
 */
export async function signEach(
  run: BatchRun,
  chunk: ComputedChunk,
  separator: string,
  parts: SignEachParts,
): Promise<PackedBytes> {
  const { texts, payloads, handled } = chunk
  if (run.options.attest === 'none') {
    return handled.size === 0 ? texts : joinTexts(texts, [], new Map(await signHandled(run, chunk, parts)), separator)
  }
  return parts.signing.run(run.client, async () => {
    const [{ tails, failed }, finished] = await Promise.all([
      signTexts(run, chunk, parts),
      signHandled(run, chunk, parts),
    ])
    const results = joinTexts(texts, tails, new Map([...finished, ...failed]), separator)
    freeBuffer(texts.buffer)
    freeBuffer(payloads.buffer)
    return results
  })
}

/** Attests results that the main thread had to handle, one by one. Returns their finished JSON by index. */
function signHandled(run: BatchRun, { handled }: ComputedChunk, { answers }: SignEachParts) {
  return Promise.all(
    [...handled].map(async ([index, item]): Promise<readonly [number, string]> => {
      if (typeof item === 'string') return [index, item]
      const { id, computed, proofInputs, path } = item
      try {
        const { json, headers = {} } = run.signsResults
          ? { json: await answers.signWithoutNonce(computed, proofInputs, id) }
          : await answers.sign(computed, proofInputs, id)
        run.tally.countSigned(1, headers)
        return [index, json]
      } catch (error) {
        return [index, run.tally.fail(id, problemFrom(error, path))]
      }
    }),
  )
}

/**
 * Attests results that the main thread does not parse: it forwards their JSON to the client and their payloads to the signer, both
 * as bytes.
 *
 * @returns by index, the end of the JSON of each result that was signed, and the whole JSON of the others
 */
async function signTexts(run: BatchRun, chunk: ComputedChunk, { chains, signer }: SignEachParts) {
  const { texts, payloads, idLengths, handled } = chunk
  const tails: string[] = []
  const failed = new Map<number, string>()
  const fail = (index: number, problem: ProblemData) => {
    // `"id":…,` follows the first brace.
    const id = Buffer.from(unpack(texts, index)).toString('utf8', 1, 1 + idLengths[index]!)
    failed.set(index, run.tally.fail(id, underPath(problem, itemPath(chunk, index))))
  }
  const problems = unsupportedChains(chains)
  const signable: number[] = []
  for (let index = 0; index < idLengths.length; index++) {
    if (handled.has(index)) continue
    const problem = problems(payloadChainId(unpack(payloads, index)))
    if (problem === undefined) signable.push(index)
    else fail(index, problem)
  }
  const isWhole = signable.length === payloads.offsets.length - 1
  const block = isWhole ? payloads : pack(signable.map((index) => unpack(payloads, index)))
  const salts = run.signsResults ? drawSalts(block) : undefined
  const { signed, rejections } = await signer.signBlock(block)
  const { address: attester } = signer
  const sources = new Map<NonceSource, number>()
  for (const [blockIndex, index] of signable.entries()) {
    const problem = rejections.get(blockIndex)
    if (problem !== undefined) {
      fail(index, problem)
      continue
    }
    const attestation = readSigned(signed, blockIndex * SIGNED_BYTES) as SignedAttestation
    if (salts !== undefined) {
      const salt: Hex = `0x${salts.toString('hex', blockIndex * SALT_BYTES, (blockIndex + 1) * SALT_BYTES)}`
      tails[index] = `${resultSignatureMember({ attester, resultSignature: { ...attestation, salt } })}}`
      run.tally.countSigned(1, {})
      continue
    }
    sources.set(attestation.nonceSource, (sources.get(attestation.nonceSource) ?? 0) + 1)
    tails[index] = `${attestationJsonTail({ ...attestation, attester })}}`
  }
  for (const [nonceSource, count] of sources) run.tally.countSigned(count, nonceHeaders({ nonceSource }))
  return { tails, failed }
}

/** Gives each result its salt. @returns all salts, `SALT_BYTES` each */
function drawSalts(payloads: PackedBytes): Buffer {
  const count = payloads.offsets.length - 1
  const salts = randomBytes(count * SALT_BYTES)
  for (let index = 0; index < count; index++)
    setSalt(unpack(payloads, index), salts.subarray(index * SALT_BYTES, (index + 1) * SALT_BYTES))
  return salts
}

/**
 * Returns a function that returns the problem of a chain that is not supported. The main thread checks this, because compute
 * threads do not know which chains are refused.
 */
function unsupportedChains(chains: ChainPolicy): (chainId: number) => ProblemData | undefined {
  const problems = new Map<number, ProblemData | undefined>()
  return (chainId) => {
    if (!problems.has(chainId)) problems.set(chainId, unsupportedChainProblem(chainId, chains))
    return problems.get(chainId)
  }
}

function unsupportedChainProblem(chainId: number, chains: ChainPolicy): ProblemData | undefined {
  try {
    chains.require(chainId)
    return undefined
  } catch (error) {
    if (error instanceof ProblemError) return error.data
    throw error
  }
}

/**
 * Joins the texts of a chunk with their ends and with the JSON of other items.
 *
 * @param tails by index, what a text lacks before its separator; a text without an entry is complete
 * @param others by index, the finished JSON of items whose text is not used
 */
function joinTexts(
  texts: PackedBytes,
  tails: readonly string[],
  others: ReadonlyMap<number, string>,
  separator: string,
): PackedBytes {
  const count = texts.offsets.length - 1
  const ends = Array.from({ length: count }, (_, index) => {
    const end = others.get(index) ?? tails[index]
    return end === undefined ? '' : end + separator
  })
  const size = ends.reduce((sum, end) => sum + Buffer.byteLength(end), texts.buffer.byteLength)
  const target = Buffer.from(new ArrayBuffer(size))
  const offsets = new Uint32Array(count + 1)
  let offset = 0
  ends.forEach((end, index) => {
    if (others.has(index)) offset += target.write(end, offset)
    else {
      const text = unpack(texts, index)
      target.set(text, offset)
      offset += text.length
      offset += target.write(end, offset, 'latin1')
    }
    offsets[index + 1] = offset
  })
  return { buffer: target.buffer as ArrayBuffer, offsets }
}

export interface MerkleRootRequest {
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
  request: MerkleRootRequest,
  parts: {
    readonly signer: Pick<SignerClient, 'address' | 'sign'>
    readonly chains: Pick<ChainPolicy, 'defaultSchema'>
  },
): Promise<Attested> {
  return attest(merkleRootPayload(request, parts.chains), parts.signer)
}

/** Returns what is attested of a tree. The same request gives the same payload. */
export function merkleRootPayload(
  { chainId, recipient, timestampSeconds, tree: { root, leafCount } }: MerkleRootRequest,
  chains: Pick<ChainPolicy, 'defaultSchema'>,
): AttestationPayload {
  const data = encodeMerkleRoot({ merkleRoot: root, leafCount, timestampSeconds })
  return { kind: 'merkle-root', chainId, schema: chains.defaultSchema('merkle-root'), recipient, data }
}

interface SignTogetherParts {
  readonly chains: ChainPolicy
  readonly signer: SignerClient
}

/** The results of a batch as comma-separated JSON in pieces, and the members that precede them. */
export interface BatchTexts {
  readonly items: readonly string[] | readonly Uint8Array[]
  /** JSON members, each followed by a comma, or empty. */
  readonly head: string
  /** What the service submits to the chain for the batch as a whole, if anything. */
  readonly payload?: AttestationPayload
}

const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`

/** Attests the Merkle root over all results, and gives each result its Merkle proof (decision 103). */
export async function attestUnderRoot(
  run: BatchRun,
  chunks: readonly ComputedChunk[],
  { chains, signer }: SignTogetherParts,
): Promise<BatchTexts> {
  const { options, timestampSeconds } = run
  const chainId = options.chainId!
  chains.require(chainId)
  const allowed = await Promise.all(chunks.map((chunk) => rejectDisallowed(run, chunk, chainId, chains)))
  const pieces = allowed.flatMap((chunk) => treePieces(chunk, chains))
  const leafCount = pieces.reduce((sum, { leaves }) => sum + leaves.length / 32, 0)
  if (leafCount === 0)
    return { items: [pieces.flatMap(({ texts }) => unpackTexts(texts)).join(',')], head: '"merkle":null,' }
  const { root, items } = await run.merkleTree(pieces)
  const recipient = (options.recipient?.toLowerCase() as Hex | undefined) ?? ZERO_ADDRESS
  const tree = { root, leafCount }
  const attested = await attestMerkleRoot({ chainId, recipient, timestampSeconds, tree }, { signer, chains })
  run.tally.countSigned(leafCount, nonceHeaders(attested))
  const head = `"merkle":{"root":"${root}","leafCount":${leafCount},${attestationMembers(attested)}},`
  return {
    items,
    head,
    payload: { kind: 'merkle-root', chainId, schema: attested.schema, recipient, data: attested.data },
  }
}

/** The results of a chunk without their proofs, and their leaves. */
interface LeafLines {
  /** Each result followed by a newline. */
  readonly results: PackedBytes
  /** 32 bytes for each result, zeros for an item that failed. */
  readonly leaves: Uint8Array
}

/** Finishes the results of a chunk of a job with a Merkle root. The proofs follow when the tree is complete. */
export async function leafLines(run: BatchRun, chunk: ComputedChunk, chains: ChainPolicy): Promise<LeafLines> {
  const { texts, leaves: plainLeaves, handled } = await rejectDisallowed(run, chunk, run.options.chainId!, chains)
  const count = texts.offsets.length - 1
  const leaves = new Uint8Array(32 * count)
  let next = 0
  const results = Array.from({ length: count }, (_, index) => {
    const item = handled.get(index)
    if (item === undefined) {
      leaves.set(plainLeaves.subarray(32 * next, 32 * ++next), 32 * index)
      // The line ends in place of the separator that would precede a proof.
      return Buffer.concat([unpack(texts, index).subarray(0, -1), END_OF_LINE])
    }
    if (typeof item === 'string') return utf8(`${item}\n`)
    leaves.set(item.leaf!, 32 * index)
    return utf8(`${leafText(item, chains)}}\n`)
  })
  run.tally.countSigned(count - run.tally.failed - run.tally.unsigned, {})
  return { results: pack(results), leaves }
}

const END_OF_LINE = Buffer.from('}\n')

/** Groups items for the thread that builds the tree: consecutive items with leaves form one piece, and so do those without. */
function treePieces(chunk: ComputedChunk, chains: ChainPolicy): MerklePiece[] {
  const { texts, leaves, handled } = chunk
  if (handled.size === 0) return [{ texts, leaves }]
  const parts: { readonly texts: Uint8Array[]; readonly leaves: Uint8Array[] }[] = []
  const add = (text: Uint8Array, leaf: Uint8Array | undefined) => {
    let part = parts.at(-1)
    if (part === undefined || part.leaves.length > 0 !== (leaf !== undefined)) {
      part = { texts: [], leaves: [] }
      parts.push(part)
    }
    part.texts.push(text)
    if (leaf !== undefined) part.leaves.push(leaf)
  }
  let next = 0
  for (let index = 0; index + 1 < texts.offsets.length; index++) {
    const item = handled.get(index)
    if (item === undefined) add(unpack(texts, index), leaves.subarray(32 * next, 32 * ++next))
    else if (typeof item === 'string') add(utf8(`${item},`), undefined)
    else add(utf8(`${leafText(item, chains)},`), item.leaf)
  }
  return parts.map((part) => ({ texts: pack(part.texts), leaves: new Uint8Array(Buffer.concat(part.leaves)) }))
}

/** Unpacks texts into strings, without the separator byte after each. */
export function unpackTexts(texts: PackedBytes): string[] {
  return Array.from({ length: texts.offsets.length - 1 }, (_, index) =>
    Buffer.from(unpack(texts, index)).toString('utf8', 0, texts.offsets[index + 1]! - texts.offsets[index]! - 1),
  )
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
  chunks: readonly ComputedChunk[],
  { chains, signer }: SignTogetherParts,
): Promise<BatchTexts> {
  const chainId = run.options.chainId!
  const checked = await Promise.all(chunks.map((chunk) => rejectDisallowed(run, chunk, chainId, chains)))
  const allowed = checked.flatMap(({ handled }) => [...handled.values()])
  const payloads = new Map<ComputedItem, AttestationPayload<Uint8Array>>()
  for (const item of allowed) {
    if (typeof item === 'string') continue
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
    if (typeof item === 'string') return item
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
export async function rejectDisallowed(
  run: BatchRun,
  chunk: ComputedChunk,
  chainId: number,
  chains: ChainPolicy,
): Promise<ComputedChunk> {
  const chain = chains.require(chainId)
  const check = async (item: HandledItem): Promise<HandledItem> => {
    if (typeof item === 'string') return item
    const { id, computed, path } = item
    try {
      if (computed.chainId !== chainId) throw otherChainProblem(computed.chainId, chainId)
      if (computed.schema !== undefined) await chains.requireSchema(chain, computed.kind, computed.schema)
      return item
    } catch (error) {
      return run.tally.fail(id, problemFrom(error, path))
    }
  }
  const handled = await Promise.all(
    [...chunk.handled].map(async ([index, item]) => [index, await check(item)] as const),
  )
  return { ...chunk, handled: new Map(handled) }
}

export function otherChainProblem(chainId: number, batchChainId: number): ProblemError {
  return problemAt('invalid-input', ['chainId'], `is ${chainId}, but the batch is signed for ${batchChainId}`, {
    code: 'other-chain',
    hint: 'leave it out, or send another batch',
  })
}
