/** Waits; ends at once, with the signal's reason, when the signal comes. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, refuse) => {
    const onAbort = () => {
      clearTimeout(timer)
      refuse(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      done()
    }, ms)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}
