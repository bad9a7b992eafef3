/** The parts of the page of gates that need no browser: calldata, names of errors, the address, and waiting. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type Abi,
  decodeAbiParameters,
  decodeDeployData,
  decodeFunctionData,
  encodeErrorResult,
  encodeFunctionResult,
  encodePacked,
  keccak256,
  parseAbi,
  parseAbiParameters,
  stringToHex,
} from 'viem'
import { describe, expect, it } from 'vitest'
import { DEFAULT_UIDS, SCHEMA_STRINGS } from '../../src/attest/schemas.ts'
import {
  attestedUid,
  createSender,
  GateFault,
  Reverted,
  readAdmission,
  readGate,
  refreshDelayMs,
  revertDataIn,
  UnusableGate,
} from '../../web/explorer/gate/chain.ts'
import * as contract from '../../web/explorer/gate/contract.ts'
import { decodeLink, EXAMPLES, encodeLink, firstPoint, radiusCm, readRadius } from '../../web/explorer/gate/zone.ts'

const root = resolve(import.meta.dirname, '../..')
const readAbi = (path: string) =>
  JSON.parse(readFileSync(resolve(root, path), 'utf8')) as {
    abi: Abi
    bytecode: `0x${string}`
    deployedBytecode: `0x${string}`
    immutableReferences: Readonly<Record<'eas' | 'schema' | 'attester', readonly { readonly start: number }[]>>
  }
const gateContract = readAbi('contracts/compiled/WithinGate.json')
const easContract = readAbi('contracts/vendor/eas-1.2.0/EAS.json')
const address = (digit: string): `0x${string}` => `0x${digit.repeat(40)}`
const CHAIN = {
  chainId: 31_337,
  name: 'local',
  rpc: true,
  profile: 'v1',
  easVersion: '1.2.0',
  registry: address('1'),
  schemaRegistry: address('2'),
  schemas: { numeric: '0x', boolean: '0x', verify: '0x', merkleRoot: '0x' },
} as const
const POINT = { type: 'Point', coordinates: [2.2945, 48.8584] } as const
// The text of docs/solidity.md, with sorted members.
const TARGET = keccak256(stringToHex('{"coordinates":[2.2945,48.8584],"type":"Point"}'))

describe('the calls of a gate, decoded by viem with the ABI of the contracts', () => {
  it('deploy the compiled contract with the terms', () => {
    const target = contract.referenceOf({ type: 'Point', coordinates: [2.2945, 48.8584] })
    expect(target).toBe(TARGET)
    const terms = {
      ...{ target, locationSchema: contract.LOCATION_SCHEMA, locationAttester: address('4') },
      ...{ maxRadiusCm: 50_000, maxAgeSeconds: 3600, maxLocationAgeSeconds: 7200 },
    }
    const { args } = decodeDeployData({ ...gateContract, data: contract.deployment(CHAIN, address('3'), terms) })
    const numbers = { maxRadiusCm: 50_000n, maxAgeSeconds: 3600n, maxLocationAgeSeconds: 7200n }
    expect(args).toEqual([address('1'), address('3'), { ...terms, ...numbers }])
  })

  it('register the schema of boolean results', () => {
    const abi = parseAbi(['function register(string schema, address resolver, bool revocable) returns (bytes32)'])
    expect(contract.GATE_SCHEMA).toBe(SCHEMA_STRINGS.boolean)
    const { args } = decodeFunctionData({ abi, data: contract.registration(address('5')) })
    expect(args).toEqual([SCHEMA_STRINGS.boolean, address('5'), true])
  })

  it('attest a location under the schema that the service reads', () => {
    expect(contract.LOCATION_SCHEMA).toBe(DEFAULT_UIDS.location)
    const data = contract.locationAttestation(
      address('6'),
      { type: 'Point', coordinates: [2.2945, 48.8584] },
      1_790_000_000,
    )
    const { functionName, args } = decodeFunctionData({ abi: easContract.abi, data })
    expect(functionName).toBe('attest')
    const [request] = args as [{ schema: string; data: Record<string, unknown> }]
    expect(request.schema).toBe(DEFAULT_UIDS.location)
    const { data: encoded, ...rest } = request.data
    const refUID = `0x${'0'.repeat(64)}`
    expect(rest).toEqual({ recipient: address('6'), expirationTime: 0n, revocable: true, refUID, value: 0n })
    expect(decodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), encoded as `0x${string}`)).toEqual([
      ...[1_790_000_000n, 'EPSG:4326', 'geojson-point', '{"coordinates":[2.2945,48.8584],"type":"Point"}'],
      ...[[], [], [], [], ''],
    ])
  })

  it('read the terms', () => {
    const word = (hex: string) => hex.padStart(64, '0')
    const words = [TARGET.slice(2), contract.LOCATION_SCHEMA.slice(2), '4'.repeat(40), 'c350', 'e10', '1c20'].map(word)
    expect(contract.readTerms(`0x${words.join('')}`)).toEqual({
      ...{ target: TARGET, locationSchema: contract.LOCATION_SCHEMA, locationAttester: address('4') },
      ...{ maxRadiusCm: 50_000, maxAgeSeconds: 3600, maxLocationAgeSeconds: 7200 },
    })
    expect(() => contract.readTerms('0x')).toThrow('the contract returned 0 words instead of 6')
  })
})

const VALUE_NAMES = ['eas', 'schema', 'attester'] as const
type Values = Readonly<Record<(typeof VALUE_NAMES)[number], string>>

const placesOf = (name: keyof Values) => gateContract.immutableReferences[name].map(({ start }) => start)

/** Puts bytes into code. @param start their place in bytes. @param hex without `0x` */
function write(code: string, start: number, hex: string): string {
  const at = 2 + 2 * start
  return code.slice(0, at) + hex + code.slice(at + hex.length)
}

