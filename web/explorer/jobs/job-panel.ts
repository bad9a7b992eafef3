/** Shows one job: its progress, its errors, and the buttons for it. */
import type { Job } from '../../../src/types/generated.ts'
import type { Api } from '../api.ts'
import { announce, download, h, replace, saveBlob, toast } from '../dom.ts'
import { decimal, duration, timeUtc, whole } from '../format.ts'
import { isFinal, keyHeader, watchJob } from './watch.ts'

/** The words for each state, and the colour of its tag. */
export const STATE_WORDS: Readonly<Record<Job['state'], readonly [words: string, tone: string]>> = {
  receiving: ['Receiving', 'accent'],
  queued: ['Queued', 'accent'],
  running: ['Running', 'accent'],
  done: ['Done', 'good'],
  cancelled: ['Cancelled', 'warn'],
  failed: ['Failed', 'bad'],
}

const ATTEST_WORDS = { none: 'none', each: 'each result', merkle: 'one Merkle root' } as const

/** @param changed called with each new state */
export function createJobPanel(api: Api, changed: (job: Job) => void) {
  const element = h('section', { class: 'job-panel stack', 'aria-label': 'The job', hidden: true })
  let job: Job | undefined
  let watching: AbortController | undefined
  let isSaving = false
  let proofNumber = ''

  return { element, open, close }

  /** Shows a job, and follows it until it ends or another one is opened. */
  function open(next: Job): void {
    if (job?.id !== next.id) close()
    show(next)
    if (isFinal(next) || watching !== undefined) return
    const controller = new AbortController()
    watching = controller
    const showState = (state: Job) => {
      if (controller.signal.aborted) return
      show(state)
      changed(state)
      if (isFinal(state)) announce(`The job is ${state.state}`)
    }
    void watchJob(api, next.id, showState, controller.signal)
  }

  function close(): void {
    watching?.abort()
    watching = undefined
    job = undefined
    proofNumber = ''
    element.hidden = true
  }

  function show(next: Job): void {
    job = next
    if (isFinal(next)) watching?.abort()
    const [words, tone] = STATE_WORDS[next.state]
    element.hidden = false
    replace(
      element,
      h(
        'div',
        { class: 'row between' },
        h('h2', { class: 'job-title' }, 'Job ', h('span', { class: 'mono' }, next.id.slice(0, 8))),
        h('span', { class: `tag ${tone}` }, words),
      ),
      progress(next),
      facts(next),
      errorList(next),
      next.reason === undefined ? undefined : h('p', { class: 'note bad' }, `The job failed: ${next.reason}.`),
      next.state === 'receiving' && h('p', { class: 'hint' }, RECEIVING),
      h('div', { class: 'row' }, buttons(next)),
      next.attest === 'merkle' && next.state === 'done' && next.done > next.failed ? proofForm(next) : undefined,
    )
  }

  function buttons(shown: Job): HTMLElement[] {
    const button = (label: string, key: string, act: () => Promise<unknown>, className = 'button small') =>
      h(
        'button',
        { class: className, type: 'button', 'data-key': key, disabled: isSaving, onclick: () => void act() },
        label,
      )
    const label = isSaving ? 'Downloading …' : isFinal(shown) ? 'Download the results' : 'Download the results so far'
    return [
      ...(shown.done > 0 ? [button(label, 'job-results', () => save(shown), 'button small primary')] : []),
      ...(shown.attest === 'merkle' && shown.state === 'done' && shown.done > shown.failed
        ? [button('Download the attestation', 'job-attestation', () => saveAttestation(shown))]
        : []),
      ...(isFinal(shown) ? [] : [button('Cancel the job', 'job-cancel', () => cancel(shown), 'button small danger')]),
    ]
  }

  function proofForm(shown: Job): HTMLElement {
    const input = h('input', {
      class: 'input numeric',
      id: 'proof-number',
      inputmode: 'numeric',
      required: true,
      pattern: '[0-9]+',
      value: proofNumber,
      oninput: () => {
        proofNumber = input.value
      },
    })
    const submit = (event: Event) => {
      event.preventDefault()
      void attempt(async () => {
        const proof = await api.client.jobs.proof(shown.id, Number(input.value))
        download(`job-${shown.id.slice(0, 8)}-proof-${proof.operation}.json`, JSON.stringify(proof))
      })
    }
    return h(
      'form',
      { class: 'row job-proof', onsubmit: submit },
      h('label', { for: 'proof-number' }, `Proof of the result on line (0 to ${whole(shown.done - 1)})`),
      input,
      h('button', { class: 'button small', type: 'submit' }, 'Download the proof'),
    )
  }

  async function save({ id }: Job): Promise<void> {
    isSaving = true
    show(job!)
    await attempt(async () => {
      const response = await fetch(`/compute/v0/jobs/${id}/results`, { headers: keyHeader(api) })
      if (!response.ok) throw new Error(`the results cannot be read (HTTP status ${response.status})`)
      saveBlob(`job-${id.slice(0, 8)}-results.ndjson`, await response.blob())
    })
    isSaving = false
    if (job?.id === id) show(job)
  }

  function saveAttestation({ id }: Job): Promise<void> {
    return attempt(async () => {
      const { submission, ...merkle } = await api.client.jobs.attestation(id)
      download(`job-${id.slice(0, 8)}-attestation.json`, JSON.stringify({ merkle, submission }))
    })
  }

  function cancel({ id }: Job): Promise<void> {
    return attempt(async () => {
      const cancelled = await api.client.jobs.cancel(id)
      if (job?.id === id) show(cancelled)
      changed(cancelled)
    })
  }
}

