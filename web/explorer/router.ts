/** Reads and writes the page and its query in the hash of the URL: `#/records?chain=celo`. */

export const PAGE_NAMES = ['compute', 'proof', 'records', 'status'] as const
export type PageName = (typeof PAGE_NAMES)[number]

export interface Route {
  readonly page: PageName
  readonly query: URLSearchParams
}

export function readRoute(hash: string): Route {
  const [, name = '', query = ''] = /^#\/?([a-z]*)(?:\?(.*))?$/.exec(hash) ?? []
  const page = PAGE_NAMES.find((candidate) => candidate === name) ?? 'compute'
  return { page, query: new URLSearchParams(query) }
}

export function hashOf({ page, query }: Route): string {
  const text = query.toString()
  return `#/${page}${text === '' ? '' : `?${text}`}`
}

/** Writes the query of the current page into the URL without adding a history entry. */
export function noteQuery(page: PageName, query: URLSearchParams): void {
  const hash = hashOf({ page, query })
  if (location.hash !== hash) history.replaceState(null, '', hash)
}
