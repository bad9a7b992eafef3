import { describe, expect, it } from 'vitest'
import { createLeafHasher } from '../../src/attest/merkle-proof.ts'
import { unpack } from '../../src/base/bytes.ts'
import { attestationJsonTail, computeResponseJson } from '../../src/compute/response-text.ts'
import { checksumAddress } from '../../src/crypto/address.ts'
import { unpackTexts } from '../../src/service/batch/sign.ts'
import { readPayload } from '../../src/wire/signing-records.ts'
import { engine, runChunk, SCHEMAS } from '../chunk-runner.ts'
import { SQUARE } from '../fixtures.ts'

const ATTESTER = checksumAddress(`0x${'c0ffee00'.repeat(5)}`)

const point = (lon: number, lat: number) => ({ type: 'Point', coordinates: [lon, lat] })
const ITEMS: readonly object[] = Array.from({ length: 300 }, (_, index) => {
  const id = [{}, { id: index }, { id: `é ${'ü'.repeat(index % 40)} "${index}"` }, { id: '\u{1f30d}' }][index % 4]
  const recipient = index % 5 === 0 ? { recipient: `0x${(index + 1).toString(16).padStart(40, '0')}` } : {}
  const chainMember = index % 7 === 0 ? { chainId: 8453 } : {}
  const common = { ...id, ...recipient, ...chainMember }
  return index % 3 === 0
    ? { op: 'contains', ...common, container: SQUARE, containee: point(2 + index / 200, 48.5) }
    : { op: 'distance', ...common, from: point(2, 48), to: point(index / 3, -index / 7) }
})

/** Returns the same results as objects, from which the main thread makes its text. */
function computeObjects(items: readonly object[]) {
  const { unfinished } = runChunk(items, { returnsObjects: true })
  expect([...unfinished.keys()]).toEqual([...items.keys()])
  return [...unfinished.values()].map((item) => {
    if (item.result.type !== 'computed') throw new Error(JSON.stringify(item))
    return { id: item.id, ...item.result, data: `0x${Buffer.from(item.result.data).toString('hex')}` as const }
  })
}

describe('results written as bytes', () => {
  it('equal the text made from strings, up to the signature, and come with the payload to sign', () => {
    const written = runChunk(ITEMS, { attester: ATTESTER })
    expect(written.unfinished.size).toBe(0)
    const { texts, payloads, idLengths } = written
    for (const [index, { id, members, kind, recipient, data, chainId }] of computeObjects(ITEMS).entries()) {
      const schema = SCHEMAS[kind]
      const signed = {
        signature: `0x${'ab'.repeat(65)}`,
        attester: ATTESTER,
        deadlineSeconds: 17,
        nonce: index,
      } as const
      const attested = { ...signed, schema, recipient: checksumAddress(recipient), data, nonceSource: 'chain' } as const
      const text = Buffer.from(unpack(texts, index)).toString()
      expect(`${text}${attestationJsonTail(signed)}}`).toBe(
        computeResponseJson({ members, ...attested, proofInputs: [], resultSignature: undefined }, id),
      )
      expect(Buffer.from(text).toString('utf8', 1, 1 + idLengths[index]!)).toBe(id)
      const payload = readPayload(unpack(payloads, index))!
      const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`
      expect([payload.kind, payload.chainId, payload.salt]).toEqual([kind, chainId, undefined])
      expect([hex(payload.schema), hex(payload.recipient), hex(payload.data)]).toEqual([schema, recipient, data])
    }
  })

  it('do not change when the next chunk is written', () => {
    const first = runChunk(ITEMS.slice(0, 50), { attester: ATTESTER })
    expect(first.unfinished.size).toBe(0)
    const before = [Buffer.from(first.texts.buffer).toString('hex'), Buffer.from(first.payloads.buffer).toString('hex')]
    runChunk(ITEMS.slice(50), { attester: ATTESTER })
    const after = [Buffer.from(first.texts.buffer).toString('hex'), Buffer.from(first.payloads.buffer).toString('hex')]
    expect(after).toEqual(before)
  })

  it('have leaves when a root is signed', () => {
    const items = ITEMS.filter((item) => !('chainId' in item))
    const written = runChunk(items, { attest: 'merkle' })
    expect(written.unfinished.size).toBe(0)
    const texts = unpackTexts(written.texts)
    const hashLeaf = createLeafHasher(engine.keccak)
    for (const [index, { members, id, kind, recipient, data }] of computeObjects(items).entries()) {
      expect(texts[index]).toBe(
        `{${id}${members},"schema":"${SCHEMAS[kind]}","recipient":"${checksumAddress(recipient)}","data":"${data}"`,
      )
      const leaf = hashLeaf({ schema: SCHEMAS[kind], recipient, data })
      expect(Buffer.from(written.leaves.subarray(32 * index, 32 * index + 32)).equals(leaf)).toBe(true)
    }
  })

  it.each([
    ['a problem', { op: 'distance', from: point(2, 48), to: point(2, 99) }],
    ['a schema of the client', { op: 'distance', from: point(2, 48), to: point(2, 9), schema: `0x${'7'.repeat(64)}` }],
    ['a reference', { op: 'distance', from: point(2, 48), to: { uid: `0x${'7'.repeat(64)}` } }],
  ])('are not used for an item that the main thread has to see: %s', (_, item) => {
    for (const attest of ['each', 'merkle'] as const) {
      const result = runChunk([ITEMS[1]!, item, ITEMS[2]!], {
        attest,
        attester: attest === 'each' ? ATTESTER : undefined,
      })
      expect([...result.unfinished.keys()]).toEqual([1])
      expect(unpack(result.texts, 1).length + unpack(result.payloads, 1).length).toBe(0)
    }
  })

  it.each(['each', 'merkle', 'none'] as const)(
    'are the same next to items that the main thread has to see: %s',
    (attest) => {
      const attester = attest === 'each' ? ATTESTER : undefined
      const items = ITEMS.filter((item) => !('chainId' in item)).slice(0, 60)
      const bad = { op: 'distance', id: 'bad', from: point(2, 48), to: point(2, 99) }
      const mixedItems = [bad, ...items.flatMap((item, index) => (index % 7 === 0 ? [item, bad] : [item])), bad]
      const result = runChunk(mixedItems, { attest, attester })
      const withoutBad = runChunk(items, { attest, attester })
      const good = mixedItems.flatMap((item, index) => (item === bad ? [] : [index]))
      const parts = ['texts', ...(attest === 'each' ? (['payloads'] as const) : [])] as const
      for (const part of parts) {
        expect(good.map((index) => unpack(result[part], index))).toEqual(
          items.map((_, index) => unpack(withoutBad[part], index)),
        )
      }
      if (attest === 'each') expect(good.map((index) => result.idLengths[index])).toEqual([...withoutBad.idLengths])
      expect([...result.unfinished.keys()]).toEqual(mixedItems.flatMap((item, index) => (item === bad ? [index] : [])))
      for (const { id } of result.unfinished.values()) expect(id).toBe('"id":"bad",')
      expect(result.unfinished.size).toBe(11)
      expect(result.leaves).toEqual(withoutBad.leaves)
    },
  )
})
