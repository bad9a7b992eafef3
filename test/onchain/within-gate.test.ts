import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/wire/values.ts'
import { EAS_VERSIONS, type LocalChain, skipReason, startLocalChain } from './anvil.ts'
import { type Contract, compile, contractSources, type Sources, without } from './solidity.ts'
import { createFixture, type Fixture, MAX_AGE_SECONDS, MAX_LOCATION_AGE_SECONDS, uids } from './within-fixture.ts'
import { ENTRY_GUARDS, GATE_GUARDS, type Guard, SHARED_GUARDS } from './within-guards.ts'

const CONTRACTS = ['WithinGate', 'WithinEntry'] as const
const GUARDS_OF_GATE = [...SHARED_GUARDS, ...GATE_GUARDS]
// The caller of an entry is its recipient, and no call comes from the zero address.
const GUARDS_OF_ENTRY = [...SHARED_GUARDS.filter(({ error }) => error !== 'RecipientMissing'), ...ENTRY_GUARDS]
const sources = contractSources()

describe.skipIf(skipReason()).each(EAS_VERSIONS)('gates on EAS %s', (version) => {
  let local: LocalChain
  let fixture: Fixture
  let gate: Awaited<ReturnType<Fixture['deployGate']>>
  let entry: Awaited<ReturnType<Fixture['deployEntry']>>

  beforeAll(async () => {
    local = await startLocalChain(version)
    fixture = await createFixture(local)
    const [contracts] = compile([sources], CONTRACTS)
    gate = await fixture.deployGate(contracts!['WithinGate']!)
    entry = await fixture.deployEntry(contracts!['WithinEntry']!)
  })
  afterAll(() => local?.stop())

  const isAdmitted = (person: Hex) => fixture.read<boolean>(gate, 'isAdmitted', [person])
  async function admit(changes: Parameters<Fixture['attempt']>[0] = {}) {
    const { data, recipient, from } = await fixture.attempt(changes)
    return local.attest(gate.schema, data, 0n, { from, recipient })
  }

  it('let in a person who meets the terms', async () => {
    expect(await fixture.tryGate(gate, await fixture.attempt())).toBeUndefined()
    expect(await fixture.tryEntry(entry, await fixture.attempt())).toBeUndefined()
    expect(await isAdmitted(fixture.person)).toBe(false)
    await admit()
    expect(await isAdmitted(fixture.person)).toBe(true)
    expect(await isAdmitted(fixture.stranger)).toBe(false)
  })

  it.each(GUARDS_OF_GATE)('reject at a gate: $name ($text)', async ({ attempt, error }) => {
    expect(await fixture.tryGate(gate, await attempt(fixture))).toBe(error)
  })

  it.each(GUARDS_OF_ENTRY)('reject at an entry: $name ($text)', async ({ attempt, error }) => {
    expect(await fixture.tryEntry(entry, await attempt(fixture))).toBe(error)
  })

  it('accept a result from one minute ahead up to its greatest age, to the second', async () => {
    const ref = await fixture.location()
    const now = await fixture.now()
    const at = async (timestamp: bigint) => fixture.tryGate(gate, await fixture.attempt({ ref, timestamp }))
    expect(await at(now + 60n)).toBeUndefined()
    expect(await at(now + 61n)).toBe('TimestampAhead')
    expect(await at(now - MAX_AGE_SECONDS)).toBeUndefined()
    expect(await at(now - MAX_AGE_SECONDS - 1n)).toBe('TimestampTooOld')
  })

  it('apply the same terms to several results', async () => {
    const [good, other] = [await fixture.attempt(), await fixture.attempt({ timestamp: (await fixture.now()) - 1n })]
    const falseResult = await fixture.attempt({ result: false })
    const request = ({ recipient, data }: typeof good) => ({
      recipient,
      expirationTime: 0n,
      revocable: true,
      refUID: `0x${'0'.repeat(64)}`,
      data,
      value: 0n,
    })
    const abi = [...local.easAbi, ...gate.abi.filter(({ type }) => type === 'error')]
    const multi = (...data: (typeof good)[]) =>
      fixture.revert(good.from, local.chain.easAddress, abi, 'multiAttest', [
        [{ schema: gate.schema, data: data.map(request) }],
      ])
    expect(await multi(good, other)).toBeUndefined()
    expect(await multi(good, falseResult)).toBe('ResultIsFalse')
    expect(await multi(good, good)).toBe('ResultAlreadyUsed')
    for (const name of ['multiAttest', 'multiRevoke', 'revoke']) {
      const result = { uid: gate.schema, schema: gate.schema, time: 0n, expirationTime: 0n, revocationTime: 0n }
      const rest = { refUID: gate.schema, recipient: good.recipient, attester: good.from, revocable: true, data: '0x' }
      const args = name === 'revoke' ? [{ ...result, ...rest }] : [[{ ...result, ...rest }], [0n]]
      expect(await fixture.revert(good.from, gate.address, gate.abi, name, args)).toBe('CallerIsNotEas')
    }
  })

  // Regression: a submission ran out of gas when its block came a second after the one it was estimated in.
  it('use gas that does not depend on the second of the block', async () => {
    const timestamp = (await fixture.now()) + 1000n
    const ref = await fixture.location({ eventTimestamp: timestamp })
    const { data, recipient, from } = await fixture.attempt({ ref, timestamp })
    const costs: bigint[] = []
    for (const later of [0n, 1n, 100n]) {
      const id = await local.client.snapshot()
      await local.client.setNextBlockTimestamp({ timestamp: timestamp + later })
      await local.attest(gate.schema, data, 0n, { from, recipient })
      const { transactions } = await local.client.getBlock()
      costs.push((await local.client.getTransactionReceipt({ hash: transactions[0]! })).gasUsed)
      await local.client.revert({ id })
    }
    expect(costs).toEqual(Array(3).fill(costs[0]))
  })

  it('accept no value', async () => {
    expect(await fixture.read(gate, 'isPayable')).toBe(false)
  })

  it('end access when its result is revoked, but not for an older result', async () => {
    const first = await admit({ timestamp: (await fixture.now()) - 1n })
    const second = await admit()
    await local.revoke(gate.schema, first, fixture.attester)
    expect(await isAdmitted(fixture.person)).toBe(true)
    await local.revoke(gate.schema, second, fixture.attester)
    expect(await isAdmitted(fixture.person)).toBe(false)
  })

  // Regression: anyone could submit a result about an older location attestation of a person, and end the admission sooner.
  it('do not end access sooner for a result that ends sooner, unless the first one was revoked', async () => {
    const now = await fixture.now()
    const olderRef = await fixture.location({ eventTimestamp: now - MAX_LOCATION_AGE_SECONDS + 100n })
    const ref = await fixture.location()
    const first = await admit({ ref })
    const admission = () => fixture.read<readonly [Hex, Hex, bigint]>(gate, 'admissions', [fixture.person])
    const before = await admission()
    expect(before[0]).toBe(first)
    await admit({ ref: olderRef })
    expect(await admission()).toEqual(before)
    await local.revoke(uids.location, ref, fixture.locator)
    expect(await isAdmitted(fixture.person)).toBe(false)
    const last = await admit({ ref: olderRef, timestamp: now - 1n })
    expect((await admission()).slice(0, 2)).toEqual([last, olderRef])
    expect(await isAdmitted(fixture.person)).toBe(true)
  })

  it('end access when the location attestation is revoked', async () => {
    const ref = await fixture.location()
    await admit({ ref })
    expect(await isAdmitted(fixture.person)).toBe(true)
    await local.revoke(uids.location, ref, fixture.locator)
    expect(await isAdmitted(fixture.person)).toBe(false)
  })

  it('end access when the result is too old', async () => {
    const timestamp = await fixture.now()
    await admit({ timestamp })
    await fixture.pass(timestamp + MAX_AGE_SECONDS)
    expect(await isAdmitted(fixture.person)).toBe(true)
    await fixture.pass(timestamp + MAX_AGE_SECONDS + 1n)
    expect(await isAdmitted(fixture.person)).toBe(false)
  })

  it('end access when the location is too old', async () => {
    const eventTimestamp = (await fixture.now()) - MAX_LOCATION_AGE_SECONDS + 100n
    await admit({ ref: await fixture.location({ eventTimestamp }) })
    await fixture.pass(eventTimestamp + MAX_LOCATION_AGE_SECONDS)
    expect(await isAdmitted(fixture.person)).toBe(true)
    await fixture.pass(eventTimestamp + MAX_LOCATION_AGE_SECONDS + 1n)
    expect(await isAdmitted(fixture.person)).toBe(false)
  })
})

