import type { ChildProcess } from 'node:child_process'
import { eventually } from './eventually.ts'

const running = new Set<ChildProcess>()

/**
 * Ends a process when the test file that started it ends, even if a test fails before it stops the process. A process that
 * survives would hold inherited handles, and vitest could not exit.
 *
 * @returns the child
 */
export function endsWithFile<T extends ChildProcess>(child: T): T {
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

// The benchmarks start chains with this file too, outside Vitest, and stop them themselves.
if (process.env['VITEST'] !== undefined) {
  const { afterAll } = await import('vitest')
  afterAll(async () => {
    for (const child of running) child.kill('SIGTERM')
    await eventually(() => {
      if (running.size > 0) throw new Error(`${running.size} processes did not end`)
    }).catch(() => {
      for (const child of running) child.kill('SIGKILL')
    })
  })
}
