/** Misspelt and misplaced options are rejected; what resembles no option is ignored. */
import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { runComputeTask } from '../../src/compute/task.ts'
import { readBatchEnvelope } from '../../src/validation/batch.ts'
import { rejectMisplacedQuery } from '../../src/validation/misplaced-members.ts'
import { readProofRequest } from '../../src/validation/verify-request.ts'
import { engine, limits, runChunk } from '../chunk-runner.ts'
import { proofOf, stampOf } from '../evidence.ts'

const from = { type: 'Point', coordinates: [2.2945, 48.8584] }
const to = { type: 'Point', coordinates: [2.3522, 48.8566] }
const RECIPIENT = `0x${'11'.repeat(20)}`
const IN_OPTIONS = 'send "options": {"submitOnchain": true} in the body'
const IN_INPUT = 'replace each input that is to be hidden by {"input": …, "salt": "random"}'

/** Members, the pointer of the one that is wrong, and the hint. */
const OPTIONS: readonly (readonly [members: object, pointer: string, hint: string])[] = [
  [{ options: { submitOnChain: true } }, '/options/submitOnChain', 'did you mean "submitOnchain"?'],
  [{ options: { submitonchain: false } }, '/options/submitonchain', 'did you mean "submitOnchain"?'],
  [{ options: { submit_onchain: true } }, '/options/submit_onchain', 'did you mean "submitOnchain"?'],
  [{ options: { salt: 'random' } }, '/options/salt', IN_INPUT],
  [{ options: { inputSalts: ['random'] } }, '/options/inputSalts', IN_INPUT],
  [{ options: { recipient: RECIPIENT } }, '/options/recipient', 'send "recipient" beside "options"'],
  [{ options: { schemas: 'x' } }, '/options/schemas', 'send "schema" beside "options"'],
  [{ submitOnchain: true }, '/submitOnchain', IN_OPTIONS],
  [{ submitOnChain: true }, '/submitOnChain', IN_OPTIONS],
  [{ salts: ['random', null] }, '/salts', IN_INPUT],
  [{ salt: 'random' }, '/salt', IN_INPUT],
  [{ Salt: 'random' }, '/Salt', IN_INPUT],
  [{ inputSalts: ['random'] }, '/inputSalts', IN_INPUT],
  [{ recipent: RECIPIENT }, '/recipent', 'did you mean "recipient"?'],
  [{ Recipient: RECIPIENT }, '/Recipient', 'did you mean "recipient"?'],
  [{ Options: { submitOnchain: true } }, '/Options', 'did you mean "options"?'],
]
const OF_REQUESTS: typeof OPTIONS = [
  [{ Schema: 'x' }, '/Schema', 'did you mean "schema"?'],
  [{ chainID: 8453 }, '/chainID', 'did you mean "chainId"?'],
  [{ edge: 'geodesic' }, '/edge', 'did you mean "edges"?'],
  [{ patern: 'T********' }, '/patern', 'did you mean "pattern"?'],
]
/** Members that resemble no option: a client of another version may send them. */
const IGNORED = [
  { extra: 1, name: 'x', altitude: 5, attester: RECIPIENT, crs: {}, note: 'salt', default: 1 },
  { options: { priority: 1, chainId: 1, deadline: 5 } },
  { options: {} },
]

const problemOf = (data: {
  readonly invalidParts?: readonly { readonly pointer: string; readonly hint?: string }[]
}) => [data.invalidParts?.[0]?.pointer, data.invalidParts?.[0]?.hint]
const thrownBy = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    if (error instanceof ProblemError) return problemOf(error.data)
    throw error
  }
  return 'accepted'
}
const compute = (members: object, canScan: boolean) =>
  runComputeTask(
    {
      operation: 'distance',
      body: Buffer.from(JSON.stringify({ chainId: 84532, from, to, ...members })),
      resolved: [],
      timestampSeconds: 1_700_000_000,
    },
    engine,
    limits,
    { canScan },
  )
