import { readFileSync } from 'node:fs'

/** Returns the resident memory of a process, as Linux counts it. */
export function residentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}
