import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { judge } from '../src/cross-check/judge.ts'
import { restMs } from '../src/cross-check/pace.ts'
import type {
  CrossCheckReply,
  CrossCheckRequest,
  CrossCheckWorkerData,
  Verdict,
} from '../src/wire/cross-check-messages.ts'

const port = parentPort!
const { share } = workerData as CrossCheckWorkerData
const reply = (message: CrossCheckReply) => port.postMessage(message)
let restsUntilMs = 0
let rest: NodeJS.Timeout | undefined

port.on('message', (request: CrossCheckRequest) => {
  if (request.type === 'check') rest = setTimeout(check, restsUntilMs - performance.now(), request)
  else {
    clearTimeout(rest)
    port.close()
  }
})

function check(request: Extract<CrossCheckRequest, { type: 'check' }>): void {
  const startedMs = performance.now()
  reply({ type: 'verdict', verdict: judgeSafely(request) })
  const endedMs = performance.now()
  restsUntilMs = endedMs + restMs(endedMs - startedMs, share)
}

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
