import { describe, expect, it } from 'vitest'
import type { RequestDraft } from '../../web/explorer/compute/request-draft.ts'
import { decodeDraft, encodeDraft } from '../../web/explorer/compute/share.ts'
import { readText } from '../../web/explorer/geo/read-text.ts'

const draft: RequestDraft = {
  operation: 'distance',
  a: { type: 'Point', coordinates: [1, 2] },
  b: { uid: `0x${'ab'.repeat(32)}` },
  radiusMeters: 1000,
  chainId: 84532,
  recipient: '',
}

it('decodes to the request that was encoded', async () => {
  expect(await decodeDraft(await encodeDraft(draft))).toEqual(draft)
})

it('decodes to a request whose second input is not set', async () => {
  const unset = { ...draft, b: undefined }
  expect(await decodeDraft(await encodeDraft(unset))).toEqual(unset)
})

it('keeps the reading of edges', async () => {
  const contained: RequestDraft = { ...draft, operation: 'contains', edges: 'geodesic' }
  expect(await decodeDraft(await encodeDraft(contained))).toEqual(contained)
})

it.each([
  ['no first input', { a: null }],
  ['edges of an unknown kind', { edges: 'rhumb' }],
  ['a recipient that contains code', { recipient: "' }); process.exit(); ({ x: '" }],
  ['a recipient that is not a string', { recipient: ['0x'] }],
  ['a geometry without a type', { a: { type: 'Evil' } }],
  ['coordinates of the wrong type', { a: { type: 'Polygon', coordinates: 5 } }],
  ['no input', { b: 7 }],
])('rejects a link with %s', async (_, patch) => {
  const link = await encodeDraft({ ...draft, ...patch } as unknown as RequestDraft)
  expect(await decodeDraft(link)).toBeUndefined()
})

it('rejects a pasted collection without a usable feature', () => {
  expect(readText('{"type":"FeatureCollection","features":[null]}')).toMatchObject({ ok: false })
})

describe('pasted coordinates', () => {
  it.each([', 48.85', '2.29,', '2.29, 48.85,', ',2.29, 48.85', '1, 2\n3,'])(
    'are rejected with a surplus comma: %j',
    (text) => {
      expect(readText(text)).toMatchObject({ ok: false, reason: expect.stringContaining('is not longitude, latitude') })
    },
  )
})
