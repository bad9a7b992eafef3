import type { Kernel } from '../../wasm/loader.ts'
import type { TouchingEdges } from '../layout/build-segments.ts'
import type { Matrix } from '../matrix.ts'
import { type Topology, toGeometry } from './prepared.ts'

export function relateInPlane(first: Topology, second: Topology, _kernel: Kernel | undefined): Matrix | TouchingEdges {
  return { a: toGeometry(first), b: toGeometry(second), edgesOfA: undefined, edgesOfB: undefined }
}
