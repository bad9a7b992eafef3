import {
  encodeFunctionData,
  fromRlp,
  keccak256,
  parseAbi,
  parseTransaction,
  recoverTransactionAddress,
  serializeTransaction,
  type TransactionSerializedEIP1559,
  toRlp,
} from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { encodeBoolean, encodeMerkleRoot, encodeNumeric } from '../../src/attest/data.ts'
import { encodeMultiAttest, encodeRlp, rlpInteger } from '../../src/attest/relay-transaction.ts'
import type { AttestationPayload, RelayPayload, RelaySigningResult } from '../../src/wire/signing-messages.ts'
import type { Hex } from '../../src/wire/values.ts'
import { createTestSigner, NOW_SECONDS, RECIPIENT, type TestSigner, ZERO_UID } from '../attest-parts.ts'

const CEILINGS = { gas: 16_000_000, feePerGas: 10n ** 12n, priorityFeePerGas: 10n ** 12n }
// The function signature of the deployed contracts, the same in every version.
const ABI = parseAbi([
  'struct Request { address recipient; uint64 expirationTime; bool revocable; bytes32 refUID; bytes data; uint256 value; }',
  'struct MultiRequest { bytes32 schema; Request[] data; }',
  'function multiAttest(MultiRequest[] multiRequests) payable returns (bytes32[])',
])
const random = randomFrom(7)

let parts: TestSigner
beforeAll(async () => {
  parts = await createTestSigner({ relay: CEILINGS })
})

function item(index: number, chainId = 84532): AttestationPayload {
  const common = { chainId, recipient: index % 3 === 0 ? RECIPIENT : (`0x${'ab'.repeat(20)}` as Hex) }
  const { schemas } = parts
  const refs = Array.from({ length: index % 4 }, (): Hex => `0x${(index + 1).toString(16).padStart(64, '0')}`)
  if (index % 5 < 2) {
    const data = encodeBoolean(true, refs, NOW_SECONDS, `within:${10 ** (index % 12)}`)
    return { ...common, kind: 'boolean', schema: schemas.boolean, data }
  }
  if (index % 5 < 4) {
    const data = encodeNumeric(BigInt(index) ** 9n, 'centimeters', refs, NOW_SECONDS, 'distance')
    return { ...common, kind: 'numeric', schema: schemas.numeric, data }
  }
  const data = encodeMerkleRoot({ merkleRoot: ZERO_UID, leafCount: 9, timestampSeconds: NOW_SECONDS })
  return { ...common, kind: 'merkle-root', schema: schemas['merkle-root'], data }
}

function payload(changes: Partial<RelayPayload> = {}): RelayPayload {
  return {
    kind: 'relay-transaction',
    chainId: 84532,
    nonce: 0,
    gas: 500_000,
    maxFeePerGas: 30_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    items: [item(0)],
    ...changes,
  }
}

function signed(result: RelaySigningResult) {
  if (!result.ok) throw new Error(result.problem.detail)
  return result
}

/** Encodes the same attestations with viem. */
function calldata(items: readonly AttestationPayload[]): Hex {
  const groups: { schema: Hex; data: object[] }[] = []
  for (const { schema, recipient, data } of items) {
    if (groups.at(-1)?.schema !== schema) groups.push({ schema, data: [] })
    const rest = { expirationTime: 0n, revocable: true, refUID: ZERO_UID, value: 0n }
    groups.at(-1)!.data.push({ recipient, data, ...rest })
  }
  return encodeFunctionData({ abi: ABI, functionName: 'multiAttest', args: [groups as never] })
}

