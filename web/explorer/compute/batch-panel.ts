/** Computes the current operation for each row of a file: a dropped or chosen file, a stream of results, a table, downloads. */
import type { BatchOperation } from '../../../src/client/batch.ts'
import type { BatchResult } from '../../../src/types/generated.ts'
import type { Api } from '../api.ts'
import { announce, download, h, replace, toast } from '../dom.ts'
import { whole } from '../format.ts'
import { icon } from '../icons.ts'
import { problemView } from '../problem-view.ts'
import { type BatchRow, problemOf, readBatchFile, writeCsv, writeGeoJson } from './batch-file.ts'
import { measureOf } from './readout.ts'
import { bodyOf, isComplete, type RequestDraft, takesTwo, WORDS } from './request-draft.ts'

export interface BatchPanelParts {
  readonly api: Api
  draft(): RequestDraft
  /** Draws the rows on the map; a row without a result has undefined in its place. */
  draw(rows: readonly BatchRow[], results: readonly (BatchResult | undefined)[]): void
  /** Shows all rows on the map. */
  showRows(rows: readonly BatchRow[]): void
}

/** Rows in the table; the downloads have all. */
const SHOWN_ROWS = 100

export function createBatchPanel({ api, draft, draw, showRows }: BatchPanelParts) {
  const input = h('input', {
    type: 'file',
    id: 'batch-file',
    class: 'sr-only',
    accept: '.csv,.tsv,.txt,.json,.geojson',
    onchange: () => {
      const [file] = input.files ?? []
      if (file !== undefined) void open(file)
      input.value = '' // so that the same file can be chosen again
    },
  })
  const invitation = h(
    'div',
    { class: 'row between' },
    h('p', { class: 'hint' }, 'Drop a CSV or GeoJSON file on the map to compute a result for each row.'),
    h('label', { class: 'button small file-button' }, input, 'Choose a file'),
  )
  const body = h('div', { class: 'stack', hidden: true })
  const element = h(
    'section',
    { class: 'panel batch', 'aria-label': 'Many at once' },
    h('h2', { class: 'eyebrow' }, 'Many at once'),
    invitation,
    body,
  )
  let name = ''
  let rows: readonly BatchRow[] = []
  let results: (BatchResult | undefined)[] = []
  /** The request that produced the results. */
  let computed: RequestDraft | undefined
  let running: AbortController | undefined
  let error: unknown
  let frame = 0
  let shownOperation: RequestDraft['operation'] | undefined

  return {
    element,
    open,
    redraw: () => draw(rows, results),
    /** Call this when the request has changed. The panel names its operation. */
    requestChanged: () => {
      if (rows.length > 0 && draft().operation !== shownOperation) show()
    },
  }

  async function open(file: File): Promise<void> {
    close()
    const read = readBatchFile(await file.text())
    body.hidden = false
    if (!read.ok) {
      replace(body, h('p', { class: 'note bad', role: 'alert' }, h('strong', {}, `${file.name}. `), read.reason))
      return
    }
    name = file.name
    rows = read.rows
    results = rows.map(() => undefined)
    showRows(rows)
    show()
    body.scrollIntoView({ block: 'nearest' })
    announce(`${file.name} has ${rows.length} rows`)
  }

  async function run(): Promise<void> {
    if (!isComplete(draft())) {
      toast('B is not set')
      return
    }
    const controller = new AbortController()
    running = controller
    computed = draft()
    error = undefined
    results = rows.map(() => undefined)
    show()
    try {
      const options = { chainId: computed.chainId, signal: controller.signal }
      for await (const result of api.client.batch.stream(items(rows, computed), options)) {
        if (running !== controller) return // stopped, or another file was opened
        results[Number(result.id)] = result
        later()
      }
    } catch (thrown) {
      if (!controller.signal.aborted) error = thrown
    }
    if (running !== controller) return
    running = undefined
    show()
    announce(`${done()} of ${rows.length} rows are computed`)
  }

  function close(): void {
    running?.abort()
    running = undefined
    rows = []
    results = []
    computed = undefined
    error = undefined
    body.hidden = true
    replace(body)
    draw(rows, results)
  }

  function done(): number {
    return results.filter((result) => result !== undefined).length
  }

  function later(): void {
    if (frame !== 0) return
    frame = requestAnimationFrame(() => {
      frame = 0
      show()
    })
  }

  function show(): void {
    shownOperation = draft().operation
    draw(rows, results)
    const usable = rows.filter(({ geometry }) => geometry !== undefined).length
    const failed = rows.filter((row, index) => problemOf(row, results[index]) !== undefined).length
    const count = done()
    const isDone = running === undefined && count > 0
    replace(
      body,
      h(
        'div',
        { class: 'row between' },
        h(
          'p',
          {},
          h('strong', {}, name),
          ` · ${rowsText(rows.length)}`,
          failed > 0 && `, ${whole(failed)} with a problem`,
        ),
        h(
          'button',
          {
            class: 'icon-button',
            type: 'button',
            'aria-label': 'Close the file',
            title: 'Close the file',
            'data-key': 'batch-close',
            onclick: close,
          },
          icon('cross'),
        ),
      ),
      h('p', { class: 'hint' }, explanation(usable)),
      running !== undefined && progress(count, usable),
      error !== undefined && problemView(error),
      h('div', { class: 'row' }, buttons(usable, isDone)),
      count > 0 || failed > 0 ? resultTable(rows, results, computed) : undefined,
    )
  }

  function explanation(usable: number): string {
    const { operation } = computed ?? draft()
    const isTwo = takesTwo(operation)
    const what = `${WORDS[operation].title}: each row takes the place of A${isTwo ? ', and B stays' : ''}.`
    return computed === undefined ? `${what} Each result is signed, and counts as one request: ${whole(usable)}.` : what
  }

  function progress(count: number, usable: number): HTMLElement {
    const label = `${whole(count)} of ${whole(usable)} rows`
    return h(
      'div',
      { class: 'batch-progress' },
      h('progress', { max: usable, value: count, 'aria-label': 'Computed rows' }),
      h('span', { class: 'numeric' }, label),
    )
  }

  function buttons(usable: number, isDone: boolean): HTMLElement[] {
    const button = (label: string, key: string, act: () => void, className = 'button small') =>
      h('button', { class: className, type: 'button', 'data-key': key, onclick: act }, label)
    if (running !== undefined) {
      const stop = () => {
        running?.abort()
        running = undefined
        show()
      }
      return [button('Stop', 'batch-run', stop)]
    }
    const base = name.replace(/\.[^.]*$/, '')
    const saves = [
      button('Download CSV', 'batch-csv', () => download(`${base}-results.csv`, writeCsv(rows, results), 'text/csv')),
      button('Download GeoJSON', 'batch-json', () =>
        download(`${base}-results.geojson`, writeGeoJson(rows, results), 'application/geo+json'),
      ),
    ]
    const label = isDone ? 'Compute again' : `Compute ${rowsText(usable)}`
    const start = button(label, 'batch-run', () => void run(), `button small${isDone ? '' : ' primary'}`)
    return [...(usable > 0 ? [start] : []), ...(isDone ? saves : [])]
  }
}

