import { freeBuffer, type PackedBytes, pack, unpack } from '../../base/bytes.ts'
import { type ProblemData, ProblemError, underPath } from '../../base/problem.ts'
import { attestationJsonTail } from '../../compute/response-text.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import type { NonceSource, SignedAttestation } from '../../wire/signing-messages.ts'
import { payloadChainId, readSigned, SIGNED_BYTES } from '../../wire/signing-records.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import { nonceHeaders, type ResponseSigner } from '../compute/signed-answer.ts'
import type { Gate } from '../gate.ts'
import type { BatchRun } from './batch.ts'
import {
  areTexts,
  type BatchItem,
  type BatchItems,
  finishedJson,
  isComputed,
  itemPath,
  problemFrom,
  type UnsignedItems,
} from './items.ts'

export interface SignEachParts {
  readonly chains: ChainPolicy
  readonly answers: ResponseSigner
  readonly signer: SignerClient
  /** Shared by all batches, so that single requests find room at the signer. */
  readonly signing: Gate
}

/**
 * Attests each result of a chunk separately, if it awaits a signature.
 *
 * @param separator one ASCII character that follows each result that is returned as bytes
 * @returns finished JSON: as bytes, each result followed by its separator, or as strings
 */
export function signEach(
  run: BatchRun,
  computed: BatchItems | UnsignedItems,
  separator: string,
  parts: SignEachParts,
): PackedBytes | Promise<PackedBytes | string[]> {
  if ('unsigned' in computed) return signBytes(run, computed, separator, parts)
  return areTexts(computed) ? computed.texts : signItems(run, computed, parts)
}

/** Attests results that the main thread had to handle, one by one. */
function signItems(run: BatchRun, items: readonly BatchItem[], { answers, signing }: SignEachParts): Promise<string[]> {
  if (items.every((item) => typeof item === 'string')) return Promise.resolve(items as string[])
  return signing.run(() =>
    Promise.all(
      items.map(async (item) => {
        if (!isComputed(item)) return finishedJson(item)
        const { id, computed, proofInputs, path } = item
        try {
          const { json, headers = {} } = await answers.sign(computed, proofInputs, id)
          run.tally.countSigned(1, headers)
          return json
        } catch (error) {
          return run.tally.fail(id, problemFrom(error, path))
        }
      }),
    ),
  )
}

/** Attests a chunk whose JSON goes from the compute thread to the client as bytes, and whose payloads go so to the signer. */
async function signBytes(
  run: BatchRun,
  items: UnsignedItems,
  separator: string,
  { chains, signer, signing }: SignEachParts,
): Promise<PackedBytes> {
  const { unsigned, payloads, idLengths } = items
  const problems = unsupportedChainProblems(payloads, chains)
  const signable = problems.size === 0 ? payloads : withoutProblems(payloads, problems)
  const { signed, refusals } = await signing.run(() => signer.signBlock(signable))
  const sources = new Map<NonceSource, number>()
  let next = 0
  // For each item, the end of its JSON; for a failed item, its whole JSON.
  const ends = Array.from(idLengths, (_, index) => {
    const problem = problems.get(index) ?? refusals.get(next)
    if (!problems.has(index)) next++
    if (problem !== undefined) {
      problems.set(index, problem)
      return run.tally.fail(idMember(items, index), underPath(problem, itemPath(items, index))) + separator
    }
    const attestation = readSigned(signed, (next - 1) * SIGNED_BYTES) as SignedAttestation
    sources.set(attestation.nonceSource, (sources.get(attestation.nonceSource) ?? 0) + 1)
    return `${attestationJsonTail({ ...attestation, attester: signer.address })}}${separator}`
  })
  for (const [nonceSource, count] of sources) run.tally.countSigned(count, nonceHeaders({ nonceSource }))
  const texts = joinTexts(unsigned, ends, problems)
  freeBuffer(unsigned.buffer)
  freeBuffer(payloads.buffer)
  return texts
}

/** Finds payloads for chains that are not supported. The main thread is the first to know which chains are refused. */
function unsupportedChainProblems(payloads: PackedBytes, chains: ChainPolicy): Map<number, ProblemData> {
  const problems = new Map<number, ProblemData>()
  const byChain = new Map<number, ProblemData | undefined>()
  for (let index = 0; index < payloads.offsets.length - 1; index++) {
    const chainId = payloadChainId(unpack(payloads, index))
    if (!byChain.has(chainId)) byChain.set(chainId, unsupportedChainProblem(chainId, chains))
    const problem = byChain.get(chainId)
    if (problem !== undefined) problems.set(index, problem)
  }
  return problems
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

function withoutProblems(payloads: PackedBytes, problems: ReadonlyMap<number, ProblemData>): PackedBytes {
  const indexes = Array.from({ length: payloads.offsets.length - 1 }, (_, index) => index)
  return pack(indexes.filter((index) => !problems.has(index)).map((index) => unpack(payloads, index)))
}

/** Returns `"id":…,` from the JSON of an item. */
function idMember({ unsigned, idLengths }: UnsignedItems, index: number): string {
  return Buffer.from(unpack(unsigned, index)).toString('utf8', 1, 1 + idLengths[index]!)
}

/**
 * Appends its end to the JSON of each item.
 *
 * @param problems problems by item; the JSON of these items is left out, because `ends` holds all of theirs
 */
function joinTexts(
  unsigned: PackedBytes,
  ends: readonly string[],
  problems: ReadonlyMap<number, ProblemData>,
): PackedBytes {
  const size = ends.reduce((sum, end) => sum + Buffer.byteLength(end), unsigned.buffer.byteLength)
  const target = Buffer.from(new ArrayBuffer(size))
  const offsets = new Uint32Array(ends.length + 1)
  let offset = 0
  ends.forEach((end, index) => {
    if (problems.has(index)) offset += target.write(end, offset)
    else {
      const text = unpack(unsigned, index)
      target.set(text, offset)
      offset += text.length
      offset += target.write(end, offset, 'latin1')
    }
    offsets[index + 1] = offset
  })
  return { buffer: target.buffer as ArrayBuffer, offsets }
}
