import type { Issuer } from '../../src/client/answers.ts'
import { loadNoble, loadNobleEd25519 } from '../../src/crypto/noble.ts'
import { createApi } from './api.ts'
import { createComputePage } from './compute/page.ts'
import { h } from './dom.ts'
import { loadEngine } from './kernel.ts'
import type { BaseMap } from './map/base-map.ts'
import type { Page, PageParts } from './page.ts'
import { goTo, noteQuery, type PageName, readRoute } from './router.ts'
import { createShell } from './shell.ts'

const root = document.getElementById('app')
if (root !== null) start(root)

function start(root: HTMLElement): void {
  const api = createApi(location.origin)
  const shell = createShell(api)
  let issuer: Issuer | undefined
  let map: Promise<BaseMap> | undefined
  const host = h('div', { class: 'map-host' })
  const parts: PageParts = {
    api,
    engine: loadEngine(),
    issuer: () => issuer,
    async takeMap(slot) {
      slot.prepend(host)
      if (map === undefined) host.append(h('p', { class: 'map-loading', role: 'status' }, 'The map is loading …'))
      map ??= import('./map/base-map.ts').then(({ loadBaseMap }) => loadBaseMap(host))
      try {
        const loaded = await map
        host.querySelector('.map-loading')?.remove()
        loaded.map.resize()
        return loaded
      } catch (error) {
        host.replaceChildren(
          h(
            'p',
            { class: 'map-failed' },
            'The map needs WebGL, which is not available in this browser. You can enter everything as text instead.',
          ),
        )
        throw error
      }
    },
  }
  parts.engine.catch(() => {}) // each page reports the failure itself
  api.issuer().then(
    (loaded) => {
      issuer = loaded
      document.dispatchEvent(new Event('issuer'))
    },
    () => {}, // requested again when the first response is verified
  )

  const makers: Readonly<Record<PageName, () => Promise<Page>>> = {
    compute: async () => createComputePage(parts),
    jobs: async () => (await import('./jobs/page.ts')).createJobsPage(parts),
    proof: async () => (await import('./lab/page.ts')).createLabPage(parts),
    records: async () => (await import('./records/page.ts')).createRecordsPage(parts),
    status: async () => (await import('./status/page.ts')).createStatusPage(parts),
    gate: async () => (await import('./gate/page.ts')).createGatePage(parts),
    account: async () => (await import('./account/page.ts')).createAccountPage(parts),
    async verify() {
      // The page checks receipts without the network, so it is not shown before all that this needs is loaded.
      const [{ createReceiptPage }] = await Promise.all([
        import('./receipt/page.ts'),
        loadNoble(),
        loadNobleEd25519(),
        parts.engine.catch(() => {}), // the check `recomputed` is then missing
      ])
      return createReceiptPage(parts)
    },
  }
  const pages = new Map<PageName, Page>()
  let shown: PageName | undefined
  let lastNavigation = 0

  async function route(): Promise<void> {
    const { page, query } = readRoute(location)
    if (location.hash.startsWith('#/')) noteQuery(page, query)
    const navigation = ++lastNavigation
    let next = pages.get(page)
    if (next === undefined) {
      if (shown === undefined)
        shell.slot.replaceChildren(h('p', { class: 'page-loading', role: 'status' }, 'The page is loading …'))
      try {
        next = await makers[page]()
      } catch {
        if (navigation === lastNavigation) showFailure()
        return
      }
      pages.set(page, next)
    }
    if (navigation !== lastNavigation) return
    if (shown !== undefined && shown !== page) pages.get(shown)?.leave()
    shown = page
    shell.show(page, next.element)
    next.enter(query)
  }

  /** Shows that the files of a page could not be loaded. */
  function showFailure(): void {
    if (shown !== undefined) pages.get(shown)?.leave()
    shown = undefined
    shell.slot.replaceChildren(
      h(
        'div',
        { class: 'page-loading', role: 'alert' },
        h('p', {}, 'The page could not be loaded. Check the connection to the service.'),
        h('button', { class: 'button', type: 'button', onclick: () => void route() }, 'Try again'),
      ),
    )
  }

  shell.mount(root)
  window.addEventListener('popstate', () => void route())
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[data-page]') : null
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey
    if (link === null || !isPlain) return
    event.preventDefault()
    goTo(readRoute(link))
  })
  void route()
}
