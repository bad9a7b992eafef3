import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeMerkleRoot } from '../../src/attest/data.ts'
import type { AttestationPayload } from '../../src/wire/signing-messages.ts'
import { EAS_VERSIONS, type LocalChain, skipReason, startLocalChain } from './anvil.ts'
import { createRelayFixture, openRelayStore, type RelayFixture } from './relay-parts.ts'

const range = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)

describe.skipIf(skipReason() !== undefined).each(EAS_VERSIONS)('the relay on EAS %s', (version) => {
  let local: LocalChain
  let files: Awaited<ReturnType<typeof openRelayStore>>
  let fixture: RelayFixture
  beforeAll(async () => {
    local = await startLocalChain(version)
    files = await openRelayStore()
    fixture = await createRelayFixture(local, files.store)
  })
  afterAll(async () => {
    await files.close()
    await local.stop()
  })

  it('attests from its own account, in batches of 40, with the UIDs that the contract gave', async () => {
    const indexes = range(85)
    await fixture.submit(indexes)
    const before = await local.nonce(fixture.sender)
    const relay = fixture.createRelay()
    const submissions = await fixture.settle(relay, indexes)
    expect(new Set(submissions.map(({ status }) => status))).toEqual(new Set(['mined']))
    expect(new Set(submissions.map(({ transactionHash }) => transactionHash)).size).toBe(3)
    expect(new Set(submissions.map(({ uid }) => uid)).size).toBe(85)
    for (const [index, { uid, timeSeconds, blockNumber, transactionHash }] of submissions.entries()) {
      const payload = fixture.createPayload(index)
      const stored = await local.getAttestation(uid!)
      expect({ ...stored, attester: stored.attester.toLowerCase(), recipient: stored.recipient.toLowerCase() }).toEqual(
        {
          uid,
          schema: payload.schema,
          recipient: payload.recipient,
          data: payload.data,
          attester: fixture.sender,
          time: BigInt(timeSeconds!),
          expirationTime: 0n,
          revocationTime: 0n,
          revocable: true,
          refUID: `0x${'0'.repeat(64)}`,
        },
      )
      const receipt = await local.client.getTransactionReceipt({ hash: transactionHash! })
      expect(Number(receipt.blockNumber)).toBe(blockNumber)
    }
    // Signatures that clients hold stay valid, because the relay does not use the attester's nonce in EAS.
    expect(await local.nonce(fixture.sender)).toBe(before)
    await local.client.mine({ blocks: 6 })
    await relay.tick()
    expect(new Set((await fixture.read(indexes)).map(({ status }) => status))).toEqual(new Set(['finalized']))
    expect(await fixture.attestations()).toHaveLength(85)
  })

  it('attests several kinds of data in one transaction, in order', async () => {
    const isRoot = (index: number) => index % 3 === 0
    const root = (index: number): AttestationPayload => ({
      ...fixture.createPayload(index),
      kind: 'merkle-root',
      schema: fixture.schemas['merkle-root'],
      recipient: `0x${String(index).padStart(40, '0')}`,
      data: encodeMerkleRoot({ merkleRoot: `0x${'7'.repeat(64)}`, leafCount: 7, timestampSeconds: 1 }),
    })
    for (const index of range(6, 200)) {
      await fixture.submit([index], { payload: isRoot(index) ? root(index) : fixture.createPayload(index) })
    }
    const submissions = await fixture.settle(fixture.createRelay(), range(6, 200))
    expect(new Set(submissions.map(({ transactionHash }) => transactionHash)).size).toBe(1)
    for (const [index, { uid }] of submissions.entries()) {
      const { schema, recipient } = await local.getAttestation(uid!)
      expect(schema).toBe(isRoot(200 + index) ? fixture.schemas['merkle-root'] : fixture.schemas.verify)
      if (isRoot(200 + index)) expect(recipient).toBe(root(200 + index).recipient)
    }
  })

  it('drops an attestation that the contract rejects, and sends the others', async () => {
    // An unregistered schema: InvalidSchema.
    const schema = `0x${'12'.repeat(32)}` as const
    await fixture.submit([300, 302])
    await fixture.submit([301], { payload: { ...fixture.createPayload(301), schema } })
    await fixture.submit([303])
    const submissions = await fixture.settle(fixture.createRelay(), [300, 301, 302, 303])
    expect(submissions.map(({ status }) => status)).toEqual(['mined', 'failed', 'mined', 'mined'])
    expect(submissions[1]!.error).toContain('the contract rejects it')
    expect(new Set([0, 2, 3].map((index) => submissions[index]!.transactionHash)).size).toBe(1)
  })
})
