import type { Config } from '../../config/config.ts'
import type { Terminal } from '../terminal.ts'

/** The outcome of one check. */
export interface Finding {
  /** `skip`: there was nothing to check. */
  readonly status: 'ok' | 'warn' | 'fail' | 'skip'
  readonly detail: string
  /** How to fix it. Present with `warn` and `fail`. */
  readonly remedy?: string
}

export interface DoctorParts {
  readonly config: Config
  readonly terminal: Terminal
}

export interface Check {
  readonly id: string
  run(parts: DoctorParts): Finding | Promise<Finding>
}

export const ok = (detail: string): Finding => ({ status: 'ok', detail })
export const skip = (detail: string): Finding => ({ status: 'skip', detail })
export const warn = (detail: string, remedy: string): Finding => ({ status: 'warn', detail, remedy })
export const fail = (detail: string, remedy: string): Finding => ({ status: 'fail', detail, remedy })
