/** The inputs that the items of a chunk name. */
import { problemAt } from '../base/problem.ts'
import { canonicalGeometry } from '../crypto/canonical.ts'
import { utf8 } from '../crypto/hex.ts'
import { readInput } from '../validation/input.ts'
import { parseJsonObject } from '../validation/json-body.ts'
import { nearest } from '../validation/sentences.ts'
import type { NamedInput } from '../wire/batch-messages.ts'
import type { ComputeWorkerData, Input } from '../wire/compute-messages.ts'

/** Finds named inputs. Each is parsed at most once and written as canonical text at most once, however many items need that. */
export class NamedTable {
  readonly #inputs: ReadonlyMap<string, NamedInput>
  readonly #limits: Pick<ComputeWorkerData['limits'], 'maxJsonDepth' | 'maxCollectionDepth'>
  readonly #values = new Map<string, unknown>()
  readonly #texts = new Map<string, Uint8Array>()

  constructor(inputs: ReadonlyMap<string, NamedInput>, limits: ComputeWorkerData['limits']) {
    this.#inputs = inputs
    this.#limits = limits
  }

  /** Returns a geometry that was read for the whole batch; undefined for a reference. @throws {ProblemError} for an unknown name */
  shape(name: string, path: Input['path']): NamedInput['shape'] {
    return this.#find(name, path).shape
  }

  /**
   * Returns an input as it was sent.
   *
   * @param path where the item names it
   * @throws {ProblemError} `invalid-input` for an unknown name
   */
  input(name: string, path: Input['path']): Input {
    const named = this.#find(name, path)
    const { maxJsonDepth, maxCollectionDepth } = this.#limits
    const value = this.#values.get(name) ?? Object.values(parseJsonObject(named.json, maxJsonDepth))[0]
    this.#values.set(name, value)
    return readInput(value, path, maxCollectionDepth)
  }

  /** Returns the bytes of which the reference of a geometry is the hash. */
  canonicalText(name: string, path: Input['path']): Uint8Array {
    const known = this.#texts.get(name)
    if (known !== undefined) return known
    const input = this.input(name, path)
    if (input.form !== 'geometry') throw new RangeError(`${name} is not a geometry`)
    const text = utf8(canonicalGeometry(input.geometry))
    this.#texts.set(name, text)
    return text
  }

  #find(name: string, path: Input['path']): NamedInput {
    const found = this.#inputs.get(name)
    if (found !== undefined) return found
    const shown = JSON.stringify(name)
    const near = nearest(name, [...this.#inputs.keys()])
    throw problemAt('invalid-input', [...path, 'named'], `is ${shown}, which "geometries" of the batch does not have`, {
      code: 'unknown-name',
      hint:
        near === undefined ? `add it: "geometries": {${shown}: {"type": …}}` : `did you mean ${JSON.stringify(near)}?`,
    })
  }
}
