import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/wire/values.ts'
import { EAS_VERSIONS, type LocalChain, skipReason, startLocalChain } from './anvil.ts'
import { type Contract, compile, contractSources, type Sources, without } from './solidity.ts'
import { ENTRY_GUARDS, GATE_GUARDS, type Guard, SHARED_GUARDS } from './within-guards.ts'
import { createWorld, MAX_AGE_SECONDS, MAX_LOCATION_AGE_SECONDS, uids, type World } from './within-world.ts'

const CONTRACTS = ['WithinGate', 'WithinEntry'] as const
const OF_GATE = [...SHARED_GUARDS, ...GATE_GUARDS]
// The caller of an entry is its recipient, and no call comes from the zero address.
const OF_ENTRY = [...SHARED_GUARDS.filter(({ error }) => error !== 'RecipientMissing'), ...ENTRY_GUARDS]
const sources = contractSources()

describe.skipIf(skipReason()).each(EAS_VERSIONS)('gates on EAS %s', (version) => {
  let local: LocalChain
  let world: World
  let gate: Awaited<ReturnType<World['deployGate']>>
  let entry: Awaited<ReturnType<World['deployEntry']>>

  beforeAll(async () => {
    local = await startLocalChain(version)
    world = await createWorld(local)
    const [contracts] = compile([sources], CONTRACTS)
    gate = await world.deployGate(contracts!['WithinGate']!)
    entry = await world.deployEntry(contracts!['WithinEntry']!)
  })
  afterAll(() => local?.stop())

  const isAdmitted = (person: Hex) => world.read<boolean>(gate, 'isAdmitted', [person])
  async function admit(changes: Parameters<World['attempt']>[0] = {}) {
    const { data, recipient, from } = await world.attempt(changes)
    return local.attest(gate.schema, data, 0n, { from, recipient })
  }

  it('let in a person who meets the terms', async () => {
    expect(await world.tryGate(gate, await world.attempt())).toBeUndefined()
    expect(await world.tryEntry(entry, await world.attempt())).toBeUndefined()
    expect(await isAdmitted(world.person)).toBe(false)
    await admit()
    expect(await isAdmitted(world.person)).toBe(true)
    expect(await isAdmitted(world.stranger)).toBe(false)
  })

  it.each(OF_GATE)('reject at a gate: $name ($text)', async ({ attempt, error }) => {
    expect(await world.tryGate(gate, await attempt(world))).toBe(error)
  })

  it.each(OF_ENTRY)('reject at an entry: $name ($text)', async ({ attempt, error }) => {
    expect(await world.tryEntry(entry, await attempt(world))).toBe(error)
  })

  it('accept a result from one minute ahead up to its greatest age, to the second', async () => {
    const ref = await world.location()
    const now = await world.now()
    const at = async (timestamp: bigint) => world.tryGate(gate, await world.attempt({ ref, timestamp }))
    expect(await at(now + 60n)).toBeUndefined()
    expect(await at(now + 61n)).toBe('TimestampAhead')
    expect(await at(now - MAX_AGE_SECONDS)).toBeUndefined()
    expect(await at(now - MAX_AGE_SECONDS - 1n)).toBe('TimestampTooOld')
  })

  it('apply the same terms to several results', async () => {
    const [good, other] = [await world.attempt(), await world.attempt({ timestamp: (await world.now()) - 1n })]
    const bad = await world.attempt({ result: false })
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
      world.revert(good.from, local.chain.easAddress, abi, 'multiAttest', [
        [{ schema: gate.schema, data: data.map(request) }],
      ])
    expect(await multi(good, other)).toBeUndefined()
    expect(await multi(good, bad)).toBe('ResultIsFalse')
    expect(await multi(good, good)).toBe('ResultAlreadyUsed')
    for (const name of ['multiAttest', 'multiRevoke', 'revoke']) {
      const result = { uid: gate.schema, schema: gate.schema, time: 0n, expirationTime: 0n, revocationTime: 0n }
      const rest = { refUID: gate.schema, recipient: good.recipient, attester: good.from, revocable: true, data: '0x' }
      const args = name === 'revoke' ? [{ ...result, ...rest }] : [[{ ...result, ...rest }], [0n]]
      expect(await world.revert(good.from, gate.address, gate.abi, name, args)).toBe('CallerIsNotEas')
    }
  })

  // Regression: a submission ran out of gas when its block came a second after the one it was estimated in.
  it('use gas that does not depend on the second of the block', async () => {
    const timestamp = (await world.now()) + 1000n
    const ref = await world.location({ eventTimestamp: timestamp })
    const { data, recipient, from } = await world.attempt({ ref, timestamp })
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
    expect(await world.read(gate, 'isPayable')).toBe(false)
  })

  it('end access when its result is revoked, but not for an older result', async () => {
    const first = await admit()
    const second = await admit({ timestamp: (await world.now()) - 1n })
    await local.revoke(gate.schema, first, world.attester)
    expect(await isAdmitted(world.person)).toBe(true)
    await local.revoke(gate.schema, second, world.attester)
    expect(await isAdmitted(world.person)).toBe(false)
  })

  it('end access when the location attestation is revoked', async () => {
    const ref = await world.location()
    await admit({ ref })
    expect(await isAdmitted(world.person)).toBe(true)
    await local.revoke(uids.location, ref, world.locator)
    expect(await isAdmitted(world.person)).toBe(false)
  })

  it('end access when the result is too old', async () => {
    const timestamp = await world.now()
    await admit({ timestamp })
    await world.pass(timestamp + MAX_AGE_SECONDS)
    expect(await isAdmitted(world.person)).toBe(true)
    await world.pass(timestamp + MAX_AGE_SECONDS + 1n)
    expect(await isAdmitted(world.person)).toBe(false)
  })

  it('end access when the location is too old', async () => {
    const eventTimestamp = (await world.now()) - MAX_LOCATION_AGE_SECONDS + 100n
    await admit({ ref: await world.location({ eventTimestamp }) })
    await world.pass(eventTimestamp + MAX_LOCATION_AGE_SECONDS)
    expect(await isAdmitted(world.person)).toBe(true)
    await world.pass(eventTimestamp + MAX_LOCATION_AGE_SECONDS + 1n)
    expect(await isAdmitted(world.person)).toBe(false)
  })
})

