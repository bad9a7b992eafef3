import { ApiError } from '../../src/client/client.ts'
import { h } from './dom.ts'

/** Shows an error: the problem that the service reported, with pointers and hints, or that no response came. */
export function problemView(error: unknown): HTMLElement {
  if (!(error instanceof ApiError)) {
    return h(
      'div',
      { class: 'note bad', role: 'alert' },
      h('p', {}, h('strong', {}, 'No response. '), error instanceof Error ? error.message : String(error)),
      h('p', {}, 'Previews are still computed in this page, but nothing is signed.'),
    )
  }
  const { problem, retryAfterSeconds } = error
  const items = (problem.errors ?? []).map(({ pointer, detail, hint }) =>
    h(
      'li',
      {},
      // `#` is the whole request, which adds nothing.
      pointer === '#' ? undefined : h('span', { class: 'pointer' }, pointer),
      // The first error often repeats the detail of the problem.
      problem.detail.endsWith(detail) ? undefined : ` ${detail}`,
      hint === undefined ? undefined : h('span', { class: 'hint' }, ` ${hint}.`),
    ),
  )
  return h(
    'div',
    { class: 'note bad', role: 'alert' },
    h('p', {}, h('strong', {}, `${problem.title} (${problem.status}). `), `${problem.detail}.`),
    items.length > 0 && h('ul', { class: 'stack' }, items),
    retryAfterSeconds !== undefined && h('p', {}, `Try again in ${formatWait(retryAfterSeconds)}.`),
    problem.status === 429 &&
      h('p', {}, 'To raise the limit, select “requests left” at the top of this page and enter an API key.'),
    problem.type.startsWith('http') && h('p', {}, h('a', { href: problem.type }, 'What this means')),
  )
}

function formatWait(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`
}