const RECEIVING =
  'More operations can be added. If the upload broke off, choose the same file with the same options again: it continues where it was.'

async function attempt(act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error))
  }
}

function progress({ done, received, total }: Job): HTMLElement {
  const of = total ?? received
  const words = total === null ? `${whole(done)} of ${whole(received)} so far` : `${whole(done)} of ${whole(total)}`
  return h(
    'div',
    { class: 'batch-progress' },
    h('progress', {
      max: Math.max(1, of),
      value: of === 0 && total !== null ? 1 : done,
      'aria-label': 'Computed operations',
    }),
    h('span', { class: 'numeric' }, words),
  )
}

function facts({
  failed,
  attest,
  chainId,
  ratePerSecond,
  secondsLeft,
  created,
  deletedAfter,
  state,
  submission,
  submissionError,
}: Job): HTMLElement {
  const rows: readonly (readonly [string, string] | undefined)[] = [
    ['With an error', whole(failed)],
    ratePerSecond === null ? undefined : ['Rate', `${decimal(ratePerSecond, ratePerSecond < 10 ? 1 : 0)} operations/s`],
    secondsLeft === null || secondsLeft === 0 ? undefined : ['Time left', duration(secondsLeft)],
    ['Signed', ATTEST_WORDS[attest]],
    chainId === null ? undefined : ['Chain', String(chainId)],
    submission === undefined ? undefined : ['Root on the chain', `${submission.status} ${submission.uid ?? ''}`],
    submissionError === undefined ? undefined : ['Root not submitted', submissionError],
    ['Created', timeUtc(created)],
    ['Kept at least until', state === 'running' ? 'it has ended' : timeUtc(deletedAfter)],
  ]
  return h(
    'dl',
    { class: 'facts numeric' },
    rows.flatMap((row) => (row === undefined ? [] : [h('dt', {}, row[0]), h('dd', {}, row[1])])),
  )
}

function errorList({ errors }: Job): HTMLElement | undefined {
  const entries = Object.entries(errors)
  if (entries.length === 0) return undefined
  const row = ([type, count]: [string, number]) =>
    h('li', {}, h('a', { href: `/errors/${type}` }, type), h('span', { class: 'numeric' }, ` ${whole(count)}`))
  return h(
    'div',
    {},
    h('h3', { class: 'job-subtitle' }, 'Errors by type'),
    h('ul', { class: 'job-errors' }, entries.map(row)),
  )
}
