/** The page of jobs: a form that makes a job from a file, the list of the key's jobs, and the progress of one of them. */
import { ApiError } from '../../../src/client/client.ts'
import type { Job } from '../../../src/types/generated.ts'
import { h, replace } from '../dom.ts'
import { timeUtc, whole } from '../format.ts'
import type { Page, PageParts } from '../page.ts'
import { problemView } from '../problem-view.ts'
import { goTo } from '../router.ts'
import { createJobPanel, STATE_WORDS } from './job-panel.ts'
import { createNewJob } from './new-job.ts'
import { isFinal } from './watch.ts'

/** Interval at which the list of jobs is read; the job that is shown reports its own progress. */
const EVERY_MS = 5000

export function createJobsPage({ api, issuer }: PageParts): Page {
  const panel = createJobPanel(api, note)
  const form = createNewJob(api, (job) => {
    note(job)
    if (job.id !== chosen) choose(job.id)
  })
  const list = h('div', { class: 'stack' }, h('p', { class: 'hint' }, 'The jobs are loading …'))
  const element = h(
    'div',
    { class: 'page-frame jobs-page', role: 'region', 'aria-label': 'Jobs' },
    h(
      'div',
      { class: 'jobs-head' },
      h('h1', { class: 'page-title' }, 'Jobs'),
      h(
        'p',
        { class: 'lead' },
        'The service keeps a job and computes it in the background, up to millions of operations. You may close this page meanwhile. ',
        h('a', { href: '/docs/guide/jobs' }, 'About jobs'),
      ),
    ),
    h(
      'div',
      { class: 'jobs-columns' },
      h('div', { class: 'stack jobs-left' }, form.element, panel.element),
      h('section', { class: 'stack' }, h('h2', {}, 'Your jobs'), list),
    ),
  )
  let jobs: readonly Job[] = []
  let chosen: string | undefined
  let timer: ReturnType<typeof setInterval> | undefined

  api.onKeyChange(() => {
    jobs = []
    panel.close()
    if (timer !== undefined) void refresh()
  })
  const showIssuer = () => {
    const loaded = issuer()
    if (loaded !== undefined) form.showIssuer(loaded)
  }
  document.addEventListener('issuer', showIssuer)
  showIssuer()

  return {
    element,
    enter(query) {
      const id = query.get('job') ?? undefined
      if (id !== chosen) panel.close()
      chosen = id
      timer ??= setInterval(() => {
        if (!document.hidden) void refresh()
      }, EVERY_MS)
      void refresh()
    },
    leave() {
      clearInterval(timer)
      timer = undefined
      panel.close()
    },
  }

  function choose(id: string): void {
    goTo({ page: 'jobs', query: new URLSearchParams({ job: id }) })
  }

  async function refresh(): Promise<void> {
    const key = api.apiKey
    try {
      const read = await api.client.jobs.list()
      if (key !== api.apiKey) return
      jobs = read
      showList()
      showChosen()
    } catch (error) {
      if (key === api.apiKey) showFailure(error)
    }
  }

  function showChosen(): void {
    if (chosen === undefined || timer === undefined) return
    const job = jobs.find(({ id }) => id === chosen)
    if (job !== undefined) panel.open(job)
    else panel.close()
  }

  /** Puts a new job, or the newer state of a known one, in the list. */
  function note(job: Job): void {
    const isKnown = jobs.some(({ id }) => id === job.id)
    jobs = isKnown ? jobs.map((other) => (other.id === job.id ? job : other)) : [job, ...jobs]
    showList()
  }

  function showFailure(error: unknown): void {
    const needsKey = error instanceof ApiError && error.status === 401
    if (needsKey) panel.close()
    replace(list, needsKey ? keyNote() : problemView(error))
  }

  function showList(): void {
    if (jobs.length === 0) {
      replace(list, h('p', { class: 'hint' }, 'You have no jobs.'))
      return
    }
    replace(
      list,
      h(
        'div',
        { class: 'table-scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of your jobs' },
        h(
          'table',
          { class: 'table jobs-table' },
          h('caption', { class: 'sr-only' }, 'Your jobs, newest first'),
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              ['Job', 'State', 'Computed', 'Created'].map((title) => h('th', { scope: 'col' }, title)),
            ),
          ),
          h('tbody', {}, jobs.map(row)),
        ),
      ),
    )
  }

  function row(job: Job): HTMLElement {
    const [words, tone] = STATE_WORDS[job.state]
    const link = h(
      'a',
      { href: `/explore/jobs?job=${job.id}`, 'data-page': 'jobs', 'data-key': `job-${job.id}`, class: 'mono' },
      job.id.slice(0, 8),
    )
    if (job.id === chosen) link.setAttribute('aria-current', 'true')
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, link),
      h('td', {}, h('span', { class: `tag ${tone}` }, words)),
      h('td', { class: 'numeric' }, computed(job)),
      h('td', { class: 'numeric' }, timeUtc(job.created)),
    )
  }
}

function computed(job: Job): string {
  const { done, total, received } = job
  const of = total ?? received
  if (isFinal(job) || of === 0) return whole(done)
  return `${whole(done)} (${Math.floor((100 * done) / of)} %)`
}

function keyNote(): HTMLElement {
  const openKey = () => document.dispatchEvent(new Event('enterkey'))
  return h(
    'div',
    { class: 'note' },
    h('p', {}, 'Jobs are kept for their owner, so they need an API key.'),
    h(
      'p',
      {},
      h(
        'button',
        { class: 'button small', type: 'button', 'data-key': 'enter-key', onclick: openKey },
        'Enter an API key',
      ),
    ),
  )
}
