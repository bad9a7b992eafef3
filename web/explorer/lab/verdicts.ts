/** Shows the verdicts of the service on a proof: four dimensions, and every check of every stamp. */
import { clip, visibleText } from '../../../src/base/text.ts'
import type { EvidenceCheck, StampResult, VerifyProofResponse } from '../../../src/types/generated.ts'
import { h } from '../dom.ts'
import { decimal, shortMeters } from '../format.ts'
import { icon } from '../icons.ts'

/** Longest reason, which may quote a stamp. */
const MAX_REASON = 400

export function dimensionCards({ credibility }: VerifyProofResponse): HTMLElement {
  const { spatial, temporal, validity, independence } = credibility.dimensions
  const { extensions } = credibility
  return h(
    'div',
    { class: 'dimensions' },
    card('Distance', shortMeters(spatial.meanDistanceMeters), 'from the claim on average', [
      line('farthest', shortMeters(spatial.maxDistanceMeters)),
      share('within the radius', spatial.withinRadiusFraction),
    ]),
    card('Time', percent(temporal.meanOverlap), 'overlap on average', [
      line('least', percent(temporal.minOverlap)),
      share('fully inside', temporal.fullyOverlappingFraction),
    ]),
    card(
      'Validity',
      percent(
        Math.min(validity.signaturesValidFraction, validity.structureValidFraction, validity.signalsConsistentFraction),
      ),
      'in the weakest check',
      [
        share('signature valid', validity.signaturesValidFraction),
        share('well-formed', validity.structureValidFraction),
        share('signals agree', validity.signalsConsistentFraction),
      ],
    ),
    card(
      'Independence',
      String(independence.pluginNames.length),
      independence.pluginNames.length === 1 ? 'kind of evidence' : 'kinds of evidence',
      [
        line('signers', String(extensions.distinctSigners)),
        share('different kinds', independence.uniquePluginRatio),
        share('agree in position', independence.spatialAgreement),
      ],
    ),
  )
}

/** Returns five tags and a fold with every check, its measured value and its limit. */
export function stampVerdict(result: StampResult): HTMLElement[] {
  const { signaturesValid, structureValid, signalsConsistent, withinRadius, distanceMeters, temporalOverlap, details } =
    result
  const checks = [...details.structure, ...details.checks]
  const failed =
    checks.filter(({ ok, severity }) => !ok && severity === 'fail').length +
    details.signatures.filter(({ ok }) => !ok).length
  return [
    h(
      'div',
      { class: 'row tags' },
      tag(signaturesValid, 'Signature valid', 'No valid signature'),
      tag(structureValid, 'Well-formed', 'Malformed'),
      tag(signalsConsistent, 'Signals agree', 'Signals disagree'),
      tag(withinRadius, `${shortMeters(distanceMeters)} away`, `${shortMeters(distanceMeters)} away, outside`),
      tag(temporalOverlap > 0, `${percent(temporalOverlap)} overlap in time`, 'No overlap in time'),
    ),
    h(
      'details',
      { class: 'fold' },
      h(
        'summary',
        {},
        'Every check',
        h(
          'span',
          { class: 'tail' },
          failed > 0
            ? `${failed} of ${checks.length + details.signatures.length} fail`
            : `all ${checks.length + details.signatures.length}`,
        ),
      ),
      h(
        'ul',
        { class: 'checks' },
        details.signatures.map(({ index, ok, reason }) =>
          checkItem(`signature ${index + 1}`, ok ? 'pass' : 'fail', reason),
        ),
        details.signatures.length === 0 && checkItem('signatures', 'fail', 'the stamp has no signature'),
        checks.map((check) =>
          checkItem(check.id, check.ok ? 'pass' : check.severity === 'fail' ? 'fail' : 'skip', measured(check)),
        ),
      ),
    ),
  ]
}

function checkItem(name: string, status: 'pass' | 'fail' | 'skip', text: string): HTMLElement {
  const word = status === 'pass' ? 'holds' : status === 'fail' ? 'fails' : 'is unusual'
  return h(
    'li',
    { class: `check ${status}` },
    icon(status === 'pass' ? 'check' : status === 'fail' ? 'cross' : 'warn'),
    h('span', { class: 'check-name' }, visibleText(name), h('span', { class: 'sr-only' }, ` ${word}`)),
    h('span', { class: 'check-detail' }, h('bdi', {}, visibleText(clip(text, MAX_REASON)))),
  )
}

function measured({ measured, limit, severity }: EvidenceCheck): string {
  const measuredText =
    measured === null
      ? 'nothing to measure'
      : `measured ${typeof measured === 'number' ? Number(measured.toPrecision(6)) : measured}`
  const limitText = limit === null ? '' : `, limit ${limit}`
  return `${measuredText}${limitText}${severity === 'fail' ? '' : severity === 'warn' ? ' (warning only)' : ' (information only)'}`
}

function card(title: string, figure: string, words: string, lines: readonly HTMLElement[]): HTMLElement {
  return h(
    'section',
    { class: 'dimension', 'aria-label': title },
    h('h3', { class: 'eyebrow' }, title),
    h('p', { class: 'dimension-figure numeric' }, figure, h('span', { class: 'unit' }, ` ${words}`)),
    h('ul', {}, lines),
  )
}

function line(name: string, value: string): HTMLElement {
  return h('li', {}, h('span', {}, name), h('span', { class: 'numeric' }, value))
}

function share(name: string, fraction: number): HTMLElement {
  const fill = h('i')
  fill.style.width = `${fraction * 100}%`
  return h(
    'li',
    { class: 'share' },
    h('span', {}, name),
    h('span', { class: 'numeric' }, percent(fraction)),
    h('span', { class: 'meter', 'aria-hidden': 'true' }, fill),
  )
}

function tag(ok: boolean, good: string, bad: string): HTMLElement {
  return h('span', { class: `tag ${ok ? 'good' : 'bad'}` }, icon(ok ? 'check' : 'cross'), ok ? good : bad)
}

export function percent(fraction: number): string {
  return `${decimal(fraction * 100, fraction === 0 || fraction === 1 || fraction * 100 >= 10 ? 0 : 1)} %`
}
