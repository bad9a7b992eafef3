import type { SyncStatus } from '../../../src/client/answers.ts'
import { ApiError } from '../../../src/client/client.ts'
import type { Api } from '../api.ts'
import { h, replace, toast } from '../dom.ts'
import { timeUtc, whole } from '../format.ts'
import { icon } from '../icons.ts'

/** The panel of the sync worker, with buttons to start and stop it if the client is allowed to. */
export function createWorkerPanel(api: Api, changed: (status: SyncStatus) => void) {
  const element = h('div', { class: 'stack' })
  return { element, show, showNone }

  function show({ worker, supportedChains, revocationChecks }: SyncStatus): void {
    const isRunning = worker['running'] === true
    const canRead = supportedChains.length > 0
    const last = worker['lastSuccessfulRun']
    const word = isRunning ? 'Running' : canRead ? 'Stopped' : 'No chain is configured'
    const passes = `${whole(Number(worker['successfulRuns'] ?? 0))} succeeded, ${whole(Number(worker['failedRuns'] ?? 0))} failed`
    const revocations = `${whole(revocationChecks.totalRevoked)} found in ${whole(revocationChecks.totalChecked)} checks`
    replace(
      element,
      h(
        'div',
        { class: 'row' },
        h('span', { class: `tag ${isRunning ? 'good' : ''}` }, icon(isRunning ? 'check' : 'skip'), word),
      ),
      h(
        'dl',
        { class: 'facts numeric' },
        h('dt', {}, 'Last successful pass'),
        h('dd', {}, typeof last === 'string' ? timeUtc(Date.parse(last) / 1000) : 'never'),
        h('dt', {}, 'Passes'),
        h('dd', {}, passes),
        h('dt', {}, 'Revocations'),
        h('dd', {}, revocations),
      ),
      canRead
        ? h(
            'div',
            { class: 'row' },
            button(isRunning ? 'Stop reading' : 'Start reading', 'worker', () =>
              api.client.sync.worker(isRunning ? 'stop' : 'start'),
            ),
            button('Read now', 'run', () => api.client.sync.run()),
            button('Check revocations', 'revocations', () => api.client.sync.revocations()),
          )
        : h('p', { class: 'hint' }, 'Set RPC_URL_<chainId> to read records from a chain.'),
    )
  }

  function showNone(error: unknown): void {
    const isForbidden = error instanceof ApiError && error.status === 403
    const words = isForbidden
      ? 'The sync status is available only on the machine of the service, and to addresses in SYNC_ALLOW.'
      : `The sync status is not available: ${error instanceof Error ? error.message : error}`
    replace(element, h('p', { class: 'note' }, words))
  }

  function button(words: string, key: string, ask: () => Promise<{ readonly message: string }>): HTMLElement {
    return h('button', { class: 'button', type: 'button', 'data-key': key, onclick: () => void act(ask) }, words)
  }

  async function act(ask: () => Promise<{ readonly message: string }>): Promise<void> {
    try {
      toast((await ask()).message)
      changed(await api.client.sync.status())
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error))
    }
  }
}
