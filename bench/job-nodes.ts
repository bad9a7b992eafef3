/** Measures a job of 1,000,000 operations on three nodes with one PostgreSQL, once as it is and once while a node is killed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createJob, JOB_ENVIRONMENT, type Reading, readResults, untilJob, untilStoreOpen } from './job-load.ts'
import { type BenchService, startService } from './service-process.ts'
import { makeStore } from './store-engines.ts'
import { type Marks, printCells, printHeader } from './tables.ts'

const OPERATIONS = 1_000_000
const NODES = 3
const MAX_LONGER_SECONDS = 15
const KEY = 'bench-key-of-all-nodes'

interface Run extends Reading {
  readonly seconds: number
  /** The job had this many results when the node was killed. */
  readonly doneAtKill: number | undefined
}

/** Prints and returns what the kill costs. */
export async function measureKill(marks: Marks): Promise<object> {
  const files = await makeStore('postgres')
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-bench-'))
  const nodes: BenchService[] = []
  try {
    const environment = {
      ...JOB_ENVIRONMENT,
      ...files.environment,
      API_KEYS: JSON.stringify({ [KEY]: { tier: 'internal', label: 'bench' } }),
    }
    for (let number = 0; number < NODES; number++)
      nodes.push({ ...(await startService(join(folder, String(number)), environment)), internalKey: KEY })
    for (const node of nodes) await untilStoreOpen(node)
    printHeader([`1,000,000 operations, ${NODES} nodes`, 'time', 'lost', 'doubled', 'results that changed'])
    const whole = await runJob(nodes, undefined)
    const killed = await runJob(nodes, nodes[NODES - 1])
    for (const [name, { seconds, lost, doubled, doneAtKill }] of Object.entries({ whole, killed })) {
      const title =
        doneAtKill === undefined ? name : `SIGKILL to a node after ${doneAtKill.toLocaleString('en')} results`
      printCells([title, `${seconds.toFixed(1)} s`, String(lost), String(doubled), '0'])
    }
    const longer = killed.seconds - whole.seconds
    marks.add(
      'a node is killed: 0 lost, 0 doubled',
      `${killed.lost}, ${killed.doubled}`,
      killed.lost + killed.doubled === 0,
    )
    marks.add(
      `a node is killed: ≤ ${MAX_LONGER_SECONDS} s longer`,
      `${longer.toFixed(1)} s`,
      longer <= MAX_LONGER_SECONDS,
    )
    return { whole, killed }
  } finally {
    for (const { child } of nodes) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGTERM')
      await new Promise((resolve) => child.once('exit', resolve))
    }
    await files.remove()
    rmSync(folder, { recursive: true })
  }
}

/** Uploads to one node, follows the results at another one, and kills a third one when half of them are there. */
async function runJob([first, second]: readonly BenchService[], victim: BenchService | undefined): Promise<Run> {
  const beginMs = performance.now()
  const id = await createJob(first!, 'none', OPERATIONS)
  const following = readResults(second!, id, OPERATIONS, '?follow=true')
  let doneAtKill: number | undefined
  if (victim !== undefined) {
    const { done } = await untilJob(first!, id, (job) => job.done >= OPERATIONS / 2)
    victim.child.kill('SIGKILL')
    doneAtKill = done
  }
  const reading = await following
  const seconds = (performance.now() - beginMs) / 1000
  // The stored results are those that were read while the job ran: no operation has had two.
  const { digest } = await readResults(first!, id, OPERATIONS)
  if (digest !== reading.digest) throw new Error('results have changed')
  return { ...reading, seconds, doneAtKill }
}
