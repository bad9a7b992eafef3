/** Follows the progress of a job. `EventSource` cannot send an API key, so the stream of events is read with `fetch`. */
import { readLines } from '../../../src/client/lines.ts'
import type { Job } from '../../../src/types/generated.ts'
import type { Api } from '../api.ts'

/** Pause before a stream that broke off is opened again. */
const RETRY_MS = 2000
const DATA = 'data: '

/** Calls `show` with each state of a job until it is final or `signal` aborts. A stream that breaks off is opened again. */
export async function watchJob(api: Api, id: string, show: (job: Job) => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const response = await fetch(`/compute/v0/jobs/${id}/events`, { headers: keyHeader(api), signal })
      if (response.status === 401 || response.status === 404) return // the page reports it when it reads the jobs
      if (response.ok && (await readStates(response, show))) return
    } catch {
      // The service stops, or cannot be reached.
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}

/** @returns true if the last state was final */
async function readStates(response: Response, show: (job: Job) => void): Promise<boolean> {
  let last: Job | undefined
  for await (const line of readLines(piecesOf(response))) {
    if (!line.startsWith(DATA)) continue
    last = JSON.parse(line.slice(DATA.length)) as Job
    show(last)
  }
  return last !== undefined && isFinal(last)
}

async function* piecesOf(response: Response): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = response.body!.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

export function isFinal({ state }: Job): boolean {
  return state === 'done' || state === 'cancelled' || state === 'failed'
}

export function keyHeader({ apiKey }: Api): Record<string, string> {
  return apiKey === '' ? {} : { 'x-api-key': apiKey }
}
