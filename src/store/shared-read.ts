/** A read that takes longer is not waited for: its connection may be lost. */
const MAX_JOIN_MS = 20

/**
 * Lets those share one read who ask while another one is under way: theirs begins after they asked, so it sees whatever was
 * there when they did.
 */
export function sharedRead<T>(read: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined
  let underWay: Promise<unknown> | undefined
  return () => {
    next ??= (underWay === undefined ? turn() : endOf(underWay)).then(() => {
      next = undefined
      const answer = read()
      const ended = answer.then(
        () => {},
        () => {},
      )
      underWay = ended
      void ended.then(() => {
        if (underWay === ended) underWay = undefined
      })
      return answer
    })
    return next
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function endOf(underWay: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_JOIN_MS)
    void underWay.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