/** Returns the code of a deployed gate with these values. */
function codeWith(values: Values): string {
  let code: string = gateContract.deployedBytecode
  for (const name of VALUE_NAMES)
    for (const start of placesOf(name)) code = write(code, start, values[name].slice(2).padStart(64, '0'))
  return code
}

describe('the code of a gate', () => {
  const { deployedBytecode } = gateContract
  const names = VALUE_NAMES
  const values = { eas: `0x${'1'.repeat(64)}`, schema: `0x${'2'.repeat(64)}`, attester: `0x${'3'.repeat(64)}` } as const
  const code = codeWith(values)

  it('is part of what is deployed, and has the values that the constructor set', () => {
    expect(gateContract.bytecode).toContain(deployedBytecode.slice(2))
    expect(contract.readGateCode(code)).toEqual(values)
    expect(contract.readGateCode(code.toUpperCase().replace('0X', '0x'))).toEqual(values)
  })

  it.each(names)('has the value of %s at all its places', (name) => {
    expect(placesOf(name).length).toBeGreaterThan(1)
    for (const start of placesOf(name))
      expect(contract.readGateCode(write(code, start + 31, 'ab')), String(start)).toBeUndefined()
  })

  it('is not that of another contract', () => {
    const isValue = (at: number) => names.some((name) => placesOf(name).some((start) => at >= start && at < start + 32))
    for (let at = 0; at < code.length / 2 - 1; at++) {
      const other = code.slice(2 + 2 * at, 4 + 2 * at) === 'ab' ? 'cd' : 'ab'
      if (!isValue(at)) expect(contract.readGateCode(write(code, at, other)), String(at)).toBeUndefined()
    }
    for (const other of ['0x', code.slice(0, -2), `${code}00`, easContract.bytecode])
      expect(contract.readGateCode(other)).toBeUndefined()
  })

  it('has the UID of a schema that names the gate', () => {
    const packed = encodePacked(['string', 'address', 'bool'], [SCHEMA_STRINGS.boolean, address('a'), true])
    expect(contract.schemaOf(address('a'))).toBe(keccak256(packed))
  })
})

