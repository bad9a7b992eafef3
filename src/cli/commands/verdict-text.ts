import type { Verdict } from '../../client/verify/verdict.ts'
import { formatCount } from '../terminal.ts'

const KINDS: Readonly<Record<Verdict['kind'], string>> = {
  compute: 'a compute result',
  attestation: 'a delegated attestation',
  'merkle-item': 'an item of a batch under a Merkle root',
  'merkle-root': 'a signed Merkle root',
  batch: 'a batch',
  'verified-proof': 'a verified location proof',
  stamp: 'a location stamp',
  unknown: 'not a known form',
}
const MARKS = { pass: '✓', fail: '✗', skip: '–' } as const

/** Formats a verdict as a list of checks, for people. */
export function verdictText({ kind, ok, checks, statement, signer, chainId }: Verdict): string {
  const width = Math.max(...checks.map(({ id }) => id.length))
  const lines = checks.map(({ id, status, detail }) => `${MARKS[status]} ${id.padEnd(width)}  ${detail}`)
  const statementLines = statement === undefined ? [] : ['', `It says: ${statement}`]
  const signedBy =
    signer === undefined ? '' : `, signed by ${signer}${chainId === undefined ? '' : ` for chain ${chainId}`}`
  const skippedSigner = checks.some(({ id, status }) => id === 'signer' && status === 'skip')
  const warning =
    ok && skippedSigner ? ['But anyone may have signed it: give the expected signer with --attester or --issuer.'] : []
  return [
    `This is ${KINDS[kind]}.`,
    ...lines,
    ...statementLines,
    '',
    ok ? `It is valid${signedBy}.` : 'It is NOT valid.',
    ...warning,
    '',
  ].join('\n')
}

export interface Tally {
  readonly count: number
  readonly held: number
  readonly failed: number
  /** Errors instead of results. They are never signed. */
  readonly refused: number
}

export function tallyText({ count, held, failed, refused }: Tally): string {
  const errorsText = refused === 0 ? '' : `, ${formatCount(refused, 'is an error', 'are errors')}`
  return `${formatCount(count, 'result')}: ${formatCount(held, 'is valid', 'are valid')}, ${formatCount(failed, 'is', 'are')} not${errorsText}\n`
}
