/**
 * Reads and writes the page and its query in the address: `/explore/records?chain=celo`.
 *
 * The query of the compute page holds the whole request, that of the page of gates a zone, and that of the page of receipts a signed
 * answer. So they stand behind `#`, which browsers do not send to the service. Receipts have the shorter address `/verify`.
 */

export const PAGE_NAMES = ['compute', 'jobs', 'proof', 'records', 'status', 'gate', 'account', 'verify'] as const
export type PageName = (typeof PAGE_NAMES)[number]

export interface Route {
  readonly page: PageName
  readonly query: URLSearchParams
}

export function readRoute({ pathname, search, hash }: Pick<Location, 'pathname' | 'search' | 'hash'>): Route {
  // Links of an older version had all of it behind `#`: `#/records?chain=celo`.
  const [isOlder, olderName = '', olderQuery = ''] = /^#\/([a-z]*)(?:\?(.*))?$/.exec(hash) ?? []
  const name = isOlder === undefined ? /^\/(?:explore\/)?([a-z]+)$/.exec(pathname)?.[1] : olderName
  const page = PAGE_NAMES.find((candidate) => candidate === name) ?? 'compute'
  const query = isOlder === undefined ? (isBehindHash(page) ? hash.slice(1) : search) : olderQuery
  return { page, query: new URLSearchParams(query) }
}

export function addressOf({ page, query }: Route): string {
  const text = query.toString()
  const path = page === 'verify' ? '/verify' : `/explore/${page}`
  return `${path}${text === '' ? '' : `${isBehindHash(page) ? '#' : '?'}${text}`}`
}

function isBehindHash(page: PageName): boolean {
  return page === 'compute' || page === 'gate' || page === 'verify'
}

/** Writes the query of the current page into the address without adding a history entry. */
export function noteQuery(page: PageName, query: URLSearchParams): void {
  const address = addressOf({ page, query })
  if (location.pathname + location.search + location.hash !== address) history.replaceState(null, '', address)
}

/** Goes to another page of the explorer, with a history entry. */
export function goTo(route: Route): void {
  history.pushState(null, '', addressOf(route))
  window.dispatchEvent(new PopStateEvent('popstate'))
}
