import type { LocationRecord, LocationRecordList } from '../../../src/types/generated.ts'
import { h, replace } from '../dom.ts'
import { foreignText } from '../facts.ts'
import { whole } from '../format.ts'
import { placeText } from './place.ts'

const MAX_TITLE = 140
const MAX_PLACE = 80

/** The table of one page of records. */
export function createTable(choose: (record: LocationRecord) => void, goToOffset: (offset: number) => void) {
  const summary = h('p', { class: 'hint numeric', role: 'status' })
  const body = h('tbody')
  const table = h(
    'table',
    { class: 'table' },
    h('caption', { class: 'sr-only' }, 'Location records, newest first'),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('th', { scope: 'col' }, 'Record and location'),
        h('th', { scope: 'col' }, 'Chain'),
        h('th', { scope: 'col' }, 'Attested'),
      ),
    ),
    body,
  )
  const before = h('button', { class: 'button small', type: 'button' }, 'Newer')
  const after = h('button', { class: 'button small', type: 'button' }, 'Older')
  const element = h(
    'div',
    { class: 'record-list' },
    h('div', { class: 'row between list-head' }, summary, h('div', { class: 'row' }, before, after)),
    table,
  )
  return { element, show, showBusy }

  function showBusy(): void {
    element.setAttribute('aria-busy', 'true')
    if (body.childElementCount === 0) summary.textContent = 'The records are loading …'
  }

  function show({ data, count, limit, offset }: LocationRecordList): void {
    element.removeAttribute('aria-busy')
    summary.textContent =
      count === 0
        ? 'No record matches all filters.'
        : `${whole(offset + 1)}–${whole(offset + data.length)} of ${whole(count)}`
    before.disabled = offset === 0
    after.disabled = offset + data.length >= count
    before.onclick = () => goToOffset(Math.max(0, offset - limit))
    // A page of long records has fewer than were asked for.
    after.onclick = () => goToOffset(offset + data.length)
    replace(body, data.map(row))
    table.hidden = data.length === 0
  }

  function row(record: LocationRecord): HTMLElement {
    const title = foreignText(record.memo ?? record.location_type, MAX_TITLE)
    return h(
      'tr',
      { class: record.revoked ? 'revoked' : undefined },
      h(
        'td',
        {},
        h(
          'button',
          { class: 'row-button', type: 'button', 'data-key': record.uid, onclick: () => choose(record) },
          record.revoked ? h('s', {}, title) : title,
          record.revoked && h('span', { class: 'tag bad' }, 'Revoked'),
        ),
        h('span', { class: 'row-place' }, foreignText(placeText(record), MAX_PLACE)),
      ),
      h('td', {}, record.chain),
      h(
        'td',
        { class: 'numeric' },
        h('time', { datetime: record.timestamp }, record.timestamp.slice(0, 16).replace('T', ' ')),
      ),
    )
  }
}
