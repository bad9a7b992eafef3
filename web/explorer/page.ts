import type { Issuer } from '../../src/client/answers.ts'
import type { Api } from './api.ts'
import type { Engine } from './kernel.ts'
import type { BaseMap } from './map/base-map.ts'

/** What every page is given. The kernel and the map come later than the page, and perhaps never. */
export interface PageParts {
  readonly api: Api
  readonly engine: Promise<Engine>
  /** The map in this place; there is one for all pages, so it leaves the page that had it. */
  takeMap(slot: HTMLElement): Promise<BaseMap>
  issuer(): Issuer | undefined
}

export interface Page {
  readonly element: HTMLElement
  /** The address changed, or the page is shown again. */
  enter(query: URLSearchParams): void
  leave(): void
}
