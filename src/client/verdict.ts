/** What was found out about an answer, check by check. */

/** `skip`: not looked at, and why; it says nothing for or against. */
export type CheckStatus = 'pass' | 'fail' | 'skip'

export interface Check {
  /** Stable short name: `form`, `chain`, `signer`, `signature`, `schema`, `data`, `values`, `deadline` … */
  readonly id: string
  readonly status: CheckStatus
  /** For people. */
  readonly detail: string
}

export type AnswerKind =
  | 'compute'
  | 'attestation'
  | 'merkle-item'
  | 'merkle-root'
  | 'batch'
  | 'verified-proof'
  | 'stamp'
  | 'unknown'

export interface Verdict {
  readonly kind: AnswerKind
  /** Something was signed, and no check fails. What was skipped is not in it: read `checks`. */
  readonly ok: boolean
  readonly checks: readonly Check[]
  /** What the signed data says, in plain words; present when it could be read. It holds only when `ok`. */
  readonly statement?: string
  /** Who signed, as recovered from the signature; checksummed. */
  readonly signer?: string
  /** The chain it was signed for. */
  readonly chainId?: number
}

/** Gathers checks in the order in which they are made. */
export class CheckList {
  readonly checks: Check[] = []

  pass(id: string, detail: string): void {
    this.checks.push({ id, status: 'pass', detail })
  }

  fail(id: string, detail: string): void {
    this.checks.push({ id, status: 'fail', detail })
  }

  skip(id: string, detail: string): void {
    this.checks.push({ id, status: 'skip', detail })
  }

  /** @param faults nothing passes with `fine`, anything fails */
  judge(id: string, faults: readonly string[], fine: string): boolean {
    if (faults.length === 0) this.pass(id, fine)
    else this.fail(id, faults.slice(0, MAX_FAULTS).join('; '))
    return faults.length === 0
  }

  has(id: string, status: CheckStatus): boolean {
    return this.checks.some((check) => check.id === id && check.status === status)
  }

  verdict(kind: AnswerKind, rest: Pick<Verdict, 'statement' | 'signer' | 'chainId'> = {}): Verdict {
    const ok = this.has('signature', 'pass') && this.checks.every(({ status }) => status !== 'fail')
    return { kind, ok, checks: this.checks, ...rest }
  }
}

const MAX_FAULTS = 5
