import { beforeAll, describe, expect, it } from 'vitest'
import { encodeBoolean, encodeMerkleRoot, encodeNumeric } from '../../src/attest/data.ts'
import { type MerkleItem, verifyMerkleAttestation, verifyMerkleProof } from '../../src/attest/merkle-proof.ts'
import { createResultDigest, type ResultMessage } from '../../src/attest/typed-data.ts'
import { buildMerkleTree, createMerkleTree } from '../../src/compute/merkle-tree.ts'
import { recoverAddress } from '../../src/crypto/address.ts'
import { parseSignature } from '../../src/crypto/signature.ts'
import type { Hex } from '../../src/wire/values.ts'
import { createTestSigner, NOW_SECONDS, RECIPIENT, type TestSigner, TTL_SECONDS, ZERO_UID } from '../attest-parts.ts'
import { scaled, stride } from '../scale.ts'

let parts: TestSigner
let items: MerkleItem[]
beforeAll(async () => {
  parts = await createTestSigner()
  items = Array.from({ length: 6 }, (_, index) =>
    index % 2 === 0
      ? {
          schema: parts.schemas.numeric,
          recipient: RECIPIENT,
          data: encodeNumeric(BigInt(index), 'centimeters', [ZERO_UID, ZERO_UID], NOW_SECONDS, 'distance'),
        }
      : {
          schema: parts.schemas.boolean,
          recipient: RECIPIENT,
          data: encodeBoolean(true, [ZERO_UID, ZERO_UID], NOW_SECONDS, `within:${index}00`),
        },
  )
})

/** Yields the hex string with each byte replaced by every other value, or by some of them in a short run. */
function* changeEachByte(hex: string): Generator<Hex> {
  const bytes = Buffer.from(hex.slice(2), 'hex')
  for (let index = 0; index < bytes.length; index++) {
    const original = bytes[index]!
    for (let value = index % stride; value < 256; value += stride) {
      if (value === original) continue
      bytes[index] = value
      yield `0x${bytes.toString('hex')}`
    }
    bytes[index] = original
  }
}

function* flipEachBit(hex: string): Generator<Hex> {
  for (let bit = 0; bit < (hex.length - 2) * 4; bit++) {
    const bytes = Buffer.from(hex.slice(2), 'hex')
    bytes[bit >> 3]! ^= 1 << (bit & 7)
    yield `0x${bytes.toString('hex')}`
  }
}

describe('a leaf under a root', () => {
  it('fails its proof when any byte of any field changes to any other value', () => {
    const tree = buildMerkleTree(items, parts.keccak)
    let tried = 0
    const survivors: string[] = []
    for (const index of [0, 5]) {
      const [item, proof] = [items[index]!, tree.proof(index)]
      expect(verifyMerkleProof(item, proof, tree.root, parts.keccak)).toBe(true)
      for (const field of ['schema', 'recipient', 'data'] as const) {
        for (const value of changeEachByte(String(item[field]))) {
          tried++
          if (verifyMerkleProof({ ...item, [field]: value }, proof, tree.root, parts.keccak)) survivors.push(value)
        }
      }
    }
    expect(survivors).toEqual([])
    // Schema and recipient have 52 bytes together, numeric data 384, boolean data 288.
    const allValues = 255 * (2 * 52 + 384 + 288)
    if (stride === 1) expect(tried).toBe(allValues)
    else expect(tried).toBeGreaterThan(scaled(allValues) * 0.9)
  })

  it('fails its proof when any bit of the proof or of the root changes, for every leaf', () => {
    const tree = buildMerkleTree(items, parts.keccak)
    const survivors: string[] = []
    items.forEach((item, index) => {
      const proof = tree.proof(index)
      const isProved = (words: readonly string[], root: string) => verifyMerkleProof(item, words, root, parts.keccak)
      expect(isProved(proof, tree.root)).toBe(true)
      for (const root of flipEachBit(tree.root)) if (isProved(proof, root)) survivors.push(root)
      proof.forEach((word, position) => {
        for (const changed of flipEachBit(word))
          if (isProved(proof.with(position, changed), tree.root)) survivors.push(changed)
      })
    })
    expect(survivors).toEqual([])
  })

  it('changes the root when any of its bits changes', () => {
    const leaves = Array.from({ length: 5 }, (_, index) => parts.keccak.hash(Buffer.from([index])))
    const roots = new Set([createMerkleTree(leaves, parts.keccak).root])
    for (let index = 0; index < leaves.length; index++) {
      for (const changed of flipEachBit(`0x${Buffer.from(leaves[index]!).toString('hex')}`)) {
        roots.add(createMerkleTree(leaves.with(index, Buffer.from(changed.slice(2), 'hex')), parts.keccak).root)
      }
    }
    expect(roots.size).toBe(1 + 5 * 256)
  })
})

