import { visibleText } from '../../../src/base/text.ts'
import { ApiError, ConnectionError } from '../../../src/client/client.ts'
import { h } from '../dom.ts'
import { nextMinute } from '../format.ts'
import { problemView } from '../problem-view.ts'

/** Shows an error of the account page. A limit and a missing response say until when, and what to do. */
export function accountProblem(error: unknown): HTMLElement {
  if (error instanceof ConnectionError)
    return h(
      'div',
      { class: 'note bad', role: 'alert' },
      h('strong', {}, 'The service does not respond. '),
      'Check your connection, then try again.',
    )
  if (!(error instanceof ApiError) || error.status !== 429) return problemView(error)
  // The rest of the detail is for programs: where the time is that the next line shows.
  const [reason] = error.problem.detail.split('; ')
  const reset = nextMinute(Date.now() + (error.retryAfterSeconds ?? 60) * 1000)
  const time = reset.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })
  return h(
    'div',
    { class: 'note limit', role: 'status' },
    h('p', {}, h('strong', {}, 'Too many requests for now: '), h('bdi', {}, `${visibleText(reason!)}.`)),
    h('p', {}, 'Try again at ', h('time', { datetime: reset.toISOString(), class: 'numeric' }, time), '.'),
  )
}
