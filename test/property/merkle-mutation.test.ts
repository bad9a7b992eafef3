import { beforeAll, describe, expect, it } from 'vitest'
import { encodeBoolean, encodeMerkleRoot, encodeNumeric } from '../../src/attest/encode.ts'
import { buildMerkleTree, createMerkleTree } from '../../src/attest/merkle.ts'
import { type MerkleItem, verifyMerkleAttestation, verifyMerkleProof } from '../../src/attest/merkle-proof.ts'
import { createResultDigest, type ResultMessage } from '../../src/attest/typed-data.ts'
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

/** Every other value of every byte, in a small run some of them. */
function* bytesOf(hex: string): Generator<Hex> {
  const bytes = Buffer.from(hex.slice(2), 'hex')
  for (let at = 0; at < bytes.length; at++) {
    const original = bytes[at]!
    for (let value = at % stride; value < 256; value += stride) {
      if (value === original) continue
      bytes[at] = value
      yield `0x${bytes.toString('hex')}`
    }
    bytes[at] = original
  }
}

function* bitsOf(hex: string): Generator<Hex> {
  for (let bit = 0; bit < (hex.length - 2) * 4; bit++) {
    const bytes = Buffer.from(hex.slice(2), 'hex')
    bytes[bit >> 3]! ^= 1 << (bit & 7)
    yield `0x${bytes.toString('hex')}`
  }
}

describe('a leaf under a root', () => {
  it('is not proved with any byte of any of its fields changed to any other', () => {
    const tree = buildMerkleTree(items, parts.keccak)
    let tried = 0
    const survivors: string[] = []
    for (const index of [0, 5]) {
      const [item, proof] = [items[index]!, tree.proof(index)]
      expect(verifyMerkleProof(item, proof, tree.root, parts.keccak)).toBe(true)
      for (const field of ['schema', 'recipient', 'data'] as const) {
        for (const value of bytesOf(String(item[field]))) {
          tried++
          if (verifyMerkleProof({ ...item, [field]: value }, proof, tree.root, parts.keccak)) survivors.push(value)
        }
      }
    }
    expect(survivors).toEqual([])
    // Schema and recipient have 52 bytes, numeric data 384, boolean data 288.
    const all = 255 * (2 * 52 + 384 + 288)
    if (stride === 1) expect(tried).toBe(all)
    else expect(tried).toBeGreaterThan(scaled(all) * 0.9)
  })

  it('is not proved with any bit of its proof or of the root changed, whichever leaf it is', () => {
    const tree = buildMerkleTree(items, parts.keccak)
    const survivors: string[] = []
    items.forEach((item, index) => {
      const proof = tree.proof(index)
      const isProved = (words: readonly string[], root: string) => verifyMerkleProof(item, words, root, parts.keccak)
      expect(isProved(proof, tree.root)).toBe(true)
      for (const root of bitsOf(tree.root)) if (isProved(proof, root)) survivors.push(root)
      proof.forEach((word, at) => {
        for (const changed of bitsOf(word)) if (isProved(proof.with(at, changed), tree.root)) survivors.push(changed)
      })
    })
    expect(survivors).toEqual([])
  })

  it('changes the root with any bit of any leaf', () => {
    const leaves = Array.from({ length: 5 }, (_, index) => parts.keccak.hash(Buffer.from([index])))
    const roots = new Set([createMerkleTree(leaves, parts.keccak).root])
    for (let index = 0; index < leaves.length; index++) {
      for (const changed of bitsOf(`0x${Buffer.from(leaves[index]!).toString('hex')}`)) {
        roots.add(createMerkleTree(leaves.with(index, Buffer.from(changed.slice(2), 'hex')), parts.keccak).root)
      }
    }
    expect(roots.size).toBe(1 + 5 * 256)
  })
})

describe('the attestation of a root', () => {
  it('vouches for nothing with any byte of its data, schema, signature or attester changed', async () => {
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
    const verdict = (changes: Partial<typeof evidence>) =>
      verifyMerkleAttestation(
        { ...evidence, ...changes },
        { chain, attesters: [attester], merkleSchema: schema, keccak, secp256k1 },
      )
    expect(verdict({})).toEqual({ ok: true, leafCount: items.length, timestampSeconds: NOW_SECONDS })
    for (const field of ['schema', 'attester', 'recipient', 'refUID', 'data'] as const) {
      for (const value of bitsOf(attestation[field])) {
        expect(verdict({ attestation: { ...attestation, [field]: value } }).ok).toBe(false)
      }
    }
    for (const value of bitsOf(signature)) {
      expect(verdict({ delegatedAttestation: { ...delegatedAttestation, signature: value } }).ok).toBe(false)
    }
    expect(verdict({ item: items[3]! })).toMatchObject({ check: 'proof' })
    expect(verdict({ attestation: { ...attestation, schema: parts.schemas.verify } })).toMatchObject({
      check: 'schema',
    })
    expect(verdict({ attestation: { ...attestation, data: `${data}00` } })).toMatchObject({ check: 'data' })
    expect(verdict({ attestation: { ...attestation, attester: ZERO_UID.slice(0, 42) } })).toMatchObject({
      check: 'attester',
    })
    expect(verdict({ delegatedAttestation: { ...delegatedAttestation, nonce: 1 } })).toMatchObject({
      check: 'signature',
    })
  })
})

describe('a result signed without a nonce', () => {
  it('belongs to another signer, or nobody, with any bit of any signed field changed, or on another chain', () => {
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
      for (const value of bitsOf(String(message[field])))
        if (isOurs({ [field]: value })) survivors.push(`${field} ${value}`)
    }
    for (const value of bitsOf(data)) {
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
