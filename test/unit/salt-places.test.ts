/** Every place of an input in which a salt may stand: it is hashed, or it is rejected. An answer without it would name a plain hash. */
import { describe, expect, it } from 'vitest'
import { pack, unpack } from '../../src/base/bytes.ts'
import { ProblemError } from '../../src/base/problem.ts'
import { composeItem } from '../../src/cli/batch/feeder.ts'
import { jsonItems, parseLine } from '../../src/cli/inputs/json-source.ts'
import { toInput } from '../../src/client/forms.ts'
import { runSetTask } from '../../src/compute/sets.ts'
import { runPrepareTask } from '../../src/compute/stored-shape.ts'
import { runComputeTask } from '../../src/compute/task.ts'
import { canonicalGeometry } from '../../src/crypto/canonical.ts'
import { utf8 } from '../../src/crypto/hex.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { readBatchEnvelope } from '../../src/validation/batch.ts'
import { readFeatureCollection } from '../../src/validation/set-request.ts'
import type { FeaturesResult, IndexResult, MatchResult } from '../../src/wire/set-messages.ts'
import { engine, limits, runChunk } from '../chunk-runner.ts'

const SALT = `0x${'5a'.repeat(32)}`
const PLACE: Geometry = { type: 'Point', coordinates: [2.2945, 48.8584] }
const OTHER = { type: 'Point', coordinates: [2.3522, 48.8566] }
const SQUARE = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [10, 0],
      [10, 10],
      [0, 0],
    ],
  ],
}
const salted = { ...PLACE, salt: SALT }
const collection = (...geometries: object[]) => ({ type: 'GeometryCollection', geometries })
const feature = (geometry: object, members: object = {}) => ({
  type: 'Feature',
  geometry,
  properties: null,
  ...members,
})

/** Inputs whose salt hides nothing, with its path. */
const MISPLACED: readonly (readonly [input: object, path: string])[] = [
  [salted, 'salt'],
  [{ ...PLACE, salt: null }, 'salt'],
  [{ ...SQUARE, salt: SALT }, 'salt'],
  [feature(PLACE, { salt: SALT }), 'salt'],
  [feature(salted), 'geometry/salt'],
  [feature(collection(PLACE, salted)), 'geometry/geometries/1/salt'],
  [{ ...collection(PLACE), salt: 'random' }, 'salt'],
  [collection(OTHER, salted), 'geometries/1/salt'],
  [collection(OTHER, collection(SQUARE, salted)), 'geometries/1/geometries/1/salt'],
  [{ ...collection(salted), geometry: {} }, 'geometries/0/salt'],
  [{ input: feature(salted), salt: SALT }, 'input/geometry/salt'],
  [{ uid: SALT, salt: SALT }, 'salt'],
  [{ ref: SALT, salt: SALT }, 'salt'],
  [{ named: 'home', salt: SALT }, 'salt'],
  [{ attestation: { sig: {}, signer: '0x', salt: SALT } }, 'attestation/salt'],
  [{ attestation: { sig: { message: {}, salt: SALT }, signer: '0x' } }, 'attestation/sig/salt'],
  [{ verifiedProof: { proof: {}, salt: SALT } }, 'verifiedProof/salt'],
]

const bytesOf = (value: object) => Buffer.from(JSON.stringify(value))
const pointerOf = (problem: {
  readonly invalidParts?: readonly { readonly pointer: string; readonly code?: string }[]
}) => {
  const [part] = problem.invalidParts ?? []
  return [part?.pointer, part?.code]
}
const problemOf = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    if (error instanceof ProblemError) return pointerOf(error.data)
    throw error
  }
  return 'accepted'
}

const computed = (from: object, canScan: boolean) =>
  runComputeTask(
    {
      operation: 'distance',
      body: bytesOf({ chainId: 84532, from, to: OTHER }),
      resolved: [],
      timestampSeconds: 1_700_000_000,
    },
    engine,
    limits,
    { canScan },
  )
const refsOf = (result: ReturnType<typeof computed>): string[] => {
  if (result.type !== 'computed') throw new Error(JSON.stringify(result))
  return JSON.parse(`{${result.members}}`).inputRefs
}

