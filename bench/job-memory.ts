/** Measures the memory of one node on PostgreSQL while 5,000,000 operations are uploaded as a job, computed, and downloaded. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createJob, JOB_ENVIRONMENT, readResults, untilJob, untilStoreOpen } from './job-load.ts'
import { peakMiB, startService } from './service-process.ts'
import { makeStore } from './store-engines.ts'
import { type Marks, printCells, printHeader } from './tables.ts'

const OPERATIONS = 5_000_000
const MAX_MIB = 350

/** Prints and returns the peaks of the resident memory of the whole node. */
export async function measureMemory(marks: Marks): Promise<object> {
  const files = await makeStore('postgres')
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-bench-'))
  const service = await startService(folder, { ...JOB_ENVIRONMENT, ...files.environment })
  try {
    await untilStoreOpen(service)
    const pid = service.child.pid!
    printHeader(['5,000,000 operations, attest=none', 'time', 'peak of the resident memory'])
    const peaks: Record<string, number> = {}
    const measure = async <T>(phase: string, run: () => Promise<T>): Promise<T> => {
      writeFileSync(`/proc/${pid}/clear_refs`, '5') // the peak begins again
      const beginMs = performance.now()
      const result = await run()
      peaks[phase] = peakMiB(pid)
      printCells([phase, `${Math.round((performance.now() - beginMs) / 1000)} s`, `${peaks[phase]} MiB`])
      return result
    }
    const id = await measure('upload', () => createJob(service, 'none', OPERATIONS))
    await measure('rest of the computation', () => untilJob(service, id, ({ state }) => state === 'done'))
    const { lost, doubled } = await measure('download', () => readResults(service, id, OPERATIONS))
    if (lost + doubled > 0) throw new Error(`${lost} results are lost, and ${doubled} are doubled`)
    const peak = Math.max(...Object.values(peaks))
    marks.add(`memory of a node with a job of 5,000,000: ≤ ${MAX_MIB} MiB`, `${peak} MiB`, peak <= MAX_MIB)
    return peaks
  } finally {
    service.child.kill('SIGTERM')
    await new Promise((resolve) => service.child.once('exit', resolve))
    await files.remove()
    rmSync(folder, { recursive: true })
  }
}
