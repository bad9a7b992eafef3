import type { Verdict } from '../client/verdict.ts'
import { counted } from './terminal.ts'

const KINDS: Readonly<Record<Verdict['kind'], string>> = {
  compute: 'a compute answer',
  attestation: 'a delegated attestation',
  'merkle-item': 'an item of a batch under a Merkle root',
  'merkle-root': 'a signed Merkle root',
  batch: 'a batch',
  'verified-proof': 'a verified location proof',
  stamp: 'a location stamp',
  unknown: 'nothing that is known here',
}
const MARKS = { pass: '✓', fail: '✗', skip: '–' } as const

/** A verdict as a list of checks, for people. */
export function verdictText({ kind, ok, checks, statement, signer, chainId }: Verdict): string {
  const width = Math.max(...checks.map(({ id }) => id.length))
  const lines = checks.map(({ id, status, detail }) => `${MARKS[status]} ${id.padEnd(width)}  ${detail}`)
  const said = statement === undefined ? [] : ['', `It says: ${statement}`]
  const by = signer === undefined ? '' : `, signed by ${signer}${chainId === undefined ? '' : ` for chain ${chainId}`}`
  const skippedSigner = checks.some(({ id, status }) => id === 'signer' && status === 'skip')
  const warning =
    ok && skippedSigner ? ['But anybody may have signed it: name who should have with --attester or --issuer.'] : []
  return [
    `This is ${KINDS[kind]}.`,
    ...lines,
    ...said,
    '',
    ok ? `It holds${by}.` : 'It does NOT hold.',
    ...warning,
    '',
  ].join('\n')
}

export interface Tally {
  readonly count: number
  readonly held: number
  readonly failed: number
  /** Errors in the place of results, which nobody signs. */
  readonly refused: number
}

export function tallyText({ count, held, failed, refused }: Tally): string {
  const refusals = refused === 0 ? '' : `, ${counted(refused, 'is a refusal', 'are refusals')}`
  return `${counted(count, 'answer')}: ${counted(held, 'holds', 'hold')}, ${counted(failed, 'does', 'do')} not${refusals}\n`
}