describe('a gate from a link', () => {
  const [gate, person, signer] = [address('7'), address('8'), address('9')]
  const zone = { target: { ...POINT, coordinates: [2.2945, 48.8584] as [number, number] }, radiusMeters: 500 }
  const uid = `0x${'ab'.repeat(32)}` as const
  const sound = { eas: CHAIN.registry, schema: contract.schemaOf(gate), attester: signer }
  const terms = {
    ...{ target: TARGET, locationSchema: contract.LOCATION_SCHEMA as `0x${string}`, locationAttester: person },
    ...{ maxRadiusCm: 50_000n, maxAgeSeconds: 3600n, maxLocationAgeSeconds: 7200n },
  }
  const registry = parseAbi([
    'function getSchema(bytes32 uid) view returns ((bytes32 uid, address resolver, bool revocable, string schema))',
  ])
  const noAttestation = {
    ...{ uid: `0x${'0'.repeat(64)}`, schema: `0x${'0'.repeat(64)}`, refUID: `0x${'0'.repeat(64)}` },
    ...{ time: 0n, expirationTime: 0n, revocationTime: 0n, recipient: address('0'), attester: address('0') },
    ...{ revocable: false, data: '0x' },
  }

  /** A wallet on a chain where this code is at the address of the gate, which is open; and the methods that were called. */
  function setUp(code: string, stored: object = {}) {
    const calls: string[] = []
    const answers: Readonly<Record<string, (abi: Abi) => unknown>> = {
      terms: () => Object.values(terms),
      isAdmitted: () => true,
      admissions: () => [uid, uid, 2_000_000_000n],
      getSchema: () => ({ uid, resolver: gate, revocable: true, schema: SCHEMA_STRINGS.boolean }),
      getAttestation: () => ({ ...noAttestation, ...stored }),
    }
    const request = async ({ method, params }: { method: string; params?: readonly unknown[] }) => {
      calls.push(method)
      if (method === 'eth_getCode') return code
      const [{ to, data }] = params as [{ to: string; data: `0x${string}` }]
      const abi: Abi = to === gate ? gateContract.abi : to === CHAIN.registry ? easContract.abi : registry
      const { functionName } = decodeFunctionData({ abi, data })
      return encodeFunctionResult({ abi, functionName, result: answers[functionName]!(abi) as never })
    }
    return { wallet: { request }, calls }
  }
  const read = (wallet: Parameters<typeof readGate>[0], of = zone) => readGate(wallet, person, CHAIN, gate, of, signer)

  it('is read if its code and its terms are right', async () => {
    const { wallet } = setUp(codeWith(sound), { uid, schema: sound.schema, recipient: person })
    const facts = await read(wallet)
    expect(facts).toMatchObject({ address: gate, schema: sound.schema, isRegistered: true })
    expect(facts.terms).toMatchObject({ target: TARGET, maxRadiusCm: 50_000 })
    expect(await readAdmission(wallet, CHAIN, facts, person)).toEqual({ isOpen: true, untilSeconds: 2_000_000_000 })
    await expect(read(wallet, { ...zone, radiusMeters: 501 })).rejects.toThrow('another zone')
  })

  it.each([
    ['no contract', '0x', 'has no contract'],
    ['another contract', easContract.bytecode, 'its code is not that of WithinGate'],
    [
      'a gate whose getter says another EAS contract than it uses',
      write(codeWith(sound), placesOf('eas')[1]!, 'ab'),
      'its code',
    ],
    ['a copy of another gate', codeWith({ ...sound, schema: contract.schemaOf(address('6')) }), 'its code'],
    ['a gate of another EAS contract', codeWith({ ...sound, eas: address('5') }), 'uses another EAS contract'],
    ['a gate of another service', codeWith({ ...sound, attester: address('5') }), 'trusts the results of 0x5555'],
  ])('is not used, and not asked, if it is %s', async (_, code, words) => {
    const { wallet, calls } = setUp(code)
    const error = await read(wallet).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(UnusableGate)
    expect((error as UnusableGate).message).toContain(words)
    expect(calls).toEqual(['eth_getCode'])
  })

  it.each([
    ['there is no result', {}],
    ['the result has another schema', { uid, schema: `0x${'cd'.repeat(32)}`, recipient: person }],
    ['the result is about another person', { uid, schema: sound.schema, recipient: address('6') }],
  ])('is not believed to be open if %s', async (_, stored) => {
    const { wallet } = setUp(codeWith(sound), stored)
    const facts = await read(wallet)
    await expect(readAdmission(wallet, CHAIN, facts, person)).rejects.toThrow('EAS has no result that opened it')
  })
})

describe('an open gate', () => {
  it('is read again after it closes, but never at once, and never so late that a timer overflows', () => {
    expect(refreshDelayMs(1000, 900_000)).toBe(102_000)
    expect(refreshDelayMs(1000, 2_000_000)).toBe(5000) // the clock of the browser is ahead of the chain
    const maxMs = 2 ** 31 - 1
    for (const untilSeconds of [1000 + 26 * 86_400, 2 ** 64, Number.POSITIVE_INFINITY])
      expect(refreshDelayMs(untilSeconds, 1_000_000)).toBe(maxMs)
  })
})

