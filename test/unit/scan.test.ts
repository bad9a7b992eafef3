import { keccak_256 } from '@noble/hashes/sha3.js'
import { describe, expect, it } from 'vitest'
import { scanText } from '../../src/geometry/scan.ts'
import { readScannedGeometry, selfTestScanner } from '../../src/geometry/scanned-geometry.ts'
import { loadKernel } from '../../src/wasm/loader.ts'

const kernel = loadKernel()
const LIMITS = { maxJsonDepth: 8, maxVertices: 10, maxParts: 5, maxCollectionDepth: 2 }

function scan(text: string | Uint8Array) {
  kernel.release()
  return scanText(kernel, Buffer.from(text as string), LIMITS)
}

function readFlat(text: string) {
  const scanned = scan(text)
  return scanned && readScannedGeometry(scanned, scanned.skeleton, LIMITS)
}

describe('a scanned text', () => {
  it('becomes a skeleton with a number in brackets in place of each array of coordinates', () => {
    const scanned = scan(
      '{"a" : {"coordinates" :\n[ [1,2] , [3, 4.5]] , "x":"[1]"},"b":{"coordinates":[5,6,7]},"é":"coordinates"}',
    )!
    expect(scanned.skeleton).toEqual({ a: { coordinates: [0], x: '[1]' }, b: { coordinates: [1] }, é: 'coordinates' })
    expect(scanned.spans.map(({ nesting }) => nesting)).toEqual([2, 1])
    expect(scanned.spans.map(({ vertices }) => [...vertices])).toEqual([
      [1, 2, 3, 4.5],
      [5, 6],
    ])
  })

  it('records where rings and polygons end', () => {
    const [span] = scan('{"coordinates":[[[[1,2],[3,4]],[[5,6]]],[[[7,8,9,10]]]]}')!.spans
    expect(span).toMatchObject({ nesting: 4, isCanonical: true })
    expect([...span!.sequenceEnds]).toEqual([2, 3, 4])
    expect([...span!.partEnds]).toEqual([2, 3])
  })

  it('leaves the values of members with other names unchanged', () => {
    expect(scan('{"coordinate":[1e999],"coordinatesX":[[]],"a":["coordinates",[9]]}')).toBeDefined()
  })

  it.each([
    ['', 'nothing'],
    ['{', 'an open object'],
    ['{"coordinates":[1,2]5}', 'a digit after an array'],
    ['{"coordinates":[1,2]"a":1}', 'a missing comma'],
    ['{"coordinates":[1,2]},', 'a comma after the end'],
    ['{"coordinates":[1,2]]', 'a bracket instead of a brace'],
    ['{"coordinates" [1,2]}', 'a missing colon'],
    ['{"coordinates":[1,2],"coordinates":[3,4]}', 'a duplicate key'],
    ['{"a":{"x":1,"y":2,"x":3}}', 'a duplicate key in a nested object'],
    ['{"coordin\\u0061tes":[1,2]}', 'an escaped key'],
    ['{"__proto__":1}', '__proto__'],
    ['{"a":[{"constructor":1}]}', 'constructor'],
    ['{"coordinates":5}', 'a number instead of an array'],
    ['{"coordinates":[0]}', 'an array that could be part of a skeleton'],
    ['{"coordinates":null}', 'null instead of an array'],
    ['{"coordinates":[]}', 'an empty array'],
    ['{"coordinates":[[1,2],[]]}', 'an empty position'],
    ['{"coordinates":[[1,2],[3]]}', 'a position of one number'],
    ['{"coordinates":[1,2,3,4,5]}', 'a position of five numbers'],
    ['{"coordinates":[[1,2],3]}', 'arrays of different depths'],
    ['{"coordinates":[[[1,2]],[3,4]]}', 'arrays of different depths, the deeper first'],
    ['{"coordinates":[[[[[1,2]]]]]}', 'five nested arrays'],
    ['{"coordinates":[180.1,2]}', 'a longitude out of range'],
    ['{"coordinates":[180.00000000000003,2]}', 'a longitude one unit in the last place out of range'],
    ['{"coordinates":[1,90.00000000000001]}', 'a latitude one unit in the last place out of range'],
    ['{"coordinates":[1,9.1e1]}', 'a latitude out of range with an exponent'],
    ['{"coordinates":[1,2,1e999]}', 'an altitude that is not a finite double'],
    ['{"coordinates":[01,2]}', 'a leading zero'],
    ['{"coordinates":[-,2]}', 'a sign without digits'],
    ['{"coordinates":[+1,2]}', 'a plus sign'],
    ['{"coordinates":[.5,2]}', 'a point without digits before it'],
    ['{"coordinates":[1.,2]}', 'a point without digits after it'],
    ['{"coordinates":[1e,2]}', 'an exponent without digits'],
    ['{"coordinates":[1,2,01]}', 'a leading zero of an altitude'],
    ['{"coordinates":[1,2,]}', 'a trailing comma'],
    ['{"coordinates":[1,2', 'an end inside of a position'],
    ['{"coordinates":[1,1', 'an end inside of a number'],
    ['{"coordinates":[1,"2"]}', 'a string'],
    ['{"coordinates":[1,\v2]}', 'white space that JSON does not allow'],
    ['{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}}}', 'nesting beyond the limit'],
    ['{"a":{"a":{"a":{"a":{"a":{"a":{"coordinates":[[1,2]]}}}}}}}', 'coordinates beyond the limit of nesting'],
    [`{"coordinates":[${'[1,2],'.repeat(10)}[1,2]]}`, 'more vertices than allowed'],
    ['\ufeff{"coordinates":[1,2]}', 'a byte order mark'],
    ['{"a":"\n"}', 'a control character in a string'],
    ['{"a":"\\x"}', 'a bad escape'],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'bytes that are not UTF-8'],
  ])('is declined: %s (%s)', (text, _) => {
    expect(scan(text)).toBeUndefined()
  })

  it.each([
    '1.5,2.5',
    '-122.4194123456789,37.77491234567892',
    '0.12345678901234568,-0.012345678901234568',
    '179.99999999999997,-89.99999999999999',
    '-0.30000000000000004,45.10000000000001',
    '0.30000000000000005,45.100000000000012',
    '0.000001,-0.000001',
    '1.5, 2.5',
    '1.5,  2.5',
    '1.50,2.5',
    '1.5,2.500000000000',
    '0.1000000000000000055511151231257827,2.5',
    '0.10000000000000000555111512312578270211815834,2.5',
    '10.1234567890123456789012345678901,-10.1234567890123456789012345678901',
    '1.5,2.5e1',
    '1.5E1,-2.5',
    '0.00000012,2.5',
    '-0.0,2.5',
    '1.5,-0.00000000000000000001',
  ])('has the same doubles and canonical form as JSON.parse gives for %s', (position) => {
    const span = scan(`{"coordinates":[[${position}],[${position},7.25],[${position}]]}`)!.spans[0]!
    const values: number[] = JSON.parse(`[${position}]`)
    expect([...span.vertices]).toEqual([...values, ...values, ...values].map((value) => value + 0))
    expect(span.isCanonical).toBe(JSON.stringify(values) === `[${position}]`)
  })

  it.each([
    '200.5,2.5',
    '1000.5,2.5',
    '1.5,1002.5',
    '00.5,2.5',
    '1.5,02.5',
    '1.5,-.5',
    '--1.5,2.5',
    '1.5,--2.5',
    '1.5,2.-5',
    '1.5.5,2.5',
    '1.5,2.5.5',
    '1.5;2.5',
    '180.00000000000003,2.5',
    '1.5,-90.00000000000001',
    '1.5,2.5e',
    '1.5,2.5e3',
    '1.5,2.5x',
    '1.5',
  ])('is declined for %s', (position) => {
    expect(scan(`{"coordinates":[[${position}],[3.5,4.5]]}`)).toBeUndefined()
    expect(scan(`{"coordinates":[${position}]}`)).toBeUndefined()
  })

  it('is accepted up to the limits of nesting and vertices', () => {
    expect(scan('{"a":{"a":{"a":{"a":{"a":{"a":{"coordinates":[1,2]}}}}}}}')).toBeDefined()
    expect(scan(`{"coordinates":[${'[1,2],'.repeat(9)}[1,2]]}`)).toBeDefined()
  })
})

