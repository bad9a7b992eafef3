import { type Abi, decodeAbiParameters, encodeAbiParameters, parseAbiParameters } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeBoolean, encodeNumeric } from '../../src/attest/data.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { type ComputeContext, runOperation } from '../../src/compute/run.ts'
import { readConfig } from '../../src/config/config.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import type { Hex } from '../../src/wire/values.ts'
import { EIFFEL_TOWER } from '../fixtures.ts'
import { seededRandom } from '../random-geometry.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'
import { compile, contractSources, deploy } from './solidity.ts'

const RADII = 10_000
const MUTANTS = 10_000
/** A call has the gas of a block, and each decoding may use 100,000. */
const CHUNK_SIZE = 200
const LARGEST_RADIUS_METERS = 20_037_508

/** Makes the functions of the library callable. */
const PROBE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.20;
import {BooleanResult, GeoResult, NumericResult} from "./GeoResult.sol";

contract Probe {
    function parseWithin(string[] calldata texts) external pure returns (bool[] memory found, uint256[] memory radii) {
        found = new bool[](texts.length);
        radii = new uint256[](texts.length);
        for (uint256 i = 0; i < texts.length; ++i) (found[i], radii[i]) = GeoResult.parseWithin(texts[i]);
    }

    function requireOperation(string memory operation, string memory expected) external pure {
        GeoResult.requireOperation(operation, expected);
    }

    function decodeBoolean(bytes memory data) public pure returns (BooleanResult memory) {
        return GeoResult.decodeBoolean(data);
    }

    function decodeNumeric(bytes memory data) public pure returns (NumericResult memory) {
        return GeoResult.decodeNumeric(data);
    }

    function canDecodeBoolean(bytes[] calldata data) external view returns (bool[] memory can) {
        can = new bool[](data.length);
        for (uint256 i = 0; i < data.length; ++i) {
            try this.decodeBoolean{gas: 100000}(data[i]) { can[i] = true; } catch {}
        }
    }

    function canDecodeNumeric(bytes[] calldata data) external view returns (bool[] memory can) {
        can = new bool[](data.length);
        for (uint256 i = 0; i < data.length; ++i) {
            try this.decodeNumeric{gas: 100000}(data[i]) { can[i] = true; } catch {}
        }
    }
}
`

const KINDS = [
  ['Boolean', 'bool result,bytes32[] inputRefs,uint256 timestamp,bytes operation'],
  ['Numeric', 'uint256 result,bytes units,bytes32[] inputRefs,uint256 timestamp,bytes operation'],
] as const

describe.skipIf(skipReason())('GeoResult', () => {
  const random = seededRandom(20_261_121)
  const pick = (size: number) => Math.floor(random() * size)
  const word = (): Hex => `0x${Array.from({ length: 64 }, () => pick(16).toString(16)).join('')}`
  let local: LocalChain
  let probe: { address: Hex; abi: Abi }

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    const [{ Probe: contract }] = compile([{ ...contractSources(), 'Probe.sol': PROBE }], ['Probe']) as [never]
    probe = { address: (await deploy(local, contract)).address, abi: (contract as { abi: Abi }).abi }
  })
  afterAll(() => local?.stop())

  /** Calls the contract for many values, some hundred per call. Each list of the result has one element per value. */
  async function callProbe(functionName: string, values: readonly string[]): Promise<unknown[][]> {
    const rows: unknown[][] = []
    for (let start = 0; start < values.length; start += CHUNK_SIZE) {
      const chunk = values.slice(start, start + CHUNK_SIZE)
      const answer = await local.client.readContract({ ...probe, functionName, args: [chunk] })
      const lists = (functionName === 'parseWithin' ? answer : [answer]) as unknown[][]
      for (let index = 0; index < chunk.length; index++) rows.push(lists.map((list) => list[index]))
    }
    return rows
  }

  it(`reads the radius of ${RADII} operations as the service writes them`, async () => {
    const engine: ComputeContext = {
      kernel: loadKernel(),
      keccak: await createKeccak(),
      limits: readConfig({}, 1).limits,
    }
    const operands = ['geometry', 'target'].map((name) => ({ path: [name], geometry: EIFFEL_TOWER, ref: undefined }))
    // Evenly distributed by magnitude, from a centimetre to half the circumference, with short decimals and full doubles.
    const radii = Array.from({ length: RADII }, (_, index) => {
      const radius = Math.max(0.01, LARGEST_RADIUS_METERS ** random() * random())
      return index % 2 === 0 ? radius : Number(radius.toFixed(pick(4))) || 1
    })
    const operations = [0.005, 0.01, 1, LARGEST_RADIUS_METERS, ...radii].map((radiusMeters) => {
      const { operation } = runOperation(OPERATIONS.within, operands, { radiusMeters }, engine)
      // ECMA-262 requires toFixed to use the exact value of the double, and the larger of two equally near decimals.
      return { operation, radiusCm: BigInt(radiusMeters.toFixed(2).replace('.', '')) }
    })
    const read = await callProbe(
      'parseWithin',
      operations.map(({ operation }) => operation),
    )
    expect(read).toEqual(operations.map(({ radiusCm }) => [true, radiusCm]))
  })

  it(`rejects ${MUTANTS} changed operations that the service would not write`, async () => {
    const odd = ['0', '9', ' ', '+', '-', '.', ',', 'e', 'x', '_', ':', '\0', '\n', '/', 'w', 'W', '٣', '１', 'é']
    const texts = ['', 'within', 'within:', 'within:0', 'contains', 'within:999999999999', 'within:1000000000000']
    while (texts.length < MUTANTS) {
      const text = [...`within:${1 + pick(10 ** (1 + pick(13)))}`]
      const start = pick(text.length + 1)
      const put = odd[pick(odd.length)]!
      const change = pick(4)
      if (change === 0) text.splice(start, 0, put)
      else if (change === 1) text.splice(start, 1, put)
      else if (change === 2) text.splice(start, 1)
      else text.splice(start)
      texts.push(text.join(''))
    }
    const expected = texts.map((text) => {
      const digits = /^within:([1-9][0-9]{0,11})$/.exec(text)?.[1]
      return [digits !== undefined, BigInt(digits ?? 0)]
    })
    expect(expected.filter(([is]) => is).length).toBeGreaterThan(MUTANTS / 20)
    expect(await callProbe('parseWithin', texts)).toEqual(expected)
  })

  it('accepts only the whole operation, so that neither reading of edges passes for the other', async () => {
    const engine: ComputeContext = {
      kernel: loadKernel(),
      keccak: await createKeccak(),
      limits: readConfig({}, 1).limits,
    }
    const operands = ['container', 'containee'].map((name) => ({
      path: [name],
      geometry: EIFFEL_TOWER,
      ref: undefined,
    }))
    const [planar, geodesic] = [undefined, 'geodesic' as const].map(
      (edges) => runOperation(OPERATIONS.contains, operands, { edges }, engine).operation,
    )
    const check = (...args: readonly string[]) =>
      local.client.readContract({ ...probe, functionName: 'requireOperation', args })
    await check(planar!, 'contains')
    await check(geodesic!, 'contains:geodesic')
    for (const [operation, expected] of [
      [planar!, 'contains:geodesic'],
      [geodesic!, 'contains'],
      [`${geodesic!} `, 'contains:geodesic'],
      ['', 'contains'],
    ] as const)
      await expect(check(operation, expected)).rejects.toThrow('OperationIsAnother')
  })

  it('reads data as the service packs it', async () => {
    for (let index = 0; index < 100; index++) {
      const inputRefs = Array.from({ length: pick(4) }, word)
      const [timestamp, isTrue, integer] = [pick(2 ** 40), random() < 0.5, BigInt(word())]
      const [units, operation] = ['x'.repeat(pick(70)), 'é'.repeat(pick(40))]
      const expectedFields = { inputRefs, timestamp: BigInt(timestamp), operation }
      const read = (functionName: string, data: Hex) =>
        local.client.readContract({ ...probe, functionName, args: [data] })
      expect(await read('decodeBoolean', encodeBoolean(isTrue, inputRefs, timestamp, operation))).toEqual({
        result: isTrue,
        ...expectedFields,
      })
      expect(await read('decodeNumeric', encodeNumeric(integer, units, inputRefs, timestamp, operation))).toEqual({
        result: integer,
        units,
        ...expectedFields,
      })
    }
  })

  // Read as bytes, because the TypeScript decoder would check UTF-8, which the contract does not.
  it.each(KINDS)('reads %s data only when it is canonical', async (kind, schema) => {
    const fields = parseAbiParameters(schema)
    const isCanonical = (data: Hex): boolean => {
      try {
        return encodeAbiParameters(fields, decodeAbiParameters(fields, data) as never) === data
      } catch {
        return false
      }
    }
    const make = (): Hex => {
      const refs = Array.from({ length: pick(3) }, word)
      const operation = `within:${pick(1e9)}`
      return kind === 'Boolean'
        ? encodeBoolean(random() < 0.5, refs, pick(2 ** 32), operation)
        : encodeNumeric(BigInt(word()), 'centimeters', refs, pick(2 ** 32), operation)
    }
    const changed = Array.from({ length: 3000 }, (_, index): Hex => {
      const bytes = Buffer.from(make().slice(2), 'hex')
      const words = bytes.length / 32
      switch (index % 6) {
        case 0: // any byte
          bytes[pick(bytes.length)]! ^= 1 << pick(8)
          break
        case 1: // the low byte of a word: offsets and lengths
          bytes[32 * pick(words) + 31] = 32 * pick(16)
          break
        case 2: // an end that is missing
          return `0x${bytes.subarray(0, pick(bytes.length)).toString('hex')}`
        case 3: // words behind the end, or before it
          return `0x${Buffer.concat([bytes, Buffer.alloc(1 + pick(64))]).toString('hex')}`
        case 4: // lengths beyond everything
          bytes.fill(0xff, 32 * pick(words), 32 * pick(words) + 32)
          break
        default: // as it was
      }
      return `0x${bytes.toString('hex')}`
    })
    const expected = changed.map((data) => [isCanonical(data)])
    const canonical = expected.filter(([is]) => is).length
    expect(canonical).toBeGreaterThan(500)
    expect(canonical).toBeLessThan(1500)
    expect(await callProbe(`canDecode${kind}`, changed)).toEqual(expected)
  })

  it('rejects a tail at another offset and padding that is not zero', async () => {
    const data = encodeBoolean(true, [word(), word()], 1_700_000_000, 'within:50000').slice(2)
    const words = data.match(/.{64}/g)!
    const hex = (parts: readonly string[]): Hex => `0x${parts.join('')}`
    const num = (value: number) => value.toString(16).padStart(64, '0')
    // The operation stands before the references: another encoding of the same fields, which abi.decode accepts.
    const swapped = [words[0]!, num(192), words[2]!, num(128), words[7]!, words[8]!, words[4]!, words[5]!, words[6]!]
    const padded = [...words.slice(0, 8), `${words[8]!.slice(0, -2)}01`]
    const shifted = [words[0]!, num(160), words[2]!, num(256), num(0), ...words.slice(4)]
    const inputs = [hex(words), hex(swapped), hex(padded), hex(shifted), hex([num(2), ...words.slice(1)])]
    for (const other of [swapped, shifted]) {
      const read = decodeAbiParameters(parseAbiParameters(KINDS[0][1]), hex(other))
      expect(read).toEqual(decodeAbiParameters(parseAbiParameters(KINDS[0][1]), hex(words)))
    }
    expect(await callProbe('canDecodeBoolean', inputs)).toEqual([[true], [false], [false], [false], [false]])
  })
})
