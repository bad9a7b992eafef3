/** The parts of a request target. */
export interface RequestTarget {
  readonly path: string
  /** Without the question mark; empty when there is none. */
  readonly query: string
  /** Host and port of an absolute target, empty when it has none or is no address of http; undefined for a path. */
  readonly authority: string | undefined
}

/** Reads `/path?query`, or the same with a scheme and a host before it, as clients send it to proxies. */
export function splitTarget(target: string): RequestTarget {
  if (target.startsWith('/') || target === '*') return splitPath(target, undefined)
  const [, authority = '', rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target) ?? []
  return splitPath(rest.startsWith('/') ? rest : `/${rest}`, authority)
}

function splitPath(text: string, authority: string | undefined): RequestTarget {
  const mark = text.indexOf('?')
  if (mark < 0) return { path: text, query: '', authority }
  return { path: text.slice(0, mark), query: text.slice(mark + 1), authority }
}
