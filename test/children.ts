import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { eventually } from './eventually.ts'

const running = new Set<ChildProcess>()

/**
 * Ends a process when the test file that started it ends (test/end-children.ts), even if a test fails before it stops the process. A
 * process that survives would hold inherited handles, and vitest could not exit.
 *
 * @returns the child
 */
export function endsWithFile<T extends ChildProcess>(child: T): T {
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/** Ends the processes of this test file that still run. */
export async function endChildren(): Promise<void> {
  for (const child of running) child.kill('SIGTERM')
  await eventually(() => {
    if (running.size > 0) throw new Error(`${running.size} processes did not end`)
  }).catch(() => {
    for (const child of running) child.kill('SIGKILL')
  })
}

/** Returns the process ids of the children of a process, oldest first. */
export function childrenOf(pid: number): number[] {
  const statPattern = /^(\d+) \(.*\) \S (\d+)/s
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
        return Number(statPattern.exec(stat)?.[2]) === pid ? [Number(name)] : []
      } catch {
        return [] // it has ended
      }
    })
    .sort((a, b) => a - b)
}
