/** Measures the first call in a new process, which shows the cost of a cold start. */

import { kernelPoleResolver } from '../src/compute/validity.ts'
import { readGeometry } from '../src/geometry/read.ts'
import { intersects } from '../src/topology/intersects.ts'
import { loadKernel } from '../src/wasm/loader.ts'
import { jtsGeometry } from '../test/jts.ts'
import { loadGeos } from './geos-wasm.ts'
import { comb } from './inputs.ts'

const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }

/** Prints the nanoseconds and the result (0 or 1) of the first `intersects` of two combs. */
export async function measureFirstCall(contender: string): Promise<void> {
  const [a, b] = [comb(950, 1), comb(950, -1)]
  const evaluate = await createEvaluation(contender)
  const start = performance.now()
  const result = evaluate()
  console.log(`${1e6 * (performance.now() - start)} ${Number(result)}`)

  async function createEvaluation(name: string): Promise<() => boolean | undefined> {
    if (name === 'jsts') {
      const [jtsA, jtsB] = [jtsGeometry(a), jtsGeometry(b)]
      return () => jtsA.intersects(jtsB)
    }
    if (name === 'geos-wasm') {
      const geos = await loadGeos()
      const [geosA, geosB] = [geos.read(a), geos.read(b)]
      return () => geos.intersects(geosA, geosB)
    }
    const kernel = loadKernel()
    const pole = kernelPoleResolver(kernel)
    const [flatA, flatB] = [readGeometry(a, [], LIMITS), readGeometry(b, [], LIMITS)]
    return () => intersects(flatA, flatB, pole, kernel)
  }
}
