import { visibleText } from '../../src/base/text.ts'
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
  if (problem.status === 429) return limitView(retryAfterSeconds ?? 0)
  const items = (problem.errors ?? []).map(({ pointer, detail, hint }) =>
    h(
      'li',
      {},
      // `#` is the whole request, which adds nothing.
      pointer === '#' ? undefined : h('span', { class: 'pointer' }, pointer),
      // The first error often repeats the detail of the problem.
      problem.detail.endsWith(detail) ? undefined : h('bdi', {}, ` ${visibleText(detail)}`),
      hint === undefined ? undefined : h('span', { class: 'hint' }, ` ${hint}.`),
    ),
  )
  return h(
    'div',
    { class: 'note bad', role: 'alert' },
    h(
      'p',
      {},
      h('strong', {}, `${problem.title} (${problem.status}). `),
      h('bdi', {}, `${visibleText(problem.detail)}.`),
    ),
    items.length > 0 && h('ul', { class: 'stack' }, items),
    retryAfterSeconds !== undefined && h('p', {}, `Try again in ${formatWait(retryAfterSeconds)}.`),
    problem.type.startsWith('http') && h('p', {}, h('a', { href: problem.type }, 'What this means')),
  )
}

/** The limit is no fault of the request, so this is no alarm: it says until when, and what works in the meantime. */
function limitView(waitSeconds: number): HTMLElement {
  const reset = new Date(Date.now() + waitSeconds * 1000)
  const time = reset.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  const openKey = () => document.dispatchEvent(new Event('enterkey'))
  return h(
    'div',
    { class: 'note limit', role: 'status' },
    h(
      'p',
      {},
      'You have used all requests of this hour. The limit resets at ',
      h('time', { datetime: reset.toISOString(), class: 'numeric' }, time),
      '. Previews still work, because this page computes them itself.',
    ),
    h(
      'p',
      {},
      h(
        'button',
        { class: 'button small', type: 'button', 'data-key': 'enter-key', onclick: openKey },
        'Enter an API key',
      ),
      ' for a higher limit.',
    ),
  )
}

function formatWait(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`
}