describe('a relay transaction', () => {
  it('encodes RLP as viem does, at every threshold of the length', () => {
    for (const length of [0, 1, 2, 55, 56, 57, 255, 256, 65_535, 65_536]) {
      const bytes = Buffer.alloc(length, 0x7f)
      for (const content of [bytes, Buffer.alloc(length, 0x80)]) {
        expect(`0x${encodeRlp(content).toString('hex')}`).toBe(toRlp(`0x${content.toString('hex')}`))
      }
      const list = Array.from({ length: Math.min(length, 300) }, () => Buffer.from('cat'))
      expect(`0x${encodeRlp([list, [], bytes]).toString('hex')}`).toBe(
        toRlp([list.map((): Hex => '0x636174'), [], `0x${bytes.toString('hex')}`]),
      )
    }
    expect(rlpInteger(0)).toEqual(Buffer.alloc(0))
    expect(rlpInteger(2n ** 64n).toString('hex')).toBe('010000000000000000')
    expect(() => rlpInteger(-1)).toThrow(RangeError)
  })

  it('calls multiAttest with the same bytes as viem', () => {
    for (let count = 0; count <= 40; count++) {
      const items = Array.from({ length: count }, (_, index) => item(index + count))
      expect(encodeMultiAttest(items), `${count} items`).toBe(calldata(items))
    }
  })

  it('is read by viem as intended, and its signer is our attester', async () => {
    for (let round = 0; round < 300; round++) {
      const integer = (bits: number) => BigInt(Math.floor(random() * 2 ** Math.floor(random() * bits)))
      const maxFeePerGas = integer(39) + 1n
      const chainId = [...parts.chains.keys()][round % parts.chains.size]!
      const request = payload({
        chainId,
        nonce: Number(integer(40)),
        gas: Math.floor(random() * CEILINGS.gas) + 1,
        maxFeePerGas,
        maxPriorityFeePerGas: integer(39) % (maxFeePerGas + 1n),
        items: Array.from({ length: round % 4 }, (_, index) => item(index + round, chainId)),
      })
      const { raw, hash } = signed(parts.signer.sign(request))
      expect(hash).toBe(keccak256(raw))
      const read = parseTransaction(raw as TransactionSerializedEIP1559)
      const { kind, items, gas, ...numbers } = request
      expect(read).toMatchObject({ type: 'eip1559', gas: BigInt(gas), data: calldata(items) })
      const { to, value = 0n, accessList = [], nonce = 0, maxPriorityFeePerGas = 0n } = read
      expect({ to: to?.toLowerCase(), value, accessList }).toEqual({
        to: parts.chains.get(chainId)!.easAddress.toLowerCase(),
        value: 0n,
        accessList: [],
      })
      expect({ chainId: read.chainId, nonce, maxFeePerGas: read.maxFeePerGas, maxPriorityFeePerGas }).toEqual(numbers)
      const { r, s, yParity } = read
      const { r: _r, s: _s, v: _v, yParity: _yParity, ...unsigned } = read
      expect(serializeTransaction(unsigned, { r: r!, s: s!, yParity: yParity! })).toBe(raw)
      expect((await recoverTransactionAddress({ serializedTransaction: raw as never })).toLowerCase()).toBe(
        parts.signer.address,
      )
    }
  })

  it('has r and s without leading zeros', () => {
    // One signature in 128 has a leading zero byte in r or s.
    let short = 0
    for (let nonce = 0; nonce < 1000; nonce++) {
      const { raw } = signed(parts.signer.sign(payload({ nonce, items: [] })))
      const [r, s] = (fromRlp(`0x${raw.slice(4)}`) as Hex[]).slice(-2)
      expect(r).not.toMatch(/^0x00/)
      expect(s).not.toMatch(/^0x00/)
      if (r!.length < 66 || s!.length < 66) short++
    }
    expect(short).toBeGreaterThan(0)
  })

  it('is rejected above its ceilings, for another chain, and where transactions are not enabled', async () => {
    const rejections: readonly [Partial<RelayPayload>, string][] = [
      [{ gas: CEILINGS.gas + 1 }, 'at most 16000000 gas'],
      [{ gas: 0 }, 'at most 16000000 gas'],
      [{ gas: 1.5 }, 'at most 16000000 gas'],
      [{ maxFeePerGas: CEILINGS.feePerGas + 1n }, 'at most 1000000000000 wei'],
      [{ maxFeePerGas: 0n }, 'at most 1000000000000 wei'],
      [{ maxPriorityFeePerGas: 30_000_000_001n }, 'from 0 to the fee per gas'],
      [{ maxPriorityFeePerGas: -1n }, 'from 0 to the fee per gas'],
      [{ nonce: -1 }, 'whole number'],
      [{ nonce: 2 ** 53 }, 'whole number'],
      [{ items: [item(0), item(1, 8453)] }, 'all of its chain'],
      [{ items: Array.from({ length: 41 }, () => item(0)) }, 'at most 40 attestations'],
      [{ chainId: 1, items: [] }, 'is not supported'],
    ]
    for (const [changes, detail] of rejections) {
      expect(parts.signer.sign(payload(changes))).toMatchObject({
        ok: false,
        problem: { detail: expect.stringContaining(detail) },
      })
    }
    const disabled = await createTestSigner()
    expect(disabled.signer.sign(payload())).toMatchObject({
      ok: false,
      problem: { detail: 'transactions are not enabled' },
    })
  })

  it('is rejected if it contains an attestation that the signer would reject', () => {
    const invalid: readonly [Partial<AttestationPayload>, string][] = [
      [{ schema: parts.schemas.numeric }, 'schema of numeric data'],
      [{ schema: parts.schemas.location }, 'schema of location data'],
      [{ data: '0x1234' }, 'the data of a boolean attestation'],
      [{ recipient: '0x12' }, 'recipient'],
      [{ kind: 'location' as never }, 'unknown kind'],
    ]
    for (const [changes, detail] of invalid) {
      const result = parts.signer.sign(payload({ items: [item(2), { ...item(0), ...changes }] }))
      expect(result).toMatchObject({ ok: false, problem: { detail: expect.stringContaining(detail) } })
    }
  })
})