describe('a geometry of a scanned text', () => {
  it.each([
    ['{"type":"Point","coordinates":[[1,2]]}', 'coordinates of another type'],
    ['{"type":"Circle","coordinates":[1,2]}', 'an unknown type'],
    ['{"type":"Point"}', 'no coordinates'],
    ['{"type":"LineString","coordinates":[[1,2]]}', 'a line of one position'],
    ['{"type":"MultiLineString","coordinates":[[[1,2],[2,3]],[[1,2]]]}', 'a line of one position among others'],
    ['{"type":"Polygon","coordinates":[[[1,2],[3,4],[1,2]]]}', 'a ring of three positions'],
    ['{"type":"Polygon","coordinates":[[[1,2],[3,4],[5,6],[1,3]]]}', 'an open ring'],
    ['{"type":"MultiPoint","coordinates":[[1,2],[1,2],[1,2],[1,2],[1,2],[1,2]]}', 'too many parts'],
    ['{"type":"GeometryCollection","geometries":[]}', 'an empty collection'],
    ['{"type":"GeometryCollection","geometries":[[]]}', 'an array instead of a geometry'],
    ['{"type":"GeometryCollection","coordinates":[1,2]}', 'a collection without geometries'],
    [
      '{"type":"GeometryCollection","geometries":[{"type":"GeometryCollection","geometries":[{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}]}]}',
      'collections beyond the limit',
    ],
  ])('is declined: %s (%s)', (text, _) => {
    expect(scan(text)).toBeDefined()
    expect(readFlat(text)).toBeUndefined()
  })

  it('is closed where 0 meets −0, as after JSON.parse', () => {
    expect(readFlat('{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[-0,-0.0,5]]]}')?.vertices.slice(6)).toEqual(
      Float64Array.of(0, 0),
    )
  })
})

describe('the self-test of the scanner', () => {
  it('passes on the kernel as built, and fails on one that misreads numbers or hashes wrongly', () => {
    expect(() => selfTestScanner(kernel)).not.toThrow()
    expect(() => selfTestScanner({ ...kernel, scanJson: () => 1 })).toThrow('the scanner misreads numbers')
    expect(() => selfTestScanner({ ...kernel, keccakAdd: () => {} })).toThrow('the scanner hashes a geometry wrongly')
  })
})

describe('the keccak-256 of the kernel', () => {
  it('matches another implementation at every length around a block, in pieces of any size', () => {
    const bytes = Uint8Array.from({ length: 700 }, (_, index) => (index * 167) & 255)
    for (const length of [0, 1, 8, 134, 135, 136, 137, 271, 272, 273, 408, 700]) {
      for (const piece of [1, 7, 135, 136, 137, 300, 700]) {
        kernel.release()
        const pointer = kernel.writeText(bytes)
        kernel.keccakStart()
        for (let at = 0; at < length; at += piece) kernel.keccakAdd(pointer + at, Math.min(piece, length - at))
        const digest = kernel.keccakEnd()
        const hash = kernel.views().bytes.toString('hex', digest, digest + 32)
        expect(hash).toBe(Buffer.from(keccak_256(bytes.subarray(0, length))).toString('hex'))
      }
    }
  })
})
