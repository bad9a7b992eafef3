/** The outcome of `verifyResult`: a list of checks. */

/** `skip` means not checked; `detail` says why. It counts neither for nor against the response. */
export type CheckStatus = 'pass' | 'fail' | 'skip'

export interface Check {
  /** Stable short name: `form`, `chain`, `signer`, `signature`, `schema`, `data`, `values`, `deadline` … */
  readonly id: string
  readonly status: CheckStatus
  /** For people. */
  readonly detail: string
}

export type ResponseKind =
  | 'compute'
  | 'attestation'
  | 'merkle-item'
  | 'merkle-root'
  | 'batch'
  | 'verified-proof'
  | 'stamp'
  | 'unknown'

export interface Verdict {
  readonly kind: ResponseKind
  /** True when a signature was verified and no check failed. Skipped checks do not count: see `checks`. */
  readonly ok: boolean
  readonly checks: readonly Check[]
  /** The signed data in words, if it could be decoded. Trust it only when `ok` is true. */
  readonly statement?: string
  /** Address of the signer, recovered from the signature; checksummed. */
  readonly signer?: string
  /** The chain that was signed for. */
  readonly chainId?: number
}

/** Collects checks in the order in which they are made. */
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

  /**
   * Adds a check that passes with `passDetail` when there are no faults, and fails with the faults otherwise.
   *
   * @returns whether it passed
   */
  judge(id: string, faults: readonly string[], passDetail: string): boolean {
    if (faults.length === 0) this.pass(id, passDetail)
    else this.fail(id, faults.slice(0, MAX_FAULTS).join('; '))
    return faults.length === 0
  }

  has(id: string, status: CheckStatus): boolean {
    return this.checks.some((check) => check.id === id && check.status === status)
  }

  verdict(kind: ResponseKind, facts: Pick<Verdict, 'statement' | 'signer' | 'chainId'> = {}): Verdict {
    const ok = this.has('signature', 'pass') && this.checks.every(({ status }) => status !== 'fail')
    return { kind, ok, checks: this.checks, ...facts }
  }
}

/** Most faults that a detail lists. */
const MAX_FAULTS = 5