describe.skipIf(skipReason())('each guard', () => {
  let local: LocalChain
  let fixture: Fixture
  /** The contracts with one text removed, by file and text. */
  let changed: ReadonlyMap<string, Record<string, Contract>>
  const guardKey = ({ file, text }: Guard) => `${file} ${text}`

  beforeAll(async () => {
    local = await startLocalChain('1.3.0')
    fixture = await createFixture(local)
    const versions = new Map<string, Sources>()
    for (const guard of [...GUARDS_OF_GATE, ...ENTRY_GUARDS]) {
      versions.set(guardKey(guard), without(sources, guard.file, guard.text))
    }
    const compiled = compile([...versions.values()], CONTRACTS)
    changed = new Map([...versions.keys()].map((key, index) => [key, compiled[index]!]))
  })
  afterAll(() => local?.stop())

  it('is in the list; no revert of these contracts is missing', () => {
    const texts = [...GUARDS_OF_GATE, ...ENTRY_GUARDS].map(({ text }) => text).join('\n')
    for (const file of ['GeoAttestation.sol', 'GeoWithin.sol', 'WithinGate.sol', 'WithinEntry.sol']) {
      const guards = sources[file]!.match(/if \(.*revert .*|GeoAttestation\.requireOf\(.*|GeoResult\.require.*/g)!
      for (const guard of guards) expect(texts, file).toContain(guard)
    }
  })

  it.each(GUARDS_OF_GATE)('stops an attempt at a gate: $name ($text)', async (guard) => {
    const gate = await fixture.deployGate(changed.get(guardKey(guard))!['WithinGate']!)
    expect(await fixture.tryGate(gate, await guard.attempt(fixture))).toBe(guard.nextError)
  })

  it.each(GUARDS_OF_ENTRY)('stops an attempt at an entry: $name ($text)', async (guard) => {
    const entry = await fixture.deployEntry(changed.get(guardKey(guard))!['WithinEntry']!)
    expect(await fixture.tryEntry(entry, await guard.attempt(fixture))).toBe(guard.nextError)
  })
})