describe('the attestation of a root', () => {
  it('is not accepted when any bit of its data, schema, signature or addresses changes', async () => {
    const chain = parts.chains.get(84532)!
    const tree = buildMerkleTree(items, parts.keccak)
    const schema = parts.schemas['merkle-root']
    const data = encodeMerkleRoot({ merkleRoot: tree.root, leafCount: items.length, timestampSeconds: NOW_SECONDS })
    const signed = await parts.signer.sign({
      kind: 'merkle-root',
      chainId: chain.id,
      schema,
      recipient: RECIPIENT,
      data,
    })
    if (!signed.ok) throw new Error(signed.problem.detail)
    const { signature, nonce, deadlineSeconds: deadline } = signed
    const attester: string = parts.signer.address
    const attestation = {
      schema: schema as string,
      attester,
      recipient: RECIPIENT as string,
      data: data as string,
      revocable: true,
      refUID: ZERO_UID as string,
      expirationTime: 0,
    }
    const delegatedAttestation = { signature: signature as string, attester, deadline, nonce }
    const evidence = { item: items[2]!, proof: tree.proof(2), attestation, delegatedAttestation }
    const { keccak, secp256k1 } = parts
    const verifyWith = (changes: Partial<typeof evidence>) =>
      verifyMerkleAttestation(
        { ...evidence, ...changes },
        { chain, attesters: [attester], merkleSchema: schema, keccak, secp256k1 },
      )
    expect(verifyWith({})).toEqual({ ok: true, leafCount: items.length, timestampSeconds: NOW_SECONDS })
    for (const field of ['schema', 'attester', 'recipient', 'refUID', 'data'] as const) {
      for (const value of flipEachBit(attestation[field])) {
        expect(verifyWith({ attestation: { ...attestation, [field]: value } }).ok).toBe(false)
      }
    }
    for (const value of flipEachBit(signature)) {
      expect(verifyWith({ delegatedAttestation: { ...delegatedAttestation, signature: value } }).ok).toBe(false)
    }
    expect(verifyWith({ item: items[3]! })).toMatchObject({ check: 'proof' })
    expect(verifyWith({ attestation: { ...attestation, schema: parts.schemas.verify } })).toMatchObject({
      check: 'schema',
    })
    expect(verifyWith({ attestation: { ...attestation, data: `${data}00` } })).toMatchObject({ check: 'data' })
    expect(verifyWith({ attestation: { ...attestation, attester: ZERO_UID.slice(0, 42) } })).toMatchObject({
      check: 'attester',
    })
    expect(verifyWith({ delegatedAttestation: { ...delegatedAttestation, nonce: 1 } })).toMatchObject({
      check: 'signature',
    })
  })
})

describe('a result signed without a nonce', () => {
  it('recovers to another signer, or to none, when any bit of any signed field or of the chain ID changes', () => {
    const chainId = 84532
    const salt: Hex = `0x${'5a'.repeat(32)}`
    const { schema, data } = items[0]! as { schema: Hex; data: Hex }
    const signed = parts.signer.sign({
      kind: 'result',
      dataKind: 'numeric',
      chainId,
      schema,
      recipient: RECIPIENT,
      data,
      salt,
    })
    if (!signed.ok) throw new Error(signed.problem.detail)
    const parsed = parseSignature(signed.signature)
    if (!parsed.ok) throw new Error(parsed.reason)
    const message: ResultMessage = {
      schema,
      recipient: RECIPIENT,
      data: Buffer.from(data.slice(2), 'hex'),
      deadlineSeconds: NOW_SECONDS + TTL_SECONDS,
      salt,
    }
    const isOurs = (changes: Partial<ResultMessage>, chain = chainId) =>
      recoverAddress(
        createResultDigest(chain, parts.keccak)({ ...message, ...changes }),
        parsed.signature,
        parts.secp256k1,
        parts.keccak,
      ) === parts.signer.address
    expect(isOurs({})).toBe(true)
    const survivors: string[] = []
    for (const field of ['schema', 'recipient', 'salt'] as const) {
      for (const value of flipEachBit(String(message[field])))
        if (isOurs({ [field]: value })) survivors.push(`${field} ${value}`)
    }
    for (const value of flipEachBit(data)) {
      if (isOurs({ data: Buffer.from(value.slice(2), 'hex') })) survivors.push(`data ${value}`)
    }
    for (let bit = 0; bit < 48; bit++) {
      const deadlineSeconds = Number(BigInt(message.deadlineSeconds) ^ (1n << BigInt(bit)))
      if (isOurs({ deadlineSeconds })) survivors.push(`deadline bit ${bit}`)
    }
    for (let bit = 0; bit < 48; bit++) {
      const other = Number(BigInt(chainId) ^ (1n << BigInt(bit)))
      if (isOurs({}, other)) survivors.push(`chain ${other}`)
    }
    expect(survivors).toEqual([])
  })
})
