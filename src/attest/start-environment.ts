import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { SECRETS } from '../config/signing-key.ts'

/** Fields 50 and 51 of /proc/<pid>/stat (proc_pid_stat(5)): where the environment begins and ends in the memory of the process. */
const ENVIRONMENT_START_FIELD = 50
/** The second field, a name in parentheses, may contain spaces; the fields after it begin with the third. */
const FIRST_FIELD_AFTER_NAME = 3

/**
 * Overwrites the key in the environment with which this process was started. Linux shows these bytes as /proc/<pid>/environ for as long
 * as the process runs, whatever the process removes from its environment.
 *
 * @returns false if they cannot be overwritten, or if this is not Linux
 */
export function eraseStartEnvironment(): boolean {
  try {
    const environment = readFileSync('/proc/self/environ')
    if (secretRanges(environment).length === 0) return true
    const stat = readFileSync('/proc/self/stat', 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const startAddress = Number(fields[ENVIRONMENT_START_FIELD - FIRST_FIELD_AFTER_NAME])
    const memory = openSync('/proc/self/mem', 'r+')
    try {
      for (const [from, to] of secretRanges(environment)) {
        writeSync(memory, Buffer.alloc(to - from), 0, to - from, startAddress + from)
      }
    } finally {
      closeSync(memory)
    }
    return secretRanges(readFileSync('/proc/self/environ')).length === 0
  } catch {
    return false
  }
}

/** Returns the ranges of bytes that hold values of secret settings, in a list of `NAME=value` with a zero byte after each. */
function secretRanges(environment: Buffer): (readonly [from: number, to: number])[] {
  const ranges: (readonly [number, number])[] = []
  for (let start = 0; start < environment.length; ) {
    const zero = environment.indexOf(0, start)
    const end = zero < 0 ? environment.length : zero
    const equals = environment.indexOf('=', start)
    if (equals >= 0 && equals + 1 < end && SECRETS.includes(environment.toString('latin1', start, equals))) {
      ranges.push([equals + 1, end])
    }
    start = end + 1
  }
  return ranges
}