const runItem = (members: object) =>
  runChunk([{ op: 'distance', from, to, ...members }], { attest: 'each' }).unfinished.get(0)?.result
const readEnvelope = (members: object) =>
  readBatchEnvelope(Buffer.from(JSON.stringify({ chainId: 84532, items: [], ...members })), 32)

describe('a misspelt or misplaced member', () => {
  it.each([...OPTIONS, ...OF_REQUESTS])('of a request is rejected: %j', (members, pointer, hint) => {
    for (const canScan of [true, false]) {
      const result = compute(members, canScan)
      expect(result.type === 'problem' ? problemOf(result.problem) : result.type).toEqual([`#${pointer}`, hint])
    }
  })

  it.each([...OPTIONS, ...OF_REQUESTS])('of an item is rejected: %j', (members, pointer, hint) => {
    const result = runItem(members)
    expect(result?.type === 'problem' ? problemOf(result.problem) : result?.type).toEqual([`#/items/0${pointer}`, hint])
  })

  it.each([
    ...OPTIONS,
    [{ schema: `0x${'1'.repeat(64)}` }, '/schema', 'send it in each item'],
    [{ Attest: 'none' }, '/Attest', 'did you mean "attest"?'],
    [{ sequences: 'same' }, '/sequences', 'did you mean "sequence"?'],
    [{ options: { attest: 'none' } }, '/options/attest', 'send "attest" beside "options"'],
  ] as const)('of a batch or a job is rejected: %j', (members, pointer, hint) => {
    expect(thrownBy(() => readEnvelope(members))).toEqual([`#${pointer}`, hint])
  })

  it.each([
    [{ options: { submitOnChain: true, chainId: 84532 } }, '#/options/submitOnChain', 'did you mean "submitOnchain"?'],
    [{ options: { chainID: 84532 } }, '#/options/chainID', 'did you mean "chainId"?'],
    [{ options: { chainId: 84532, recipent: RECIPIENT } }, '#/options/recipent', 'did you mean "recipient"?'],
    [{ options: { chainId: 84532 }, recipient: RECIPIENT }, '#/recipient', 'send "options": {"recipient": …}'],
    [{ submitOnchain: true, options: { chainId: 84532 } }, '#/submitOnchain', IN_OPTIONS],
  ])('of a request to verify a proof is rejected: %j', (members, pointer, hint) => {
    expect(thrownBy(() => readProofRequest({ proof: proofOf([stampOf()]), ...members }, 8))).toEqual([pointer, hint])
  })

  it.each([
    ['submitOnchain=true', 'submitOnchain', IN_OPTIONS],
    ['x=1&SubmitOnChain=true', 'SubmitOnChain', IN_OPTIONS],
    ['salt=random', 'salt', IN_INPUT],
    ['recipent=0x', 'recipent', 'send "recipient" in the body'],
  ])('of a query is rejected where the body has the parameters: %s', (query, name, hint) => {
    expect(thrownBy(() => rejectMisplacedQuery(query))).toEqual([`#/${name}`, hint])
  })
})

describe('a member that resembles no option', () => {
  it.each(IGNORED)('is ignored: %j', (members) => {
    const { type } = compute({}, true)
    expect(type).toBe('computed')
    for (const canScan of [true, false]) expect(compute(members, canScan)).toEqual(compute({}, canScan))
    expect(runItem(members)).toBeUndefined()
    expect(readEnvelope(members)).toEqual(readEnvelope({}))
    const options = { chainId: 84532, recipient: RECIPIENT, submitOnchain: false, deadline: 1 }
    const proof = proofOf([stampOf()])
    expect(thrownBy(() => readProofRequest({ proof, extra: 1, options }, 8))).toBe('accepted')
    expect(thrownBy(() => readProofRequest({ proof, chainId: 84532 }, 8))).toBe('accepted')
    expect(thrownBy(() => rejectMisplacedQuery('cache=1&v=2&chainId=84532&attest=none'))).toBe('accepted')
  })
})
