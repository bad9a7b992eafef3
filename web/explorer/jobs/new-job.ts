/** The form that makes a job from a file, and the upload of the file. */
import type { BatchOperation } from '../../../src/client/batch.ts'
import type { Issuer } from '../../../src/client/client.ts'
import type { Geometry, Job } from '../../../src/types/generated.ts'
import type { Api } from '../api.ts'
import { defaultChainId, FIRST_CHAIN_ID } from '../chains.ts'
import type { BatchRow } from '../compute/batch-file.ts'
import type { PageOperation } from '../compute/request-draft.ts'
import { OPERATION_NAMES, type RequestDraft, takesTwo, WORDS } from '../compute/request-draft.ts'
import { announce, h, replace } from '../dom.ts'
import { whole } from '../format.ts'
import { readText } from '../geo/read-text.ts'
import { problemView } from '../problem-view.ts'
import { type JobFile, operationsOfRows, readJobFile, readOperations } from './job-file.ts'

type Attest = 'none' | 'each' | 'merkle'

const ATTESTS: readonly (readonly [Attest, string])[] = [
  ['none', 'Nothing'],
  ['each', 'Each result'],
  ['merkle', 'One Merkle root'],
]
/** Stands for input A, which each row replaces. */
const NO_GEOMETRY: Geometry = { type: 'Point', coordinates: [0, 0] }
const DEFAULT_RADIUS_METERS = 1000
/** Long, because a piece of an upload has some megabytes and waits for the store. */
const PIECE_TIMEOUT_MS = 120_000
/** Key in the session storage for the last upload that has not ended. */
const UPLOAD_NAME = 'trigpoint-upload'

/** @param created called with the state of the job after each piece of the upload */
export function createNewJob(api: Api, created: (job: Job) => void) {
  const input = h('input', {
    type: 'file',
    id: 'job-file',
    class: 'sr-only',
    accept: '.ndjson,.jsonl,.csv,.tsv,.txt,.json,.geojson',
    onchange: () => {
      const [chosen] = input.files ?? []
      if (chosen !== undefined) void choose(chosen)
      input.value = '' // so that the same file can be chosen again
    },
  })
  const body = h('div', { class: 'stack' })
  const element = h(
    'section',
    { class: 'job-new stack', 'aria-label': 'New job' },
    h('h2', {}, 'New job'),
    h(
      'div',
      { class: 'row between job-drop' },
      h('p', { class: 'hint' }, 'Drop a file here: operations as NDJSON, or rows as CSV or GeoJSON.'),
      h('label', { class: 'button small file-button' }, input, 'Choose a file'),
    ),
    body,
  )
  element.addEventListener('dragover', (event) => event.preventDefault())
  element.addEventListener('drop', (event) => {
    event.preventDefault()
    const [dropped] = event.dataTransfer?.files ?? []
    if (dropped !== undefined) void choose(dropped)
  })
  let file: File | undefined
  let read: JobFile | undefined
  let issuer: Issuer | undefined
  let operation: PageOperation = 'distance'
  let other = ''
  let radius = String(DEFAULT_RADIUS_METERS)
  let attest: Attest = 'none'
  let chainId = FIRST_CHAIN_ID
  let uploading: AbortController | undefined
  let sent = 0
  let error: unknown

  return {
    element,
    showIssuer(loaded: Issuer): void {
      issuer = loaded
      if (file === undefined) chainId = defaultChainId(loaded)
      if (file !== undefined) show()
    },
  }

  async function choose(chosen: File): Promise<void> {
    uploading?.abort()
    uploading = undefined
    error = undefined
    file = chosen
    read = undefined
    show()
    const result = await readJobFile(chosen)
    if (file !== chosen) return
    read = result
    show()
    announce(result.kind === 'none' ? result.reason : `${chosen.name} is read`)
  }

  async function upload(): Promise<void> {
    error = undefined
    const chosen = file!
    const draft = draftOf()
    if (typeof draft === 'string') {
      error = new Error(draft)
      return show()
    }
    const controller = new AbortController()
    uploading = controller
    sent = 0
    show()
    const options = { chainId, attest }
    const name = JSON.stringify([
      chosen.name,
      chosen.size,
      chosen.lastModified,
      options,
      read?.kind === 'rows' && draft,
    ])
    try {
      const job = await api.client.jobs.create(operations(draft), {
        ...options,
        idempotencyKey: uploadKey(name),
        signal: controller.signal,
        timeoutMs: PIECE_TIMEOUT_MS,
        maxRetries: 3,
        onProgress: (state) => {
          if (controller.signal.aborted) return
          sent = state.received
          created(state)
          show()
        },
      })
      sessionStorage.removeItem(UPLOAD_NAME)
      created(job)
      announce(`The job has ${whole(job.received)} operations`)
      if (uploading === controller) file = undefined
    } catch (thrown) {
      if (!controller.signal.aborted) error = thrown
    }
    if (uploading !== controller) return
    uploading = undefined
    show()
  }

  function operations(draft: RequestDraft): Iterable<BatchOperation> | AsyncIterable<BatchOperation> {
    return read?.kind === 'rows' ? operationsOfRows(read.rows, draft) : readOperations(file!)
  }

  /** @returns what is missing, if the form is not complete */
  function draftOf(): RequestDraft | string {
    const draft = { operation, a: NO_GEOMETRY, b: undefined, radiusMeters: Number(radius), chainId, recipient: '' }
    if (read?.kind !== 'rows' || !takesTwo(operation)) return draft
    const b = readText(other)
    if (!b.ok) return `B: ${b.reason}`
    if (operation === 'within' && !(draft.radiusMeters > 0)) return 'The radius must be a number of meters above 0.'
    return { ...draft, b: b.input }
  }

  function show(): void {
    if (file === undefined) {
      replace(body, errorNote())
      return
    }
    replace(
      body,
      h('p', { class: 'job-file' }, h('strong', {}, h('bdi', {}, file.name)), ` · ${about(read)}`),
      read?.kind === 'rows' && uploading === undefined ? rowFields() : undefined,
      read !== undefined && read.kind !== 'none' && uploading === undefined ? commonFields() : undefined,
      uploading === undefined
        ? undefined
        : h('p', { class: 'numeric', role: 'status' }, `${whole(sent)} operations are uploaded …`),
      errorNote(),
      h('div', { class: 'row' }, buttons()),
    )
  }

  function errorNote(): HTMLElement | undefined {
    if (error === undefined) return undefined
    const isOwn = error instanceof Error && error.constructor === Error
    return isOwn ? h('p', { class: 'note bad', role: 'alert' }, (error as Error).message) : problemView(error)
  }

  function buttons(): HTMLElement[] {
    if (read === undefined || read.kind === 'none') return []
    if (uploading === undefined)
      return [
        h(
          'button',
          { class: 'button small primary', type: 'button', 'data-key': 'job-upload', onclick: () => void upload() },
          'Create the job',
        ),
      ]
    const pause = () => {
      uploading?.abort()
      uploading = undefined
      show()
    }
    return [
      h(
        'button',
        { class: 'button small', type: 'button', 'data-key': 'job-upload', onclick: pause },
        'Pause the upload',
      ),
    ]
  }

  function rowFields(): HTMLElement {
    const choice = select(
      'job-operation',
      OPERATION_NAMES.map((name) => [name, WORDS[name].title] as const),
      operation,
      (value) => {
        operation = value as PageOperation
        show()
      },
    )
    const isTwo = takesTwo(operation)
    return h(
      'div',
      { class: 'stack' },
      field('job-operation', 'Operation', choice, `${WORDS[operation].question} Each row is A.`),
      isTwo &&
        field(
          'job-other',
          'B, the same for all rows',
          textInput('job-other', other, (value) => {
            other = value
          }),
          'Coordinates, GeoJSON or WKT',
        ),
      operation === 'within' &&
        field(
          'job-radius',
          'Radius in meters',
          textInput('job-radius', radius, (value) => {
            radius = value
          }),
        ),
    )
  }

  function commonFields(): HTMLElement {
    const chains = (issuer?.chains ?? []).map(
      (chain) => [String(chain.chainId), `${chain.name} (${chain.chainId})`] as const,
    )
    return h(
      'div',
      { class: 'job-options' },
      field(
        'job-attest',
        'What is signed',
        select('job-attest', ATTESTS, attest, (value) => {
          attest = value as Attest
        }),
      ),
      field(
        'job-chain',
        'Chain',
        select('job-chain', chains, String(chainId), (value) => {
          chainId = Number(value)
        }),
      ),
    )
  }
}

