import { attestationTail } from '../attest/attestation-text.ts'
import type { TextsResult } from '../batch-messages.ts'
import { freeBuffer } from '../free-buffer.ts'
import type { NonceSource, SignedAttestation } from '../messages.ts'
import { type PackedBytes, pack, unpack } from '../packed-bytes.ts'
import { type ProblemData, ProblemError, underPath } from '../problem.ts'
import { payloadChainId, readSigned, SIGNED_BYTES } from '../signing-records.ts'
import { nonceHeaders } from './attest.ts'
import type { BatchRun } from './batch.ts'
import type { BatchAnswerParts } from './batch-answers.ts'
import { pathOf, type UnsignedItems } from './batch-items.ts'
import type { ChainPolicy } from './chain-policy.ts'

/**
 * Results of a chunk, each with an attestation of its own: their texts go from the compute thread to the client as bytes, and
 * their payloads as bytes to the signer.
 *
 * @param separator one ASCII character behind each result
 */
export async function signTexts(
  run: BatchRun,
  found: UnsignedItems,
  separator: string,
  { chains, signer, signing }: BatchAnswerParts,
): Promise<TextsResult> {
  const { unsigned, payloads, idLengths } = found
  const problems = ofRefusedChains(payloads, chains)
  const signable = problems.size === 0 ? payloads : without(payloads, problems)
  const { signed, refusals } = await signing.run(() => signer.signBlock(signable))
  const sources = new Map<NonceSource, number>()
  let next = 0
  // What follows each text, or stands in its place.
  const rests = Array.from(idLengths, (_, index) => {
    const problem = problems.get(index) ?? refusals.get(next)
    if (!problems.has(index)) next++
    if (problem !== undefined) {
      problems.set(index, problem)
      return run.tally.refuse(idOf(found, index), underPath(problem, pathOf(found, index))) + separator
    }
    const attestation = readSigned(signed, (next - 1) * SIGNED_BYTES) as SignedAttestation
    sources.set(attestation.nonceSource, (sources.get(attestation.nonceSource) ?? 0) + 1)
    return `${attestationTail({ ...attestation, attester: signer.address })}}${separator}`
  })
  for (const [nonceSource, count] of sources) run.tally.signed(count, nonceHeaders({ nonceSource }))
  const texts = join(unsigned, rests, problems)
  freeBuffer(unsigned.buffer)
  freeBuffer(payloads.buffer)
  return { texts, leaves: new Uint8Array(0) }
}

/** Main knows first which chains turned out to be others. */
function ofRefusedChains(payloads: PackedBytes, chains: ChainPolicy): Map<number, ProblemData> {
  const problems = new Map<number, ProblemData>()
  const byChain = new Map<number, ProblemData | undefined>()
  for (let index = 0; index < payloads.offsets.length - 1; index++) {
    const chainId = payloadChainId(unpack(payloads, index))
    if (!byChain.has(chainId)) byChain.set(chainId, refusalOf(chainId, chains))
    const problem = byChain.get(chainId)
    if (problem !== undefined) problems.set(index, problem)
  }
  return problems
}

function refusalOf(chainId: number, chains: ChainPolicy): ProblemData | undefined {
  try {
    chains.require(chainId)
    return undefined
  } catch (error) {
    if (error instanceof ProblemError) return error.data
    throw error
  }
}

function without(payloads: PackedBytes, problems: ReadonlyMap<number, ProblemData>): PackedBytes {
  const indexes = Array.from({ length: payloads.offsets.length - 1 }, (_, index) => index)
  return pack(indexes.filter((index) => !problems.has(index)).map((index) => unpack(payloads, index)))
}

/** `"id":…,` as it stands in the text. */
function idOf({ unsigned, idLengths }: UnsignedItems, index: number): string {
  return Buffer.from(unpack(unsigned, index)).toString('utf8', 1, 1 + idLengths[index]!)
}

/** @param problems of the items whose text is left out */
function join(
  unsigned: PackedBytes,
  rests: readonly string[],
  problems: ReadonlyMap<number, ProblemData>,
): PackedBytes {
  const size = rests.reduce((sum, rest) => sum + Buffer.byteLength(rest), unsigned.buffer.byteLength)
  const target = Buffer.from(new ArrayBuffer(size))
  const offsets = new Uint32Array(rests.length + 1)
  let at = 0
  rests.forEach((rest, index) => {
    if (problems.has(index)) at += target.write(rest, at)
    else {
      const text = unpack(unsigned, index)
      target.set(text, at)
      at += text.length
      at += target.write(rest, at, 'latin1')
    }
    offsets[index + 1] = at
  })
  return { buffer: target.buffer as ArrayBuffer, offsets }
}
