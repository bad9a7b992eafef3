import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Abi, BaseError, ContractFunctionRevertedError, concat, encodeDeployData, keccak256 } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chainTable } from '../../src/attest/chains.ts'
import { encodeMerkleRoot, encodeNumeric } from '../../src/attest/data.ts'
import { createLeafHasher, verifyMerkleAttestation } from '../../src/attest/merkle-proof.ts'
import { createNonces } from '../../src/attest/nonces.ts'
import { schemaKinds, schemaUids } from '../../src/attest/schemas.ts'
import { createSigner, type Signer } from '../../src/attest/signer.ts'
import { buildMerkleTree, type MerkleTree } from '../../src/compute/merkle-tree.ts'
import { attestationMembers } from '../../src/compute/response-text.ts'
import { readConfig } from '../../src/config/config.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak, Secp256k1 } from '../../src/crypto/primitives.ts'
import { loadSecp256k1 } from '../../src/crypto/secp256k1.ts'
import { attestMerkleRoot } from '../../src/service/batch/sign.ts'
import type { SignerClient } from '../../src/threads/signer-client.ts'
import type { SigningPayload } from '../../src/wire/signing-messages.ts'
import type { Hex } from '../../src/wire/values.ts'
import { EAS_VERSIONS, type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const config = readConfig({}, 1)
const uids = schemaUids(config)
const TTL_SECONDS = 3600
const ITEMS = 1000
const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`
const SALT: Hex = `0x${'5a'.repeat(32)}`

const compiled: { abi: Abi; bytecode: Hex } = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../contracts/compiled/GeoVerifier.json'), 'utf8'),
)

/** Flips the lowest bit of the last byte. */
function flip(hex: Hex): Hex {
  const bytes = Buffer.from(hex.slice(2), 'hex')
  bytes[bytes.length - 1]! ^= 1
  return `0x${bytes.toString('hex')}`
}

describe.skipIf(skipReason()).each(EAS_VERSIONS)('GeoVerifier on EAS %s', (version) => {
  let local: LocalChain
  let keccak: Keccak
  let secp256k1: Secp256k1
  let signer: Signer
  let verifier: Hex
  /** A verifier that trusts the submitter, who can attest and revoke at will. */
  let submitters: Hex

  beforeAll(async () => {
    local = await startLocalChain(version)
    keccak = await createKeccak()
    secp256k1 = await loadSecp256k1()
    signer = createSigner({
      secp256k1,
      keccak,
      privateKey: Buffer.from('c0ffee'.padStart(64, '0'), 'hex'),
      chains: chainTable(config),
      schemaKinds: schemaKinds(config),
      nonces: createNonces({
        read: async () => ({ ok: true, nonce: Number(await local.nonce(signer.address)) }),
        readable: new Set([local.chain.id]),
        maxAgeMs: 0,
        timeoutMs: 5000,
        now: () => performance.now(),
        after: (ms, call) => void setTimeout(call, ms),
      }),
      ttlSeconds: TTL_SECONDS,
      nowSeconds: () => Math.floor(Date.now() / 1000),
    })
    verifier = await deploy(signer.address)
    submitters = await deploy(local.submitter)
  })
  afterAll(() => local?.stop())

  async function deploy(attester: Hex): Promise<Hex> {
    const args = [local.chain.easAddress, uids['merkle-root'], attester]
    const data = encodeDeployData({ ...compiled, args })
    const hash = await local.client.sendTransaction({ account: local.submitter, data, chain: null })
    const { status, contractAddress } = await local.client.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error('the deployment reverted')
    return contractAddress!
  }

  /** Returns the name of the error of a call, or undefined when it succeeds. */
  async function refusal(address: Hex, functionName: string, args: readonly unknown[], account: Hex = local.submitter) {
    try {
      await local.client.simulateContract({ address, abi: compiled.abi, functionName, args, account })
      return undefined
    } catch (error) {
      const reverted =
        error instanceof BaseError ? error.walk((cause) => cause instanceof ContractFunctionRevertedError) : undefined
      // A lost connection is not a revert.
      if (!(reverted instanceof ContractFunctionRevertedError)) throw error
      return reverted.data?.errorName ?? 'reverted'
    }
  }

  describe('results under an attested root', () => {
    const timestampSeconds = 1_700_000_000
    const items = Array.from({ length: ITEMS }, (_, index) => ({
      schema: uids.numeric,
      recipient: index % 2 === 0 ? ZERO_ADDRESS : (`0x${'11'.repeat(20)}` as Hex),
      data: encodeNumeric(BigInt(index), 'centimeters', [SALT, SALT], timestampSeconds, 'distance'),
    }))
    let tree: MerkleTree
    let uid: Hex
    let answer: ReturnType<typeof JSON.parse>

    beforeAll(async () => {
      tree = buildMerkleTree(items, keccak)
      const sign = async (payload: SigningPayload) => signer.sign(payload)
      const client = { address: signer.address, sign: sign as SignerClient['sign'] }
      const attested = await attestMerkleRoot(
        { chainId: local.chain.id, recipient: ZERO_ADDRESS, timestampSeconds, tree },
        { signer: client, chains: { defaultSchema: (kind) => uids[kind] } },
      )
      answer = JSON.parse(`{${attestationMembers(attested)}}`)
      const stored = await local.submitAnswer(answer)
      uid = stored.uid
      expect(stored.data).toBe(encodeMerkleRoot({ merkleRoot: tree.root, leafCount: ITEMS, timestampSeconds }))
    })
    const check = (item: unknown, proof: readonly string[], root = uid, address = verifier) =>
      refusal(address, 'verifyItem', [root, item, proof])

    it('are proved one by one, on chain and in code', async () => {
      const { delegatedAttestation } = answer
      const attestation = { ...answer.attestation, expirationTime: 0 }
      for (const index of [0, 1, 499, 998, ITEMS - 1]) {
        const [item, proof] = [items[index]!, tree.proof(index)]
        const args = [uid, item, proof]
        const timestamp = await local.client.readContract({
          address: verifier,
          abi: compiled.abi,
          functionName: 'verifyItem',
          args,
        })
        expect(timestamp).toBe(BigInt(timestampSeconds))
        expect(
          verifyMerkleAttestation(
            { attestation, delegatedAttestation, item, proof },
            {
              chain: local.chain,
              attesters: [signer.address],
              merkleSchema: uids['merkle-root'],
              keccak,
              secp256k1,
            },
          ),
        ).toEqual({ ok: true, leafCount: ITEMS, timestampSeconds })
      }
    })

    it('are rejected with any field, or any word of the proof, changed', async () => {
      const [item, proof] = [items[7]!, tree.proof(7)]
      expect(await check(item, proof)).toBeUndefined()
      const wrong: [unknown, readonly Hex[]][] = [
        [{ ...item, schema: uids.boolean }, proof],
        [{ ...item, recipient: ZERO_ADDRESS }, proof],
        [{ ...item, data: items[8]!.data }, proof],
        [{ ...item, data: `${item.data}00` }, proof],
        [item, tree.proof(8)],
        [item, proof.slice(1)],
        [item, proof.slice(0, -1)],
        [item, [...proof, proof[0]!]],
        [item, [...proof].reverse()],
        [item, []],
        ...proof.map((_, at): [unknown, Hex[]] => [
          item,
          proof.map((word, other) => (other === at ? flip(word) : word)),
        ]),
      ]
      for (const [other, words] of wrong) expect(await check(other, words)).toBe('ItemNotUnderRoot')
    })

    it('cannot be an inner node', async () => {
      const [item, proof] = [items[7]!, tree.proof(7)]
      const leaf: Hex = `0x${Buffer.from(createLeafHasher(keccak)(item)).toString('hex')}`
      const preimage = concat([leaf, proof[0]!].sort() as Hex[])
      for (const data of [preimage, keccak256(preimage), leaf]) {
        for (const words of [proof, proof.slice(1)]) {
          expect(await check({ ...item, data }, words)).toBe('ItemNotUnderRoot')
        }
      }
      // The three words that a leaf hashes, set so that they begin with the preimage of the node above it.
      const forgedItem = { schema: preimage.slice(0, 66), recipient: `0x${preimage.slice(-40)}`, data: '0x' }
      expect(await check(forgedItem, proof.slice(1))).toBe('ItemNotUnderRoot')
    })

    it('need the schema of roots, the right attester and an unrevoked attestation', async () => {
      const [item, proof] = [items[7]!, tree.proof(7)]
      const root = encodeMerkleRoot({ merkleRoot: tree.root, leafCount: ITEMS, timestampSeconds })
      const submitterRoot = await local.attest(uids['merkle-root'], root)
      expect(await check(item, proof, submitterRoot)).toBe('RootHasOtherAttester')
      expect(await check(item, proof, submitterRoot, submitters)).toBeUndefined()
      expect(await check(item, proof, uid, submitters)).toBe('RootHasOtherAttester')
      const otherSchema = await local.attest(uids.numeric, root)
      expect(await check(item, proof, otherSchema, submitters)).toBe('RootHasOtherSchema')
      expect(await check(item, proof, flip(uid))).toBe('RootNotFound')
      expect(await check(item, proof, `0x${'0'.repeat(64)}`)).toBe('RootNotFound')
      const { timestamp: now } = await local.client.getBlock()
      const shortLived = await local.attest(uids['merkle-root'], root, now + 1000n)
      expect(await check(item, proof, shortLived, submitters)).toBeUndefined()
      await local.client.setNextBlockTimestamp({ timestamp: now + 1000n })
      await local.client.mine({ blocks: 1 })
      expect(await check(item, proof, shortLived, submitters)).toBe('RootNoLongerStands')
      expect(await check(item, proof, submitterRoot, submitters)).toBeUndefined()
      await local.revoke(uids['merkle-root'], submitterRoot)
      expect(await check(item, proof, submitterRoot, submitters)).toBe('RootNoLongerStands')
    })
  })

  describe('results signed without a nonce', () => {
    const data = encodeNumeric(423_877n, 'centimeters', [SALT, SALT], 1_700_000_000, 'distance')
    const others = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

    function sign(changes: { chainId?: number; recipient?: Hex; salt?: Hex } = {}) {
      const fields = {
        schema: uids.numeric,
        recipient: local.submitter.toLowerCase() as Hex,
        data,
        salt: SALT,
        ...changes,
      }
      const signed = signer.sign({ kind: 'result', dataKind: 'numeric', chainId: local.chain.id, ...fields })
      if (!signed.ok) throw new Error(signed.problem.detail)
      const { schema, recipient, salt } = fields
      return { schema, recipient, data, deadline: BigInt(signed.deadlineSeconds), salt, signature: signed.signature }
    }
    const use = (result: object, account?: Hex) => refusal(verifier, 'useResult', [result], account)

    async function useUp(result: object) {
      const hash = await local.client.writeContract({
        address: verifier,
        abi: compiled.abi,
        functionName: 'useResult',
        args: [result],
        account: local.submitter,
        chain: null,
      })
      expect((await local.client.waitForTransactionReceipt({ hash })).status).toBe('success')
    }

    it('can each be used once, in any order, independent of the nonce in EAS', async () => {
      const results = [1, 2, 3].map((last) => sign({ salt: `0x${'00'.repeat(31)}0${last}` as Hex }))
      for (const result of results.reverse()) await useUp(result)
      for (const result of results) expect(await use(result)).toBe('ResultAlreadyUsed')
      expect(await refusal(verifier, 'verifyResult', [results[0]])).toBe('ResultAlreadyUsed')
      // Another contract has its own list.
      expect(await refusal(await deploy(signer.address), 'useResult', [results[0]])).toBeUndefined()
    })

    it('are rejected with any field changed, for another chain, and from another signer', async () => {
      const result = sign()
      expect(await use(result)).toBeUndefined()
      const changed = [
        { ...result, schema: uids.boolean },
        { ...result, recipient: ZERO_ADDRESS },
        { ...result, data: `${data}00` },
        { ...result, data: flip(data) },
        { ...result, deadline: result.deadline + 1n },
        { ...result, salt: flip(SALT) },
        { ...sign({ chainId: 31337 }) },
        { ...result, signature: sign({ salt: flip(SALT) }).signature },
      ]
      for (const other of changed) expect(await use(other)).toBe('ResultHasOtherSigner')
      expect(await refusal(submitters, 'useResult', [result])).toBe('ResultHasOtherSigner')
    })

    it('can only be used by their recipient when they name one', async () => {
      const result = sign()
      expect(await use(result, others)).toBe('ResultIsForSomebodyElse')
      expect(await use(sign({ recipient: others.toLowerCase() as Hex }))).toBe('ResultIsForSomebodyElse')
      expect(await use(sign({ recipient: ZERO_ADDRESS }), others)).toBeUndefined()
    })

    it('have only one valid form of their signature', async () => {
      const result = sign()
      const { signature } = result
      const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
      const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
      const twin = `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`
      const spellings = [twin, `${signature.slice(0, -2)}00`, `${signature}00`, signature.slice(0, -2), '0x']
      for (const spelling of spellings) expect(await use({ ...result, signature: spelling })).toBe('SignatureMalformed')
      // r = 0 recovers the zero address, which must not count as the attester.
      const unrecoverable = `0x${'00'.repeat(32)}${signature.slice(66)}`
      expect(await use({ ...result, signature: unrecoverable })).toBe('ResultHasOtherSigner')
    })

    it('cannot be checked against the zero address', async () => {
      await expect(deploy(ZERO_ADDRESS)).rejects.toThrow('reverted')
    })

    it('are rejected after their deadline', async () => {
      const result = sign()
      await local.client.setNextBlockTimestamp({ timestamp: result.deadline })
      await local.client.mine({ blocks: 1 })
      expect(await use(result)).toBeUndefined()
      await local.client.setNextBlockTimestamp({ timestamp: result.deadline + 1n })
      await local.client.mine({ blocks: 1 })
      expect(await use(result)).toBe('ResultExpired')
    })
  })
})
