import type { Issuer } from '../../src/client/answers.ts'
import type { Api } from './api.ts'
import type { Engine } from './kernel.ts'
import type { BaseMap } from './map/base-map.ts'

/** What every page receives. The kernel and the map load after the page, and loading may fail. */
export interface PageParts {
  readonly api: Api
  readonly engine: Promise<Engine>
  /** Moves the map into this element. All pages share one map, so it disappears from the page that had it. */
  takeMap(slot: HTMLElement): Promise<BaseMap>
  issuer(): Issuer | undefined
}

export interface Page {
  readonly element: HTMLElement
  /** Called when the page is shown, and when the query in its URL changes. */
  enter(query: URLSearchParams): void
  leave(): void
}
