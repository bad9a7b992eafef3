import { describe, expect, it } from 'vitest'
import { type Span, scanText } from '../../src/geometry/scan.ts'
import { scalarBase64 } from '../../src/wasm/generated/scalar.ts'
import { compileModule, instantiateKernel, type Kernel, loadKernel } from '../../src/wasm/loader.ts'
import { decimalText, degreesText } from '../decimal-texts.ts'
import { seededRandom } from '../random-geometry.ts'
import { scaled } from '../scale.ts'

const LIMITS = { maxJsonDepth: 32, maxVertices: 100 }
/** Positions in a row. */
const ROW = 20
const pairs = scaled(400_000) / 2

describe.each([
  ['with SIMD', loadKernel()],
  ['without SIMD', instantiateKernel(compileModule(scalarBase64))],
])('numbers read by the kernel %s', (_, kernel) => {
  it(`equal the doubles and spellings of JSON, ${2 * pairs} of them, or are left to the parser`, () => {
    const random = seededRandom(5)
    const seen = { read: 0, declined: 0, refused: 0, canonical: 0, respelled: 0 }
    for (let index = 0; index < pairs; index++) {
      const text = `{"coordinates":[${decimalText(random)},${decimalText(random)}]}`
      const position = parsed(text)
      kernel.release()
      const scanned = scanText(kernel, Buffer.from(text), LIMITS)
      if (position === undefined || Math.abs(position[0]) > 180 || Math.abs(position[1]) > 90) {
        if (scanned !== undefined) throw new Error(`accepted: ${text}`)
        seen.refused++
        continue
      }
      if (scanned === undefined) {
        seen.declined++
        continue
      }
      const span = scanned.spans[0]!
      // + 0 turns −0 into 0.
      if (!Object.is(span.vertices[0], position[0] + 0) || !Object.is(span.vertices[1], position[1] + 0)) {
        throw new Error(`${text} read as ${span.vertices}`)
      }
      seen.read++
      const canonical = JSON.stringify(position)
      if (span.isCanonical) {
        seen.canonical++
        if (`{"coordinates":${canonical}}` !== text) throw new Error(`said to be canonical: ${text}`)
      }
      const pointer = kernel.canonicalText(span.textStart, span.textEnd)
      if (pointer === 0) continue
      seen.respelled++
      const respelled = kernel.views().bytes.toString('latin1', pointer, pointer + kernel.canonicalLength())
      if (respelled !== canonical) throw new Error(`${text} respelled as ${respelled}`)
    }
    console.log(seen)
    expect(seen.read).toBeGreaterThan(pairs / 3)
    expect(seen.declined).toBeLessThan(pairs / 10)
    expect(Math.min(seen.refused, seen.canonical, seen.respelled)).toBeGreaterThan(pairs / 50)
  })

  it(`equal the doubles of JSON in rows of positions too, ${2 * pairs} of them`, () => {
    const random = seededRandom(6)
    const seen = { canonical: 0, other: 0 }
    for (let index = 0; index < pairs / ROW; index++) {
      const positions = Array.from({ length: ROW }, () => `[${degreesText(random, 180)},${degreesText(random, 90)}]`)
      const vertices = scanned(kernel, `[${positions}]`).vertices
      const values = positions.flatMap((position) => JSON.parse(position) as number[])
      values.forEach((value, at) => {
        if (!Object.is(vertices[at], value + 0)) throw new Error(`${positions[at >> 1]} read as ${vertices[at]}`)
      })
      const isCanonical = JSON.stringify(JSON.parse(positions[0]!)) === positions[0]
      seen[isCanonical ? 'canonical' : 'other']++
      if (scanned(kernel, positions[0]!).isCanonical !== isCanonical) throw new Error(`misjudged: ${positions[0]}`)
    }
    console.log(seen)
    expect(Math.min(seen.canonical, seen.other)).toBeGreaterThan(pairs / ROW / 50)
  })
})

function scanned(kernel: Kernel, coordinates: string): Span {
  kernel.release()
  const text = scanText(kernel, Buffer.from(`{"coordinates":${coordinates}}`), LIMITS)
  if (text === undefined) throw new Error(`declined: ${coordinates}`)
  return text.spans[0]!
}

function parsed(text: string): [number, number] | undefined {
  try {
    return JSON.parse(text).coordinates
  } catch {
    return undefined
  }
}
