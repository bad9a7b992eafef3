/** The result in large type. */

import { fromScaledInteger } from '../../../src/base/units.ts'
import { OPERATIONS } from '../../../src/compute/operations.ts'
import { announce, h, replace } from '../dom.ts'
import { areaMeasure, clockUtc, exactMeters, lengthMeasure, type Measure } from '../format.ts'
import { icon } from '../icons.ts'
import { isComplete, type RequestDraft } from './request-draft.ts'
import type { State } from './session.ts'

/** Returns a sentence that states the result. */
export function sentenceOf({ operation, radiusMeters, edges }: RequestDraft, result: number | boolean): string {
  const reading = edges === undefined ? '' : ' with geodesic edges'
  switch (operation) {
    case 'distance':
      return result === 0 ? 'A and B share a point.' : 'between the nearest points of A and B'
    case 'length':
      return 'along the geodesics of A'
    case 'area':
      return 'inside A, on the ellipsoid'
    case 'within':
      return `A is ${result === true ? '' : 'not '}within ${exactMeters(radiusMeters)} of B.`
    case 'contains':
      return `A ${result === true ? 'contains' : 'does not contain'} B${reading}.`
    case 'intersects':
      return `A and B ${result === true ? 'share' : 'do not share'} a point${reading}.`
  }
}

export function measureOf(draft: RequestDraft, result: number): Measure {
  return draft.operation === 'area' ? areaMeasure(result) : lengthMeasure(result)
}

const NO_B = 'B is not set: click the map, draw it or type it.'
const LOADING = 'The program that computes previews in this page is loading.'

export function createReadout(): { element: HTMLElement; show(state: State): void } {
  const figure = h('p', { class: 'figure numeric', id: 'figure' })
  const sentence = h('p', { class: 'sentence' })
  const status = h('div', { class: 'row status' })
  const element = h('section', { class: 'readout', 'aria-label': 'Result' }, status, figure, sentence)
  let said = ''

  return { element, show }

  function show(state: State): void {
    const { draft, response, altered, preview, phase } = state
    const row = OPERATIONS[draft.operation]
    let result: number | boolean | undefined
    if (response !== undefined) result = (altered ?? response).result
    else if (preview?.ok === true) {
      const { result: value } = preview
      result =
        typeof value === 'boolean'
          ? value
          : fromScaledInteger(value, row.result.kind === 'numeric' ? row.result.scale : 1)
    }
    element.dataset['phase'] = phase
    element.dataset['verdict'] = state.verdict === undefined ? 'none' : state.verdict.ok ? 'good' : 'bad'
    const why = isComplete(draft) ? whyNoResult(state) : NO_B
    showFigure(draft, result, why)
    element.setAttribute('aria-busy', String(why === LOADING))
    replace(status, badges(state))
    if (phase === 'signed' && state.verdict !== undefined) {
      const text = `${figure.textContent} ${sentence.textContent} ${state.verdict.ok ? 'Signed, and verified in this browser.' : 'The signature does not hold.'}`
      if (text !== said) announce(text)
      said = text
    }
  }

  function showFigure(draft: RequestDraft, result: number | boolean | undefined, reason: string | undefined): void {
    if (result === undefined) {
      replace(figure, h('span', { class: reason === LOADING ? 'loading' : 'none' }, reason === LOADING ? '' : '–'))
      sentence.textContent = reason ?? 'There is no preview for this request. The service computes the result.'
      return
    }
    if (typeof result === 'boolean') {
      replace(figure, h('span', { class: 'truth' }, result ? 'True' : 'False'))
      sentence.textContent = sentenceOf(draft, result)
      return
    }
    const { value, unit, also } = measureOf(draft, result)
    replace(figure, h('span', { class: 'value' }, value), h('span', { class: 'unit' }, ` ${unit}`))
    sentence.textContent = `${also.join('  ·  ')} ${sentenceOf(draft, result)}`
  }
}

function whyNoResult({ preview, kernel }: State): string | undefined {
  if (preview?.ok === false) return preview.reason
  return kernel === 'loading' ? LOADING : undefined
}

function badges({ phase, response, altered, verdict, preview }: State): HTMLElement[] {
  if (phase === 'rejected') return [h('span', { class: 'tag bad' }, icon('cross'), 'Rejected by the service')]
  if (response === undefined) {
    const time =
      preview?.ok === true
        ? `, computed here in ${preview.milliseconds < 1 ? 'less than 1' : Math.round(preview.milliseconds)} ms`
        : ''
    return [
      h('span', { class: 'tag' }, `Preview, unsigned${time}`),
      phase === 'requesting' ? h('span', { class: 'tag accent' }, 'Requesting …') : undefined,
    ].filter((tag) => tag !== undefined)
  }
  if (verdict === undefined) return [h('span', { class: 'tag accent' }, 'Signed, verifying …')]
  if (!verdict.ok) {
    const why = altered === undefined ? 'Verification failed' : 'Signature broken'
    return [h('span', { class: 'tag bad' }, icon('cross'), why)]
  }
  return [
    h('span', { class: 'tag good' }, icon('check'), 'Signed and verified in your browser'),
    h('span', { class: 'moment' }, h('span', { class: 'words-long' }, 'computed '), clockUtc(response.timestamp)),
  ]
}
