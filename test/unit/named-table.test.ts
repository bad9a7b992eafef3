import { describe, expect, it } from 'vitest'
import { unpack } from '../../src/base/bytes.ts'
import { createEngine } from '../../src/compute/engine.ts'
import { runPrepareTask } from '../../src/compute/stored-shape.ts'
import { canonicalGeometry } from '../../src/crypto/canonical.ts'
import type { NamedInput } from '../../src/wire/batch-messages.ts'
import { engine, limits, runChunk } from '../chunk-runner.ts'
import { EIFFEL_TOWER, SQUARE } from '../fixtures.ts'

const ITEMS = 256
const SALT = `0x${'5a'.repeat(32)}`

/** A table with one name, which counts how often its JSON is read. */
function tableOf(input: object) {
  const bytes = Buffer.from(JSON.stringify({ zone: input }))
  const prepared = runPrepareTask({ type: 'prepare', source: 'named', bytes }, createEngine(limits), limits)
  const shape = prepared.type === 'prepared' ? prepared.shape : undefined
  let parses = 0
  const zone: NamedInput = {
    get json() {
      parses++
      return bytes
    },
    shape,
  }
  return { named: new Map([['zone', zone]]), parses: () => parses }
}

/** Runs items of one chunk. @returns their results, and the vertices that they are charged for */
function run(items: readonly object[], named: ReadonlyMap<string, NamedInput>) {
  const before = engine.counts!.vertices
  const { texts, unfinished } = runChunk(items, { attest: 'none', named })
  expect([...unfinished.values()]).toEqual([])
  const results = items.map((_, index) => JSON.parse(Buffer.from(unpack(texts, index)).toString().slice(0, -1)))
  return { results, vertices: engine.counts!.vertices - before }
}

describe('an input that many items of a chunk name', () => {
  const feature = { type: 'Feature', properties: {}, geometry: SQUARE }

  it('is not parsed for items that use it as it was read', () => {
    const { named, parses } = tableOf(feature)
    const items = Array(ITEMS).fill({ op: 'contains', container: { named: 'zone' }, containee: EIFFEL_TOWER })
    expect(run(items, named)).toMatchObject({ results: { length: ITEMS }, vertices: ITEMS })
    expect(parses()).toBe(0)
  })

  // Regression: each item parsed it again, and was charged for its vertices.
  it('is parsed once for all items that salt it, and its vertices are not charged again', () => {
    const { named, parses } = tableOf(feature)
    const container = { input: { named: 'zone' }, salt: SALT }
    const { results, vertices } = run(Array(ITEMS).fill({ op: 'contains', container, containee: EIFFEL_TOWER }), named)
    // keccak-256 of the canonical text and the salt, as docs/private-inputs.md says.
    const text = Buffer.concat([Buffer.from(canonicalGeometry(SQUARE)), Buffer.from(SALT.slice(2), 'hex')])
    const ref = engine.keccak.hashHex(text)
    expect(new Set(results.map(({ result, inputRefs }) => `${result} ${inputRefs[0]}`))).toEqual(
      new Set([`true ${ref}`]),
    )
    expect([parses(), vertices]).toEqual([1, ITEMS])
  })

  it('is parsed once for all items that repair it, which are charged for its vertices', () => {
    const { named, parses } = tableOf(feature)
    const geometry = { named: 'zone' }
    const items = Array.from({ length: ITEMS }, (_, index) => ({
      op: 'repair',
      geometry: index % 2 === 0 ? geometry : { input: geometry, salt: SALT },
    }))
    const { results, vertices } = run(items, named)
    expect(new Set(results.map(({ inputRefs }) => inputRefs[0])).size).toBe(2)
    expect(parses()).toBe(1)
    expect(vertices).toBeGreaterThanOrEqual(ITEMS * SQUARE.coordinates[0]!.length)
  })

  it('is parsed once if it names an attestation, which no salt can hide', () => {
    const { named, parses } = tableOf({ uid: `0x${'1'.repeat(64)}` })
    const container = { input: { named: 'zone' }, salt: 'random' }
    const { unfinished } = runChunk(Array(3).fill({ op: 'contains', container, containee: EIFFEL_TOWER }), { named })
    expect([...unfinished.values()].map(({ result }) => result)).toMatchObject(
      Array(3).fill({ type: 'problem', problem: { invalidParts: [{ code: 'salted-attestation' }] } }),
    )
    expect(parses()).toBe(1)
  })
})