describe('a salt that would hide nothing is rejected', () => {
  it.each(MISPLACED)('in a request: %j', (from, path) => {
    for (const canScan of [true, false]) {
      const result = computed(from, canScan)
      expect(result.type).toBe('problem')
      if (result.type === 'problem') expect(pointerOf(result.problem)).toEqual([`#/from/${path}`, 'salt-without-input'])
    }
  })

  it.each(MISPLACED)('in an item of a batch: %j', (from, path) => {
    for (const attest of ['each', 'none'] as const) {
      const { unfinished } = runChunk([{ op: 'distance', from, to: OTHER }], { attest })
      const result = unfinished.get(0)?.result
      expect(result?.type).toBe('problem')
      if (result?.type === 'problem')
        expect(pointerOf(result.problem)).toEqual([`#/items/0/from/${path}`, 'salt-without-input'])
    }
  })

  it.each(MISPLACED)('in a table of names: %j', (input, path) => {
    const result = runPrepareTask({ type: 'prepare', source: 'named', bytes: bytesOf({ home: input }) }, engine, limits)
    expect(result.type).toBe('problem')
    if (result.type === 'problem')
      expect(pointerOf(result.problem)).toEqual([`#/geometries/home/${path}`, 'salt-without-input'])
  })

  it.each(MISPLACED)('in the client and on the command line: %j', (from) => {
    expect(() => toInput(from as never)).toThrow(/salt/)
    const rule = { operation: 'distance', fixed: { to: OTHER }, radius: undefined, pattern: undefined } as const
    const lines = 'ref' in from || 'named' in from ? [{ from }] : [from, { from }]
    for (const value of lines)
      expect(composeItem({ place: '', value }, 1, { ...rule, parameters: {} } as never)).toEqual({
        fault: expect.stringMatching(/salt/),
      })
  })

  const stored = [
    ...MISPLACED,
    [{ input: PLACE, salt: SALT }, 'salt'],
    [{ input: PLACE, salt: 'random' }, 'salt'],
  ] as const

  it.each(stored.filter(([input]) => 'type' in input || 'salt' in input))(
    'in a geometry to store: %j',
    (input, path) => {
      const bytes = bytesOf({ geometry: input })
      const result = runPrepareTask({ type: 'prepare', source: 'request', bytes }, engine, limits)
      expect(result.type).toBe('problem')
      const pointer = 'input' in input ? '#/geometry/salt' : `#/geometry/${path}`
      if (result.type === 'problem') expect(pointerOf(result.problem)).toEqual([pointer, 'salt-without-input'])
    },
  )

  it.each(MISPLACED.filter(([input]) => 'type' in input))('in a feature or a point of a set: %j', (input, path) => {
    const lines = pack([bytesOf(input)])
    const read = runSetTask({ type: 'features', lines, first: 0, isRequest: true }, engine, limits) as FeaturesResult
    expect(read.type).toBe('problem')
    if (read.type === 'problem') expect(pointerOf(read.problem)).toEqual([`#/features/0/${path}`, 'salt-without-input'])
    expect(matchProblem(input)).toEqual([`#/${path}`, 'salt-without-input'])
  })

  it('beside a geometry to store, the items of a batch, the features of a set, and in a line of points', () => {
    const bytes = bytesOf({ geometry: PLACE, salt: SALT })
    const result = runPrepareTask({ type: 'prepare', source: 'request', bytes }, engine, limits)
    expect(result).toMatchObject({ type: 'problem', problem: { invalidParts: [{ pointer: '#/salt' }] } })
    const batch = bytesOf({ chainId: 84532, items: [], salt: 'random' })
    expect(problemOf(() => readBatchEnvelope(batch, 32))).toEqual(['#/salt', 'salt-without-input'])
    const envelope = bytesOf({ type: 'FeatureCollection', features: [], salt: 'random' })
    const cut = { envelope, starts: new Uint32Array(), ends: new Uint32Array(), count: 0 }
    const sizes = { maxBatchEnvelopeBytes: 1000, maxJsonDepth: 32 }
    expect(problemOf(() => readFeatureCollection(cut, envelope, sizes))).toEqual(['#/salt', 'salt-without-input'])
    expect(matchProblem({ input: PLACE, salt: SALT })).toEqual(['#/salt', 'salt-without-input'])
  })
})

