import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { judge } from '../src/cross-check/judge.ts'
import type { CrossCheckReply, CrossCheckRequest, Verdict } from '../src/wire/cross-check-messages.ts'

const port = parentPort!
const reply = (message: CrossCheckReply) => port.postMessage(message)

port.on('message', (request: CrossCheckRequest) => {
  if (request.type === 'close') return port.close()
  const startedMs = performance.now()
  const verdict = judgeSafely(request)
  reply({ type: 'verdict', verdict, tookMs: performance.now() - startedMs })
})

// Only this thread: checks may take only what requests leave of the processor.
setPriority(0, 19)
reply({ type: 'ready' })

/** A library that throws has no opinion. */
function judgeSafely({ sample }: Extract<CrossCheckRequest, { type: 'check' }>): Verdict {
  try {
    return judge(sample)
  } catch {
    return { outcome: 'unchecked' }
  }
}
