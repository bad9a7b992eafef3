import type { EvidenceCheck } from '../types/generated.ts'

export type Severity = EvidenceCheck['severity']
export type Measured = EvidenceCheck['measured']

/** Collects what was looked at: nothing is answered by a bare truth value. */
export class Checks {
  readonly list: EvidenceCheck[] = []

  /** A violation makes the signals inconsistent. */
  fail(id: string, ok: boolean, measured: Measured, limit: Measured): boolean {
    return this.#add('fail', id, ok, measured, limit)
  }

  /** A violation is unusual and proves nothing. */
  warn(id: string, ok: boolean, measured: Measured, limit: Measured): boolean {
    return this.#add('warn', id, ok, measured, limit)
  }

  /** Something worth knowing that judges nothing. */
  info(id: string, measured: Measured, limit: Measured = null): void {
    this.#add('info', id, true, measured, limit)
  }

  /** True unless a check of severity `fail` failed. */
  get passed(): boolean {
    return this.list.every(({ ok, severity }) => ok || severity !== 'fail')
  }

  #add(severity: Severity, id: string, ok: boolean, measured: Measured, limit: Measured): boolean {
    this.list.push({ id, ok, severity, measured: printable(measured), limit: printable(limit) })
    return ok
  }
}

/** Integers below it have twelve digits at most. */
const MOST_EXACT = 1e12
const SHORT_ASCII = /^[ -~]{0,120}$/

/** Numbers to twelve digits and finite, foreign text cut short. */
function printable(measured: Measured): Measured {
  if (typeof measured === 'number') {
    if (Number.isInteger(measured) && Math.abs(measured) < MOST_EXACT) return measured + 0 // −0 is 0
    return Number.isFinite(measured) ? Number(measured.toPrecision(12)) : null
  }
  if (typeof measured !== 'string' || SHORT_ASCII.test(measured)) return measured
  // Neither the cut nor a client may leave half a character, which not every reader of JSON takes.
  const whole = measured.length > 120 ? `${measured.slice(0, 120)}…` : measured
  return whole.replace(/\p{Surrogate}/gu, '\ufffd')
}