describe('a file of the command line', () => {
  const readAll = async (text: string) => {
    const values: unknown[] = []
    const texts = (async function* () {
      for (const character of text) yield character
    })()
    for await (const items of jsonItems(texts)) values.push(...items.map(({ value }) => value))
    return values
  }
  const [first, second] = [feature(PLACE), feature(OTHER)]

  it('is rejected if it is a FeatureCollection with a salt', async () => {
    for (const collection of [
      { type: 'FeatureCollection', features: [first, second], salt: 'random' },
      { salt: 'random', type: 'FeatureCollection', features: [first, second] },
      { features: [first], type: 'FeatureCollection', salt: SALT },
    ]) {
      const text = JSON.stringify(collection)
      await expect(readAll(text)).rejects.toThrow(/salt/)
      await expect(readAll(`${JSON.stringify({ input: PLACE, salt: SALT })}\n${text}`)).rejects.toThrow(/salt/)
      expect(parseLine({ text, number: 1 })).toEqual([{ place: 'line 1', fault: expect.stringMatching(/salt/) }])
    }
  })

  it('may have inputs with a salt, and Features with a property of this name', async () => {
    const values = [{ input: PLACE, salt: SALT }, feature(PLACE, { properties: { salt: 'sea' } })]
    const text = values.map((value) => JSON.stringify(value)).join('\n')
    expect(await readAll(`${text}${JSON.stringify({ type: 'FeatureCollection', features: values })}`)).toEqual([
      ...values,
      ...values,
    ])
  })
})

/** Matches a line with a set of one square, signed. */
function matchProblem(line: object) {
  const features = runSetTask(
    { type: 'features', lines: pack([bytesOf(SQUARE)]), first: 0, isRequest: true },
    engine,
    limits,
  ) as Extract<FeaturesResult, { type: 'features' }>
  const { trees } = runSetTask({ type: 'index', features: features.features }, engine, limits) as IndexResult
  const result = runSetTask(
    {
      type: 'match',
      set: { id: 'square', count: 1, features: features.features, trees },
      options: { predicate: 'intersects', withinMeters: undefined, nearest: undefined, properties: 'none', limit: 10 },
      lines: pack([bytesOf(line)]),
      signed: { chainId: 84532, recipient: `0x${'0'.repeat(40)}` },
      timestampSeconds: 1_700_000_000,
    },
    engine,
    limits,
  ) as MatchResult
  const outcome = result.unfinished.get(0)?.outcome
  if (outcome?.type === 'problem') return pointerOf(outcome.problem)
  return Buffer.from(unpack(result.texts, 0)).toString()
}

describe('a salt', () => {
  const hashOf = (salt?: string) =>
    engine.keccak.hashHex(
      Buffer.concat([utf8(canonicalGeometry(PLACE)), Buffer.from(salt === undefined ? '' : salt.slice(2), 'hex')]),
    )

  it('is hashed where it stands beside an input', () => {
    for (const input of [PLACE, feature(PLACE), feature(PLACE, { properties: { salt: 'sea' } })])
      for (const canScan of [true, false])
        expect(refsOf(computed({ input, salt: SALT }, canScan))[0]).toBe(hashOf(SALT))
  })

  it('that is a property of a Feature belongs to the user', () => {
    for (const canScan of [true, false])
      expect(refsOf(computed(feature(PLACE, { properties: { salt: 'sea' } }), canScan))[0]).toBe(hashOf())
    expect(toInput(feature(PLACE, { properties: { salt: 'sea' } }) as never)).toEqual(PLACE)
    const isFeature = feature(SQUARE, { properties: { salt: 'sea' } })
    const read = runSetTask(
      { type: 'features', lines: pack([bytesOf(isFeature)]), first: 0, isRequest: true },
      engine,
      limits,
    ) as FeaturesResult
    expect(read.type).toBe('features')
  })
})
