import { describe, expect, it } from 'vitest'
import { type PackedBytes, unpack } from '../../src/base/bytes.ts'
import { type ProblemData, ProblemError } from '../../src/base/problem.ts'
import type { BatchRun } from '../../src/service/batch/batch.ts'
import { type SignEachParts, signEach, unpackTexts } from '../../src/service/batch/sign.ts'
import { Gate } from '../../src/service/gate.ts'
import type { ChunkResult } from '../../src/wire/batch-messages.ts'
import { putSigned, readPayload, SIGNED_BYTES } from '../../src/wire/signing-records.ts'
import { runChunk } from '../chunk-runner.ts'

const ATTESTER = `0x${'ab'.repeat(20)}`
const REJECTED_CHAIN = 8453
function computeItems(count: number): ChunkResult {
  const items = Array.from({ length: count }, (_, id) => ({
    op: 'distance',
    id: `é${id}`,
    chainId: id % 3 === 1 ? REJECTED_CHAIN : 84532,
    from: { type: 'Point', coordinates: [0, 0] },
    to: { type: 'Point', coordinates: [id / 1000, 0] },
  }))
  const result = runChunk(items, { attester: ATTESTER })
  if (result.unfinished.size > 0) throw new Error('not written as bytes')
  return result
}

/** Reads the result in a payload, in centimetres. */
const readCentimeters = (payloads: PackedBytes, index: number) =>
  Buffer.from(readPayload(unpack(payloads, index))!.data).readUIntBE(26, 6)

/** A signer that uses each result as its nonce and rejects every seventh payload. */
async function signBlock(payloads: PackedBytes) {
  const count = payloads.offsets.length - 1
  const signed = Buffer.alloc(count * SIGNED_BYTES)
  const problems = new Map<number, ProblemData>()
  for (let index = 0; index < count; index++) {
    const nonce = readCentimeters(payloads, index)
    if (index % 7 === 5) problems.set(index, { type: 'overloaded', detail: `result ${nonce}` })
    else {
      const signedFields = { recovery: 1, nonceSource: nonce % 2 ? 'chain' : 'cache', deadlineSeconds: 9 } as const
      putSigned(signed, index * SIGNED_BYTES, index, {
        compact: new Uint8Array(64).fill(index),
        nonce,
        ...signedFields,
      })
    }
  }
  return { signed, rejections: problems }
}

function createParts(isRejected: (chainId: number) => boolean): SignEachParts {
  const require = (chainId: number) => {
    if (isRejected(chainId)) throw new ProblemError({ type: 'invalid-input', detail: `chain ${chainId}` })
  }
  return { chains: { require }, signer: { address: ATTESTER, signBlock }, signing: new Gate(1) } as never
}

describe('items that are signed one by one', () => {
  it.each([
    ['only valid chains', () => false],
    ['one rejected chain', (chainId: number) => chainId === REJECTED_CHAIN],
    ['only rejected chains', () => true],
  ])('each get their own result, signature or problem, with %s', async (_, isRejected) => {
    const counts = { ok: 0, rejected: 0 }
    const tally = {
      countSigned(count: number) {
        counts.ok += count
      },
      fail: (id: string, { detail, invalidParts }: ProblemData) => {
        counts.rejected++
        return `{${id}"error":${JSON.stringify({ detail, invalidParts })}}`
      },
    }
    const run = { tally, options: { attest: 'each' } } as unknown as BatchRun
    const texts = await signEach(
      run,
      { ...computeItems(50), firstIndex: 100, handled: new Map() },
      ',',
      createParts(isRejected),
    )
    const items = unpackTexts(texts).map((text) => JSON.parse(text))
    expect(items.length).toBe(50)
    const signedBefore = { count: 0 }
    for (const [index, item] of items.entries()) {
      expect(item.id).toBe(`é${index}`)
      const isOnRejectedChain = isRejected(index % 3 === 1 ? REJECTED_CHAIN : 84532)
      if (isOnRejectedChain) expect(item.error.detail).toMatch(`items[${100 + index}]: chain`)
      const signedIndex = isOnRejectedChain ? undefined : signedBefore.count++
      if (signedIndex === undefined) continue
      if (signedIndex % 7 === 5) expect(item.error.detail).toMatch('result')
      else {
        expect(item.delegatedAttestation.nonce).toBe(Math.round(item.result * 100))
        expect(item.attestation.signature).toBe(`0x${signedIndex.toString(16).padStart(2, '0').repeat(64)}1c`)
        expect(item.delegatedAttestation).toMatchObject({ signature: item.attestation.signature, deadline: 9 })
      }
    }
    expect(counts.ok + counts.rejected).toBe(50)
    expect(counts.rejected).toBe(items.filter(({ error }) => error !== undefined).length)
  })
})