describe.skipIf(skipReason())('each guard', () => {
  let local: LocalChain
  let world: World
  /** The contracts with one text removed, by file and text. */
  let changed: ReadonlyMap<string, Record<string, Contract>>
  const keyOf = ({ file, text }: Guard) => `${file} ${text}`

  beforeAll(async () => {
    local = await startLocalChain('1.3.0')
    world = await createWorld(local)
    const versions = new Map<string, Sources>()
    for (const guard of [...OF_GATE, ...ENTRY_GUARDS]) {
      versions.set(keyOf(guard), without(sources, guard.file, guard.text))
    }
    const compiled = compile([...versions.values()], CONTRACTS)
    changed = new Map([...versions.keys()].map((key, index) => [key, compiled[index]!]))
  })
  afterAll(() => local?.stop())

  it('is in the list; no revert of these contracts is missing', () => {
    const texts = [...OF_GATE, ...ENTRY_GUARDS].map(({ text }) => text).join('\n')
    for (const file of ['GeoAttestation.sol', 'GeoWithin.sol', 'WithinGate.sol', 'WithinEntry.sol']) {
      const guards = sources[file]!.match(/if \(.*revert .*|GeoAttestation\.requireOf\(.*|GeoResult\.require.*/g)!
      for (const guard of guards) expect(texts, file).toContain(guard)
    }
  })

  it.each(OF_GATE)('stops an attempt at a gate: $name ($text)', async (guard) => {
    const gate = await world.deployGate(changed.get(keyOf(guard))!['WithinGate']!)
    expect(await world.tryGate(gate, await guard.attempt(world))).toBe(guard.behind)
  })

  it.each(OF_ENTRY)('stops an attempt at an entry: $name ($text)', async (guard) => {
    const entry = await world.deployEntry(changed.get(keyOf(guard))!['WithinEntry']!)
    expect(await world.tryEntry(entry, await guard.attempt(world))).toBe(guard.behind)
  })
})
