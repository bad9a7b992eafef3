import { clip, visibleText } from '../../../src/base/text.ts'
import type { LocationRecord } from '../../../src/types/generated.ts'
import { encodeDraft } from '../compute/share.ts'
import { h } from '../dom.ts'
import { fact, foldedText, foreignText, hexButton } from '../facts.ts'
import { timeUtc, whole } from '../format.ts'
import { icon } from '../icons.ts'
import { goTo } from '../router.ts'
import { explorerAddress, geometryOfRecord, isMadeUp, placeText } from './place.ts'

/** Longest texts before they are cut, in UTF-16 units. */
const MAX_TITLE = 140
const MAX_NAME = 80
const MAX_FACT = 300
const MAX_LOCATION = 8000

/** Shows all fields of one record. Its attester may have written anything into them. */
export function recordDetail(record: LocationRecord, close: () => void): HTMLElement {
  const address = explorerAddress(record)
  const payloads = record.recipe_types.map((type, index) => `${type}: ${bytesOf(record.recipe_payloads[index])}`)
  const media = record.media_types.map((type, index) => `${type}: ${record.media_data[index] ?? ''}`)
  const memo = record.memo ?? ''
  const use = h('button', { class: 'button', type: 'button', onclick: () => void open(record) }, 'Measure from here')
  return h(
    'section',
    { class: 'panel detail', 'aria-label': 'Record' },
    h(
      'div',
      { class: 'row between' },
      h('h2', { class: 'detail-title' }, memo === '' ? 'Record without a memo' : foreignText(memo, MAX_TITLE)),
      h(
        'button',
        {
          class: 'icon-button',
          type: 'button',
          'aria-label': 'Back to the list',
          title: 'Back to the list',
          'data-key': 'close-detail',
          onclick: close,
        },
        icon('cross'),
      ),
    ),
    h('div', { class: 'row' }, stateTags(record)),
    h(
      'dl',
      { class: 'facts' },
      fact('UID', hexButton(record.uid, 'The UID')),
      fact('Chain', record.chain),
      fact('Attested by', hexButton(record.prover, 'The address')),
      fact('Subject', record.subject === record.prover ? 'the same address' : hexButton(record.subject, 'The address')),
      fact('Event time', timeUtc(Date.parse(record.event_timestamp) / 1000)),
      fact('Attested', timeUtc(Date.parse(record.timestamp) / 1000)),
      fact('Location', foreignText(placeText(record), MAX_NAME)),
      // A title shows neither line ends nor the end of a long text.
      (memo.length > MAX_TITLE || memo.includes('\n')) && fact('Memo', foldedText(memo, MAX_FACT, 'Memo')),
      fact('Format', [foreignText(record.location_type, MAX_NAME), ', ', foreignText(record.srs, MAX_NAME)]),
      payloads.length > 0 && fact('Recipe', foldedText(payloads.join('\n'), MAX_FACT, 'Recipe')),
      media.length > 0 && fact('Media', foldedText(media.join('\n'), MAX_FACT, 'Media')),
    ),
    locationBlock(record.location),
    h(
      'div',
      { class: 'row' },
      use,
      address !== undefined &&
        h(
          'a',
          { class: 'button', href: address, rel: 'noreferrer', target: '_blank' },
          'View on easscan',
          icon('external'),
        ),
      h('a', { class: 'button', href: `/api/v0/location-records/${record.uid}` }, 'View as JSON'),
    ),
    isMadeUp(record) &&
      h('p', { class: 'hint' }, 'This is a sample record, created by --sample-records. It is not on any chain.'),
  )
}

/** Returns tags for whether the record is revoked and whether its block is final. */
export function stateTags({ revoked, finalized }: LocationRecord): HTMLElement[] {
  return [
    revoked
      ? h('span', { class: 'tag bad' }, icon('cross'), 'Revoked')
      : h('span', { class: 'tag good' }, icon('check'), 'Valid'),
    h('span', { class: 'tag' }, finalized ? 'Block is final' : 'Block is not known to be final'),
  ]
}

/** Opens the compute page with the geometry of the record as the first input of a distance. */
async function open(record: LocationRecord): Promise<void> {
  const geometry = geometryOfRecord(record)
  if (geometry === undefined) return
  const draft = {
    operation: 'distance' as const,
    a: geometry,
    b: { type: 'Point' as const, coordinates: [6.1432, 46.2044] as [number, number] },
    radiusMeters: 1000,
    chainId: 84532,
    recipient: '',
  }
  goTo({ page: 'compute', query: new URLSearchParams({ s: await encodeDraft(draft) }) })
}

function bytesOf(base64: string | undefined): string {
  try {
    return `${whole(atob(base64 ?? '').length)} bytes`
  } catch {
    return 'not base64'
  }
}

/** Shows the location, with the beginning of a long one. The JSON of the record has all of it. */
function locationBlock(location: string): HTMLElement[] {
  const text = pretty(location)
  const block = h(
    'pre',
    { class: 'code-block location', dir: 'ltr', tabindex: 0, role: 'region', 'aria-label': 'Location' },
    visibleText(clip(text, MAX_LOCATION)),
  )
  if (text.length <= MAX_LOCATION) return [block]
  const words = `The first ${whole(MAX_LOCATION)} of ${whole(text.length)} characters. “View as JSON” shows the whole location.`
  return [block, h('p', { class: 'hint' }, words)]
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 1).replace(/\[\s*(-?[\d.e+-]+),\s*(-?[\d.e+-]+)\s*\]/g, '[$1, $2]')
  } catch {
    return text
  }
}
