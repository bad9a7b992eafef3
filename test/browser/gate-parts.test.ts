/** The parts of the page of gates that need no browser: calldata, names of errors, the address, and waiting. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type Abi,
  decodeAbiParameters,
  decodeDeployData,
  decodeFunctionData,
  encodeErrorResult,
  keccak256,
  parseAbi,
  parseAbiParameters,
  stringToHex,
} from 'viem'
import { describe, expect, it } from 'vitest'
import { DEFAULT_UIDS, SCHEMA_STRINGS } from '../../src/attest/schemas.ts'
import { attestedUid, createSender, GateFault, Reverted, revertDataIn } from '../../web/explorer/gate/chain.ts'
import * as contract from '../../web/explorer/gate/contract.ts'
import { decodeLink, EXAMPLES, encodeLink, firstPoint, radiusCm, readRadius } from '../../web/explorer/gate/zone.ts'

const root = resolve(import.meta.dirname, '../..')
const readAbi = (path: string) =>
  JSON.parse(readFileSync(resolve(root, path), 'utf8')) as { abi: Abi; bytecode: `0x${string}` }
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
    ['no zone', { target: '' }],
    ['a geometry that is none', { target: '{"type":"Point","coordinates":[1,99]}' }],
    ['an empty collection', { target: '{"type":"GeometryCollection","geometries":[]}' }],
    ['a radius of 0', { radius: '0' }],
    ['a radius that is no number', { radius: '5e' }],
    ['an address that is none', { gate: 'javascript:alert(1)' }],
    ['a chain that is none', { chain: '-1' }],
  ])('is not accepted with %s', (_, changes) => {
    expect(decodeLink(new URLSearchParams(valid))).toBeDefined()
    expect(decodeLink(new URLSearchParams({ ...valid, ...changes }))).toBeUndefined()
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
