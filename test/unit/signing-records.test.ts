import { beforeAll, describe, expect, it } from 'vitest'
import {
  checkBoolean,
  checkNumeric,
  decodeBoolean,
  decodeNumeric,
  encodeBoolean,
  encodeMerkleRoot,
  encodeNumeric,
} from '../../src/attest/data.ts'
import { ProblemError } from '../../src/base/problem.ts'
import { hexToBytes } from '../../src/crypto/hex.ts'
import { formatSignature } from '../../src/crypto/signature.ts'
import type { AttestationPayload, NonceSource, ResultPayload } from '../../src/wire/signing-messages.ts'
import {
  joinRecords,
  type PackablePayload,
  packPayload,
  payloadChainId,
  payloadSize,
  putPayload,
  putSigned,
  readPayload,
  readSigned,
  SIGNED_BYTES,
  signedId,
  splitRecords,
} from '../../src/wire/signing-records.ts'
import type { Hex } from '../../src/wire/values.ts'
import { createTestSigner, NOW_SECONDS, RECIPIENT, type TestSigner, ZERO_UID } from '../attest-parts.ts'
import { seededRandom } from '../random-geometry.ts'

let parts: TestSigner
beforeAll(async () => {
  parts = await createTestSigner()
})

const numeric = encodeNumeric(123_456n, 'centimeters', [ZERO_UID, ZERO_UID], NOW_SECONDS, 'distance')
const boolean = encodeBoolean(true, [ZERO_UID], NOW_SECONDS, 'contains')
const salt: Hex = `0x${'5a'.repeat(32)}`
const toHex = (bytes: Uint8Array | undefined) => bytes && `0x${Buffer.from(bytes).toString('hex')}`

function payload(changes: Partial<AttestationPayload> = {}): AttestationPayload {
  const { schemas } = parts
  return { kind: 'numeric', chainId: 84532, schema: schemas.numeric, recipient: RECIPIENT, data: numeric, ...changes }
}

const result = (changes: Partial<ResultPayload> = {}): ResultPayload => ({
  ...payload(),
  kind: 'result',
  dataKind: 'numeric',
  salt,
  ...changes,
})

describe('a payload packed as a record', () => {
  it('contains the fields of the payload, of whatever kind', () => {
    const root = encodeMerkleRoot({ merkleRoot: ZERO_UID, leafCount: 1, timestampSeconds: NOW_SECONDS })
    for (const original of [
      payload(),
      payload({ kind: 'boolean', data: boolean, chainId: 2 ** 48 - 1 }),
      payload({ kind: 'merkle-root', data: root, chainId: 0 }),
      payload({ kind: 'verify', data: `0x${'00'.repeat(11 * 32)}` }),
      result(),
      result({ dataKind: 'boolean', data: boolean }),
    ]) {
      const bytes = packPayload(original)
      expect(bytes.length).toBe(payloadSize(original))
      expect(payloadChainId(bytes)).toBe(original.chainId)
      const read = readPayload(bytes)!
      expect(read.kind).toBe(original.kind === 'result' ? original.dataKind : original.kind)
      expect(toHex(read.salt)).toBe(original.kind === 'result' ? salt : undefined)
      expect([read.chainId, toHex(read.schema), toHex(read.recipient), toHex(read.data)]).toEqual([
        original.chainId,
        original.schema,
        original.recipient,
        original.data,
      ])
    }
  })

  it('is the same for data that is already bytes', () => {
    const original: PackablePayload = { ...payload(), data: hexToBytes(numeric)! }
    const bytes = Buffer.alloc(payloadSize(original))
    expect(putPayload(bytes, 0, original)).toBe(bytes.length)
    expect(bytes.equals(packPayload(payload()))).toBe(true)
  })

  it('rejects a field of the wrong form', () => {
    packPayload(payload()) // The schema and the recipient are cached by now.
    const invalid: readonly (readonly [Partial<AttestationPayload>, string])[] = [
      [{ schema: '0x12' }, 'invalid-input'],
      [{ schema: RECIPIENT }, 'invalid-input'],
      [{ recipient: parts.schemas.numeric }, 'invalid-input'],
      [{ recipient: RECIPIENT.toUpperCase() as Hex }, 'invalid-input'],
      [{ chainId: 2 ** 48 }, 'internal'],
      [{ chainId: -1 }, 'internal'],
      [{ chainId: 1.5 }, 'internal'],
      [{ data: `${numeric}0` }, 'internal'],
      [{ data: numeric.replace('a', 'x') as Hex }, 'internal'],
      [{ data: `00${numeric.slice(2)}` as Hex }, 'internal'],
      [{ data: '' as Hex }, 'internal'],
      [{ kind: '__proto__' as 'numeric' }, 'internal'],
    ]
    for (const [changes, type] of invalid) {
      let problem: unknown
      try {
        packPayload(payload(changes))
      } catch (error) {
        problem = error
      }
      expect(problem, JSON.stringify(changes)).toBeInstanceOf(ProblemError)
      expect((problem as ProblemError).data.type, JSON.stringify(changes)).toBe(type)
    }
    expect(() => packPayload(result({ salt: '0x5a' }))).toThrow(ProblemError)
  })

  it('is signed like the payload itself', () => {
    for (const original of [
      payload(),
      result(),
      payload({ kind: 'boolean', schema: parts.schemas.boolean, data: boolean }),
    ]) {
      const bySelf = parts.signer.sign(original)
      const byRecord = parts.signer.signRecord(packPayload(original))
      if (bySelf instanceof Promise || byRecord instanceof Promise) throw new Error('nothing to wait for')
      if (!bySelf.ok || !byRecord.ok || !('signature' in bySelf)) throw new Error('was rejected')
      expect(formatSignature(byRecord)).toBe(bySelf.signature)
      expect(byRecord.deadlineSeconds).toBe(bySelf.deadlineSeconds)
    }
  })

  it('is rejected when it is truncated or extended, or starts with another kind', () => {
    const record = packPayload(payload())
    for (let length = 0; length < record.length; length++) {
      expect(parts.signer.signRecord(record.subarray(0, length)), `${length} bytes`).toMatchObject({ ok: false })
    }
    for (let kind = 1; kind < 256; kind++) {
      const other = Buffer.from(record)
      other[0] = kind
      expect(parts.signer.signRecord(other), `kind ${kind}`).toMatchObject({ ok: false })
    }
    expect(parts.signer.signRecord(Buffer.concat([record, Buffer.alloc(32)]))).toMatchObject({ ok: false })
  })
})

