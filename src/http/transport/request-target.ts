/** The parts of a request target. */
export interface RequestTarget {
  readonly path: string
  /** Without the question mark; empty when there is none. */
  readonly query: string
  /** Host and port of an absolute target, empty if it has none or is not an http URL; undefined for a path. */
  readonly authority: string | undefined
}

/** Parses `/path?query`, or an absolute URL as clients send it to proxies. */
export function splitTarget(target: string): RequestTarget {
  if (target.startsWith('/') || target === '*') return splitPath(target, undefined)
  const [, authority = '', remaining = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target) ?? []
  return splitPath(remaining.startsWith('/') ? remaining : `/${remaining}`, authority)
}

function splitPath(text: string, authority: string | undefined): RequestTarget {
  const queryStart = text.indexOf('?')
  if (queryStart < 0) return { path: text, query: '', authority }
  return { path: text.slice(0, queryStart), query: text.slice(queryStart + 1), authority }
}