function about(read: JobFile | undefined): string {
  if (read === undefined) return 'is being read …'
  if (read.kind === 'none') return read.reason
  if (read.kind === 'lines') return 'one operation on each line'
  const unusable = read.rows.filter((row: BatchRow) => row.geometry === undefined)
  const first = unusable[0]
  const left = first === undefined ? '' : `, ${whole(unusable.length)} left out (${first.name}: ${first.problem})`
  return `${whole(read.rows.length)} rows${left}`
}

/** Returns the idempotency key of an upload. It stays the same until the upload ends, even after a reload, so that it can continue. */
function uploadKey(name: string): string {
  const [lastName, lastKey] = JSON.parse(sessionStorage.getItem(UPLOAD_NAME) ?? '[]') as string[]
  if (lastName === name && lastKey !== undefined) return lastKey
  const key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
  sessionStorage.setItem(UPLOAD_NAME, JSON.stringify([name, key]))
  return key
}

function field(id: string, label: string, control: HTMLElement, hint?: string): HTMLElement {
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    control,
    hint === undefined ? undefined : h('span', { class: 'hint' }, hint),
  )
}

function select(
  id: string,
  options: readonly (readonly [string, string])[],
  value: string,
  changed: (value: string) => void,
): HTMLElement {
  const element = h(
    'select',
    { class: 'select', id, 'data-key': id, onchange: () => changed(element.value) },
    options.map(([name, words]) => h('option', { value: name, selected: name === value }, words)),
  )
  return element
}

function textInput(id: string, value: string, changed: (value: string) => void): HTMLElement {
  const element = h('input', { class: 'input', id, 'data-key': id, value, oninput: () => changed(element.value) })
  return element
}