describe('checking data without decoding it', () => {
  it.each([
    ['numeric', numeric, checkNumeric, decodeNumeric],
    ['boolean', boolean, checkBoolean, decodeBoolean],
  ] as const)('accepts and rejects the same data as decoding does: %s', (_, hex, check, decode) => {
    const bytes = hexToBytes(hex)!
    const checkBoth = (changed: Uint8Array) => {
      const [checked, decoded] = [check(changed), decode(changed)]
      expect(checked.ok ? 'taken' : checked.reason, toHex(changed)).toBe(decoded.ok ? 'taken' : decoded.reason)
      return decoded.ok
    }
    let accepted = 0
    for (let at = 0; at < bytes.length; at++) {
      for (const value of [0, 1, 31, 32, 33, 0x7f, 0x80, 0xc3, 0xff]) {
        const changed = Uint8Array.from(bytes)
        changed[at] = value
        if (checkBoth(changed)) accepted++
      }
    }
    for (let length = 0; length <= bytes.length + 33; length++) {
      const changed = new Uint8Array(length)
      changed.set(bytes.subarray(0, length))
      checkBoth(changed)
    }
    const random = seededRandom(7)
    for (let round = 0; round < 2000; round++) {
      const changed = Uint8Array.from(bytes)
      for (let count = 0; count < 4; count++) changed[Math.floor(random() * bytes.length)] = Math.floor(random() * 256)
      if (checkBoth(changed)) accepted++
    }
    expect(accepted).toBeGreaterThan(500)
  })
})

describe('signed records', () => {
  it('are read as they were written', () => {
    const bytes = Buffer.alloc(3 * SIGNED_BYTES)
    const compact = Uint8Array.from({ length: 64 }, (_, index) => 255 - index)
    const replies: readonly (readonly [number, 0 | 1, number, NonceSource | undefined])[] = [
      [0, 0, 0, undefined],
      [2 ** 32 - 1, 1, 2 ** 48 - 1, 'default'],
      [77, 1, 2 ** 32, 'cache'],
    ]
    replies.forEach(([id, recovery, nonce, nonceSource], index) => {
      putSigned(bytes, index * SIGNED_BYTES, id, {
        compact,
        recovery,
        nonce,
        nonceSource,
        deadlineSeconds: 2 ** 41 + 5,
      })
    })
    replies.forEach(([id, recovery, nonce, nonceSource], index) => {
      expect(signedId(bytes, index * SIGNED_BYTES)).toBe(id)
      const signature = formatSignature({ compact, recovery })
      const common = { ok: true, signature, deadlineSeconds: 2 ** 41 + 5 }
      expect(readSigned(bytes, index * SIGNED_BYTES)).toEqual(
        nonceSource === undefined ? common : { ...common, nonce, nonceSource },
      )
    })
  })

  it('travel together in one message', () => {
    const records = [Buffer.from('a'), Buffer.alloc(0), Buffer.alloc(70_000, 7)]
    const ids = [1, 2 ** 32 - 1, 3]
    const found: [number, string][] = []
    splitRecords(joinRecords(ids, records), (id, record) => found.push([id, Buffer.from(record).toString('hex')]))
    expect(found).toEqual(ids.map((id, index) => [id, records[index]!.toString('hex')]))
  })
})
