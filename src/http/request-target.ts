/** `/path?query`, or the same with a scheme and a host before it, as proxies send it. */
export function splitTarget(target: string): { path: string; query: string } {
  let start = 0
  if (!target.startsWith('/')) {
    const authority = target.indexOf('://')
    const slash = authority < 0 ? -1 : target.indexOf('/', authority + 3)
    if (slash < 0) return { path: authority < 0 ? target : '/', query: '' }
    start = slash
  }
  const mark = target.indexOf('?', start)
  return mark < 0
    ? { path: target.slice(start), query: '' }
    : { path: target.slice(start, mark), query: target.slice(mark + 1) }
}
