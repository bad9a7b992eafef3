import type { ChildProcess } from 'node:child_process'
import { afterAll } from 'vitest'
import { eventually } from './eventually.ts'

const running = new Set<ChildProcess>()

/**
 * Ends a process with the test file that started it, also when a test fails before it stops the process. What is left running
 * would hold what it inherited, and vitest could not exit.
 *
 * @returns the child
 */
export function endsWithFile<T extends ChildProcess>(child: T): T {
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

afterAll(async () => {
  for (const child of running) child.kill('SIGTERM')
  await eventually(() => {
    if (running.size > 0) throw new Error(`${running.size} processes do not end`)
  }).catch(() => {
    for (const child of running) child.kill('SIGKILL')
  })
})