describe('the name of an error', () => {
  const errorsOf = (abi: Abi) => abi.flatMap((entry) => (entry.type === 'error' ? [entry] : []))
  const zeroFor = ({ type }: { readonly type: string }) =>
    type === 'string' ? 'x' : type.startsWith('uint') ? 1n : type === 'address' ? address('1') : `0x${'0'.repeat(64)}`

  it.each(errorsOf(gateContract.abi).map((entry) => [entry.name, entry] as const))('is found for %s', (name, entry) => {
    const data = encodeErrorResult({ abi: [entry], errorName: name, args: entry.inputs.map(zeroFor) } as never)
    expect(contract.errorName(data)).toBe(name)
  })

  it('is found for those of EAS that submissions meet', () => {
    const known = errorsOf(easContract.abi).map(({ name }) => name)
    for (const name of ['InvalidSignature', 'DeadlineExpired', 'InvalidSchema', 'InvalidAttestation', 'AccessDenied']) {
      expect(known).toContain(name)
      expect(contract.errorName(encodeErrorResult({ abi: easContract.abi, errorName: name }))).toBe(name)
    }
  })

  it('is the text of a require, and the selector of an unknown error', () => {
    const abi = parseAbi(['error Error(string)', 'error Other(uint256)'])
    expect(contract.errorName(encodeErrorResult({ abi, errorName: 'Error', args: ['come closer'] }))).toBe(
      'come closer',
    )
    const other = encodeErrorResult({ abi, errorName: 'Other', args: [1n] })
    expect(contract.errorName(other)).toBe(`an unknown error (${other.slice(0, 10)})`)
  })

  it('is read from what wallets wrap around it', () => {
    const data = `0x${'ab'.repeat(4)}`
    expect(revertDataIn({ code: 3, data })).toBe(data)
    expect(revertDataIn({ code: -32603, data: { originalError: { code: 3, data } } })).toBe(data)
    expect(revertDataIn({ cause: { error: { data } } })).toBe(data)
    expect(revertDataIn({ code: 4001, message: 'no', data: '0x' })).toBeUndefined()
    const circle: Record<string, unknown> = {}
    circle['cause'] = circle
    expect(revertDataIn(circle)).toBeUndefined()
  })
})

describe('a sender', () => {
  const transaction = { from: address('1'), to: address('2'), data: '0x1234' } as const
  const receipt = { status: '0x1', gasUsed: '0x5208', logs: [] }

  /** A wallet whose chain gives these receipts one after the other, and a clock that jumps instead of waiting. */
  function setUp(receipts: readonly unknown[], callError?: unknown) {
    const calls: string[] = []
    const left = [...receipts]
    let nowMs = 0
    const clock = {
      now: () => nowMs,
      wait: async (ms: number) => {
        nowMs += ms
      },
    }
    const request = async ({ method }: { readonly method: string }) => {
      calls.push(method)
      if (method === 'eth_call' && callError !== undefined) throw callError
      if (method === 'eth_call') return '0x'
      if (method === 'eth_sendTransaction') return `0x${'7'.repeat(64)}`
      return left.shift() ?? null
    }
    return { wallet: { request }, sender: createSender(clock), calls, left, clock }
  }
  const count = (calls: readonly string[], method: string) => calls.filter((called) => called === method).length

  it('simulates, sends, and waits for the receipt', async () => {
    const { wallet, sender, calls } = setUp([null, null, receipt])
    expect(await sender.send(wallet, transaction, () => {})).toBe(receipt)
    expect(calls).toEqual(['eth_call', 'eth_sendTransaction', ...Array(3).fill('eth_getTransactionReceipt')])
  })

  it('gives up after two minutes, and then waits for the same transaction instead of sending it twice', async () => {
    const { wallet, sender, calls, left, clock } = setUp([])
    await expect(sender.send(wallet, transaction, () => {})).rejects.toThrow(/after 2 minutes.*Nothing is sent twice/)
    expect(clock.now()).toBe(120_000)
    left.push(receipt)
    expect(await sender.send(wallet, transaction, () => {})).toBe(receipt)
    expect(count(calls, 'eth_sendTransaction')).toBe(1)
    left.push(receipt)
    await sender.send(wallet, transaction, () => {})
    expect(count(calls, 'eth_sendTransaction')).toBe(2)
  })

  it('sends nothing that the contract rejects, and names its error', async () => {
    const data = encodeErrorResult({ abi: gateContract.abi, errorName: 'ResultIsFalse' })
    const { wallet, sender, calls } = setUp([receipt], { code: 3, message: 'execution reverted', data })
    const error = await sender.send(wallet, transaction, () => {}).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Reverted)
    expect((error as Reverted).errorName).toBe('ResultIsFalse')
    expect((error as Reverted).message).toBe(
      'The contract rejects it with ResultIsFalse. The service found that the location is outside of the zone.',
    )
    expect(calls).toEqual(['eth_call'])
  })

  it('reports a transaction that a block has, but that was reverted', async () => {
    const { wallet, sender } = setUp([{ ...receipt, status: '0x0' }])
    await expect(sender.send(wallet, transaction, () => {})).rejects.toThrow(
      'was reverted, and the chain gives no reason',
    )
  })

  it('finds the attestation among the events of other contracts', () => {
    const log = (from: string, data: string) => ({ address: from, topics: ['0x', '0x', '0x', '0x'], data })
    const logs = [log(address('9'), `0x${'8'.repeat(64)}`), log(address('A'), `0x${'7'.repeat(64)}`)]
    expect(attestedUid({ ...receipt, logs }, address('a'))).toBe(`0x${'7'.repeat(64)}`)
    expect(() => attestedUid(receipt, address('a'))).toThrow(GateFault)
  })
})

