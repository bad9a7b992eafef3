import { ApiError } from '../../src/client/client.ts'
import { h } from './dom.ts'

/** What the service refused, or that it did not answer, with everything it said about place and remedy. */
export function problemView(error: unknown): HTMLElement {
  if (!(error instanceof ApiError)) {
    return h(
      'div',
      { class: 'note bad', role: 'alert' },
      h('p', {}, h('strong', {}, 'No answer. '), error instanceof Error ? error.message : String(error)),
      h('p', {}, 'What is computed in this page goes on; nothing is signed meanwhile.'),
    )
  }
  const { problem, retryAfterSeconds } = error
  const places = (problem.errors ?? []).map(({ pointer, detail, hint }) =>
    h(
      'li',
      {},
      // The whole request is no place.
      pointer === '#' ? undefined : h('span', { class: 'pointer' }, pointer),
      // The first place often says what the whole says.
      problem.detail.endsWith(detail) ? undefined : ` ${detail}`,
      hint === undefined ? undefined : h('span', { class: 'hint' }, ` ${hint}.`),
    ),
  )
  return h(
    'div',
    { class: 'note bad', role: 'alert' },
    h('p', {}, h('strong', {}, `${problem.title} (${problem.status}). `), `${problem.detail}.`),
    places.length > 0 && h('ul', { class: 'stack' }, places),
    retryAfterSeconds !== undefined && h('p', {}, `Try again in ${waitOf(retryAfterSeconds)}.`),
    problem.status === 429 && h('p', {}, '“Requests left”, at the top of this page, takes an API key.'),
    problem.type.startsWith('http') && h('p', {}, h('a', { href: problem.type }, 'What this means')),
  )
}

function waitOf(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`
}