function rowsText(count: number): string {
  return `${whole(count)} ${count === 1 ? 'row' : 'rows'}`
}

/** @param request the request that the results answer */
function resultTable(
  rows: readonly BatchRow[],
  results: readonly (BatchResult | undefined)[],
  request: RequestDraft | undefined,
): HTMLElement {
  const lines = rows.slice(0, SHOWN_ROWS).map((row, index) => {
    const result = results[index]
    const problem = problemOf(row, result)
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, row.name),
      h('td', { class: problem === undefined ? 'numeric' : 'batch-problem' }, problem ?? resultText(result, request)),
    )
  })
  return h(
    'div',
    { class: 'table-scroll', tabindex: 0, role: 'region', 'aria-label': 'Results of the file' },
    h(
      'table',
      { class: 'table batch-table' },
      h(
        'caption',
        { class: rows.length > SHOWN_ROWS ? 'hint' : 'sr-only' },
        rows.length > SHOWN_ROWS ? `The first ${SHOWN_ROWS} rows; the downloads have all.` : 'Results of the file',
      ),
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Row'), h('th', { scope: 'col' }, 'Result'))),
      h('tbody', {}, lines),
    ),
  )
}

function resultText(result: BatchResult | undefined, request: RequestDraft | undefined): string {
  if (result?.result === undefined || request === undefined) return '…'
  if (typeof result.result === 'boolean') return result.result ? 'True' : 'False'
  const { value, unit } = measureOf(request, result.result)
  return `${value} ${unit}`
}

/** Returns an operation for each row with a geometry; the geometry replaces input A. */
function* items(rows: readonly BatchRow[], request: RequestDraft): Generator<BatchOperation> {
  for (const [id, { geometry }] of rows.entries()) {
    if (geometry === undefined) continue
    const members = bodyOf({ ...request, a: geometry })
    yield { ...members, op: request.operation, id } as unknown as BatchOperation
  }
}
