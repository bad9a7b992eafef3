/** A running read is waited for no longer than this: its connection may be lost. */
const MAX_JOIN_MS = 20

/**
 * Shares one read among all callers that call while another read is running. The shared read starts after their calls, so it
 * sees everything that was committed before them.
 */
export function shareRead<T>(read: () => Promise<T>): () => Promise<T> {
  let next: Promise<T> | undefined
  let running: Promise<unknown> | undefined
  return () => {
    next ??= (running === undefined ? nextTick() : settle(running)).then(() => {
      next = undefined
      const result = read()
      const settled = result.then(
        () => {},
        () => {},
      )
      running = settled
      void settled.then(() => {
        if (running === settled) running = undefined
      })
      return result
    })
    return next
  }
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function settle(running: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_JOIN_MS)
    void running.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
