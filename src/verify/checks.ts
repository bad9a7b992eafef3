import type { EvidenceCheck } from '../types/generated.ts'

export type Severity = EvidenceCheck['severity']
export type Measured = EvidenceCheck['measured']

/** Collects the checks of a stamp, so that every judgement shows what was measured and its limit. */
export class Checks {
  readonly list: EvidenceCheck[] = []

  /** Adds a check whose violation makes the signals inconsistent. */
  fail(id: string, ok: boolean, measured: Measured, limit: Measured): boolean {
    return this.#add('fail', id, ok, measured, limit)
  }

  /** Adds a check whose violation is unusual but proves nothing. */
  warn(id: string, ok: boolean, measured: Measured, limit: Measured): boolean {
    return this.#add('warn', id, ok, measured, limit)
  }

  /** Adds information that judges nothing. */
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

/** Integers below this have at most twelve digits and need no rounding. */
const MAX_EXACT = 1e12
const SHORT_ASCII = /^[ -~]{0,120}$/

/** Rounds numbers to twelve digits, turns infinite ones into null, and shortens long text. */
function printable(measured: Measured): Measured {
  if (typeof measured === 'number') {
    if (Number.isInteger(measured) && Math.abs(measured) < MAX_EXACT) return measured + 0 // −0 is 0
    return Number.isFinite(measured) ? Number(measured.toPrecision(12)) : null
  }
  if (typeof measured !== 'string' || SHORT_ASCII.test(measured)) return measured
  // Replace lone surrogates, from the cut or from the client: not every JSON parser accepts them.
  const text = measured.length > 120 ? `${measured.slice(0, 120)}…` : measured
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}
