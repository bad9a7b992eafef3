import { describe, expect, it } from 'vitest'
import type { UnsignedResult } from '../../src/batch-messages.ts'
import { type PackedBytes, unpack } from '../../src/packed-bytes.ts'
import { type ProblemData, ProblemError } from '../../src/problem.ts'
import type { BatchRun } from '../../src/service/batch.ts'
import type { BatchAnswerParts } from '../../src/service/batch-answers.ts'
import { textsOf } from '../../src/service/batch-items.ts'
import { signTexts } from '../../src/service/batch-signing.ts'
import { Gate } from '../../src/service/gate.ts'
import { putSigned, readPayload, SIGNED_BYTES } from '../../src/signing-records.ts'
import { runChunk } from '../chunk-runner.ts'

const ATTESTER = `0x${'ab'.repeat(20)}`
const REFUSED_CHAIN = 8453
function computed(count: number): UnsignedResult {
  const items = Array.from({ length: count }, (_, id) => ({
    op: 'distance',
    id: `é${id}`,
    chainId: id % 3 === 1 ? REFUSED_CHAIN : 84532,
    from: { type: 'Point', coordinates: [0, 0] },
    to: { type: 'Point', coordinates: [id / 1000, 0] },
  }))
  const result = runChunk(items, { attester: ATTESTER })
  if (!('unsigned' in result)) throw new Error('not written')
  return result
}

/** Centimetres that a payload says. */
const resultOf = (payloads: PackedBytes, index: number) =>
  Buffer.from(readPayload(unpack(payloads, index))!.data).readUIntBE(26, 6)

/** A signer whose nonces are the results it was given, and which refuses every seventh. */
async function signBlock(payloads: PackedBytes) {
  const count = payloads.offsets.length - 1
  const signed = Buffer.alloc(count * SIGNED_BYTES)
  const refusals = new Map<number, ProblemData>()
  for (let index = 0; index < count; index++) {
    const nonce = resultOf(payloads, index)
    if (index % 7 === 5) refusals.set(index, { type: 'overloaded', detail: `result ${nonce}` })
    else {
      const rest = { recovery: 1, nonceSource: nonce % 2 ? 'chain' : 'cache', deadlineSeconds: 9 } as const
      putSigned(signed, index * SIGNED_BYTES, index, { compact: new Uint8Array(64).fill(index), nonce, ...rest })
    }
  }
  return { signed, refusals }
}

function partsOf(isRefused: (chainId: number) => boolean): BatchAnswerParts {
  const require = (chainId: number) => {
    if (isRefused(chainId)) throw new ProblemError({ type: 'invalid-input', detail: `chain ${chainId}` })
  }
  return { chains: { require }, signer: { address: ATTESTER, signBlock }, signing: new Gate(1) } as never
}

describe('texts that are signed one by one', () => {
  it.each([
    ['chains that are fine', () => false],
    ['a chain that is refused', (chainId: number) => chainId === REFUSED_CHAIN],
    ['no chain that is not refused', () => true],
  ])('keep what belongs together, with %s', async (_, isRefused) => {
    const counted = { ok: 0, refused: 0 }
    const tally = {
      signed(count: number) {
        counted.ok += count
      },
      refuse: (id: string, { detail, places }: ProblemData) => {
        counted.refused++
        return `{${id}"error":${JSON.stringify({ detail, places })}}`
      },
    }
    const run = { tally } as unknown as BatchRun
    const { texts } = await signTexts(run, { ...computed(50), firstIndex: 100 }, ',', partsOf(isRefused))
    const answers = textsOf(texts).map((text) => JSON.parse(text))
    expect(answers.length).toBe(50)
    const signedBefore = { count: 0 }
    for (const [index, answer] of answers.entries()) {
      expect(answer.id).toBe(`é${index}`)
      const isOfRefused = isRefused(index % 3 === 1 ? REFUSED_CHAIN : 84532)
      if (isOfRefused) expect(answer.error.detail).toMatch(`items[${100 + index}]: chain`)
      const place = isOfRefused ? undefined : signedBefore.count++
      if (place === undefined) continue
      if (place % 7 === 5) expect(answer.error.detail).toMatch('result')
      else {
        expect(answer.delegatedAttestation.nonce).toBe(Math.round(answer.result * 100))
        expect(answer.attestation.signature).toBe(`0x${place.toString(16).padStart(2, '0').repeat(64)}1c`)
        expect(answer.delegatedAttestation).toMatchObject({ signature: answer.attestation.signature, deadline: 9 })
      }
    }
    expect(counted.ok + counted.refused).toBe(50)
    expect(counted.refused).toBe(answers.filter(({ error }) => error !== undefined).length)
  })
})