describe('the address of the page', () => {
  it.each(EXAMPLES)('holds the zone: $title', ({ zone }) => {
    for (const gate of [undefined, address('a')]) {
      for (const chainId of [undefined, 31_337]) {
        const text = encodeLink({ chainId, zone, gate }).toString()
        expect(decodeLink(new URLSearchParams(text))).toEqual({ chainId, zone, gate })
      }
    }
  })

  const valid = { target: JSON.stringify(POINT), radius: '500', chain: '1', gate: address('a') }
  it.each([
    ['no zone', { target: '' }, 'a valid zone'],
    ['a geometry that is none', { target: '{"type":"Point","coordinates":[1,99]}' }, 'a valid zone'],
    ['an empty collection', { target: '{"type":"GeometryCollection","geometries":[]}' }, 'a valid zone'],
    ['a radius of 0', { radius: '0' }, 'radius'],
    ['a radius that is no number', { radius: '5e' }, 'radius'],
    ['an address that is none', { gate: 'javascript:alert(1)' }, 'gate in this link is not an address'],
    ['an address that is too short', { gate: '0x1234' }, 'gate in this link is not an address'],
    ['a chain that is none', { chain: '-1' }, 'chain in this link'],
  ])('is not accepted with %s, and says so', (_, changes, words) => {
    expect(decodeLink(new URLSearchParams(valid))).toBeTypeOf('object')
    expect(decodeLink(new URLSearchParams({ ...valid, ...changes }))).toContain(words)
  })
})

describe('a zone', () => {
  it('has a radius in whole centimetres', () => {
    expect(readRadius(' 4238.77 ')).toBe(4238.77)
    expect(radiusCm({ target: { ...POINT, coordinates: [0, 0] }, radiusMeters: 4238.77 })).toBe(423_877)
    expect(readRadius('1.005')).toBe(1) // 1.005 is below 1.005 in binary
    for (const text of ['', 'x', '0', '0.004', '-1', '20037509', 'Infinity']) expect(readRadius(text)).toBeUndefined()
  })

  it('starts with a point inside of it, apart from its centre', () => {
    // Half of the radius further north: 250 m are 250 / 111,200 degrees of latitude.
    expect(firstPoint(EXAMPLES[0]!.zone)).toEqual([2.2945, 48.860648])
    expect(firstPoint(EXAMPLES[1]!.zone)).toEqual([-9.1365, 38.7076])
    const across = {
      type: 'LineString' as const,
      coordinates: [
        [179, 0],
        [-178, 0],
      ] as [number, number][],
    }
    expect(firstPoint({ target: across as never, radiusMeters: 1 })).toEqual([-179.5, 0])
  })
})
