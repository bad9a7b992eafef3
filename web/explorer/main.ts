import type { Issuer } from '../../src/client/answers.ts'
import { createApi } from './api.ts'
import { createComputePage } from './compute/page.ts'
import { h } from './dom.ts'
import { loadEngine } from './kernel.ts'
import type { BaseMap } from './map/base-map.ts'
import type { Page, PageParts } from './page.ts'
import { type PageName, readRoute } from './router.ts'
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
      map ??= import('./map/base-map.ts').then(({ loadBaseMap }) => loadBaseMap(host))
      try {
        const loaded = await map
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
    proof: async () => (await import('./lab/page.ts')).createLabPage(parts),
    records: async () => (await import('./records/page.ts')).createRecordsPage(parts),
    status: async () => (await import('./status/page.ts')).createStatusPage(parts),
  }
  const pages = new Map<PageName, Page>()
  let shown: PageName | undefined
  let lastNavigation = 0

  async function route(): Promise<void> {
    const { page, query } = readRoute(location.hash)
    const navigation = ++lastNavigation
    let next = pages.get(page)
    if (next === undefined) {
      next = await makers[page]()
      pages.set(page, next)
    }
    if (navigation !== lastNavigation) return
    if (shown !== undefined && shown !== page) pages.get(shown)?.leave()
    shown = page
    shell.show(page, next.element)
    next.enter(query)
  }

  shell.mount(root)
  window.addEventListener('hashchange', () => void route())
  void route()
}
