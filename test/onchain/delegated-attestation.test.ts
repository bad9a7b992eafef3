import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeBoolean, encodeMerkleRoot, encodeNumeric, encodeVerify } from '../../src/attest/data.ts'
import { createNonces } from '../../src/attest/nonces.ts'
import { schemaKinds, schemaUids } from '../../src/attest/schemas.ts'
import { createSigner, type Signer } from '../../src/attest/signer.ts'
import { attestTypeHash, domainSeparator } from '../../src/attest/typed-data.ts'
import { attestationUid } from '../../src/attest/uid.ts'
import { readConfig } from '../../src/config/config.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import { loadSecp256k1 } from '../../src/crypto/secp256k1.ts'
import type { AttestationKind, Hex } from '../../src/wire/values.ts'
import { RECIPIENT, VERIFY_DATA, ZERO_UID } from '../attest-parts.ts'
import { eventually } from '../eventually.ts'
import { type Answer, EAS_VERSIONS, type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const config = readConfig({}, 1)
const uids = schemaUids(config)
const REF: Hex = `0x${'5a'.repeat(32)}`

const DATA: Record<AttestationKind, Hex> = {
  numeric: encodeNumeric(34_355_606n, 'centimeters', [REF, REF], 1_700_000_000, 'distance'),
  boolean: encodeBoolean(true, [REF, REF], 1_700_000_000, 'within:50000'),
  verify: encodeVerify({ ...VERIFY_DATA, proofHash: REF }),
  'merkle-root': encodeMerkleRoot({ merkleRoot: REF, leafCount: 10_000, timestampSeconds: 1_700_000_000 }),
}

describe.skipIf(skipReason()).each(EAS_VERSIONS)('EAS %s', (version) => {
  let local: LocalChain
  let keccak: Keccak
  let signer: Signer

  beforeAll(async () => {
    local = await startLocalChain(version)
    keccak = await createKeccak()
    const secp256k1 = await loadSecp256k1()
    signer = createSigner({
      secp256k1,
      keccak,
      privateKey: Buffer.from('c0ffee'.padStart(64, '0'), 'hex'),
      chains: new Map([[local.chain.id, local.chain]]),
      schemaKinds: schemaKinds(config),
      nonces: createNonces({
        read: async () => ({ ok: true, nonce: Number(await local.nonce(signer.address)) }),
        readable: new Set([local.chain.id]),
        maxAgeMs: 0,
        timeoutMs: 5000,
        now: () => performance.now(),
        after: (ms, call) => void setTimeout(call, ms),
      }),
      ttlSeconds: 3600,
      nowSeconds: () => Math.floor(Date.now() / 1000),
    })
  })
  afterAll(() => local?.stop())

  async function sign(kind: AttestationKind): Promise<Answer & { nonce: number }> {
    const [schema, data] = [uids[kind], DATA[kind]]
    const signed = await signer.sign({ kind, chainId: local.chain.id, schema, recipient: RECIPIENT, data })
    if (!signed.ok) throw new Error(signed.problem.detail)
    return {
      attestation: { schema, recipient: RECIPIENT, data, revocable: true, refUID: ZERO_UID },
      delegatedAttestation: { signature: signed.signature, attester: signer.address, deadline: signed.deadlineSeconds },
      nonce: signed.nonce,
    }
  }

  const bytes = (value: Uint8Array) => `0x${Buffer.from(value).toString('hex')}`

  it('has the type hash and the domain separator we sign with', async () => {
    expect(await local.read('getAttestTypeHash', [])).toBe(bytes(attestTypeHash(local.chain.profile, keccak)))
    expect(await local.read('getDomainSeparator', [])).toBe(bytes(domainSeparator(local.chain, keccak)))
  })

  it.each(['numeric', 'boolean', 'verify', 'merkle-root'] as const)(
    'stores a delegated %s attestation as it was signed',
    async (kind) => {
      const before = await local.nonce(signer.address)
      const answer = await sign(kind)
      expect(BigInt(answer.nonce)).toBe(before)
      const stored = await local.submitAnswer(answer)
      expect({
        ...stored,
        attester: stored.attester.toLowerCase(),
        recipient: stored.recipient.toLowerCase(),
      }).toMatchObject({
        schema: uids[kind],
        attester: signer.address,
        recipient: RECIPIENT,
        data: DATA[kind],
        refUID: ZERO_UID,
        revocable: true,
        expirationTime: 0n,
        revocationTime: 0n,
      })
      expect(await local.nonce(signer.address)).toBe(before + 1n)
      // The same response cannot be used twice.
      expect(await local.rejection(answer)).toBe('InvalidSignature')
      const fields = { ...stored, timeSeconds: stored.time, expirationTimeSeconds: stored.expirationTime }
      expect(attestationUid(fields, keccak)).toBe(stored.uid)
    },
  )

  it('counts up the UIDs of equal attestations in one block', async () => {
    await local.client.setAutomine(false)
    const pending = (count: number) =>
      eventually(async () => expect((await local.client.getTxpoolStatus()).pending).toBe(count))
    // One after the other: in parallel, they would sometimes take the same nonce.
    const first = local.attest(uids.boolean, DATA.boolean)
    await pending(1)
    const sent = Promise.all([first, local.attest(uids.boolean, DATA.boolean)])
    await pending(2)
    await local.client.mine({ blocks: 1 })
    await local.client.setAutomine(true)
    const stored = await Promise.all((await sent).map((uid) => local.getAttestation(uid)))
    const fields = stored.map((one) => ({ ...one, timeSeconds: one.time, expirationTimeSeconds: one.expirationTime }))
    expect(stored[0]!.time).toBe(stored[1]!.time)
    expect([attestationUid(fields[0]!, keccak, 0), attestationUid(fields[0]!, keccak, 1)].sort()).toEqual(
      stored.map(({ uid }) => uid).sort(),
    )
  })

  it('rejects a response with any one byte changed', async () => {
    const answer = await sign('numeric')
    expect(await local.rejection(answer)).toBeUndefined()
    const { attestation, delegatedAttestation } = answer
    const changed: [string, Answer][] = [
      ...mutations(delegatedAttestation.signature).map((signature, index): [string, Answer] => [
        `signature byte ${index}`,
        { attestation, delegatedAttestation: { ...delegatedAttestation, signature } },
      ]),
      ...(['schema', 'recipient', 'data', 'refUID'] as const).flatMap((field) =>
        mutations(attestation[field]).map((value, index): [string, Answer] => [
          `${field} byte ${index}`,
          { delegatedAttestation, attestation: { ...attestation, [field]: value } },
        ]),
      ),
      ['revocable', { delegatedAttestation, attestation: { ...attestation, revocable: false } }],
      ['attester', { attestation, delegatedAttestation: { ...delegatedAttestation, attester: RECIPIENT } }],
    ]
    if (local.chain.profile !== 'legacy') {
      const deadline = delegatedAttestation.deadline
      for (const other of [deadline + 1, deadline - 1, deadline + 256, 0]) {
        changed.push([
          `deadline ${other}`,
          { attestation, delegatedAttestation: { ...delegatedAttestation, deadline: other } },
        ])
      }
    }
    expect(changed.length).toBeGreaterThan(65 + 32 + 20 + 32 + 32 * 12)
    const accepted: string[] = []
    for (const [what, other] of changed) {
      if ((await local.rejection(other)) === undefined) accepted.push(what)
    }
    expect(accepted).toEqual([])
    // The unchanged response stayed valid throughout.
    expect(await local.rejection(answer)).toBeUndefined()
  })

  it('rejects the high-s form of a signature and v 0 or 1', async () => {
    const { attestation, delegatedAttestation } = await sign('boolean')
    const { signature } = delegatedAttestation
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const s = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
    const v = Number.parseInt(signature.slice(130), 16)
    const twin = `${signature.slice(0, 66)}${s}${(55 - v).toString(16)}`
    const small = `${signature.slice(0, 130)}0${v - 27}`
    for (const other of [twin, small]) {
      const changed = { attestation, delegatedAttestation: { ...delegatedAttestation, signature: other } }
      // In 0.26, the library that recovers the signer reverts with its own text.
      expect(await local.rejection(changed)).toBe(version === '0.26' ? 'Error' : 'InvalidSignature')
    }
  })

  it('rejects a response whose nonce is not the current one', async () => {
    const first = await sign('boolean')
    const second = await sign('numeric')
    // Both carry the current nonce, because nothing is reserved; the second to arrive is too late.
    expect(second.nonce).toBe(first.nonce)
    await local.submitAnswer(second)
    expect(await local.rejection(first)).toBe('InvalidSignature')
    const again = await sign('boolean')
    expect(again.nonce).toBe(first.nonce + 1)
    expect(await local.rejection(again)).toBeUndefined()
  })
})

/** Returns copies with one bit flipped, one for each byte. */
function mutations(hex: string): Hex[] {
  return Array.from({ length: (hex.length - 2) / 2 }, (_, index): Hex => {
    const bytes = Buffer.from(hex.slice(2), 'hex')
    bytes[index]! ^= 1 << (index % 8)
    return `0x${bytes.toString('hex')}`
  })
}
