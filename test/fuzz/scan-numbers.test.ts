import { describe, expect, it } from 'vitest'
import { scanText } from '../../src/geometry/scan.ts'
import { scalarBase64 } from '../../src/wasm/generated/scalar.ts'
import { compileModule, instantiateKernel, loadKernel } from '../../src/wasm/loader.ts'
import { decimalText } from '../decimal-texts.ts'
import { seededRandom } from '../random-geometry.ts'

const LIMITS = { maxJsonDepth: 32, maxVertices: 100 }
/** FUZZ_NUMBERS=2000000 for the full size. */
const pairs = Number(process.env['FUZZ_NUMBERS'] ?? 400_000) / 2

describe.each([
  ['with SIMD', loadKernel()],
  ['without SIMD', instantiateKernel(compileModule(scalarBase64))],
])('numbers read by the kernel %s', (_, kernel) => {
  it(`are the doubles and the spellings that JSON gives, ${2 * pairs} of them, or left to it`, () => {
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
})

function parsed(text: string): [number, number] | undefined {
  try {
    return JSON.parse(text).coordinates
  } catch {
    return undefined
  }
}
