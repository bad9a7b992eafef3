import type { Issuer } from '../../client/answers.ts'
import { createClient } from '../../client/client.ts'
import type { InputLike } from '../../client/forms.ts'
import { isObject } from '../../client/forms.ts'
import { isReceiptAddress, type ReceiptVerdict, verifyReceipt } from '../../client/receipt.ts'
import type { JobProof, Verdict, VerifyResultOptions } from '../../client/verify/verdict.ts'
import { detectKind, verifyResult } from '../../client/verify/verify-result.ts'
import { EXIT, type ExitCode, usage } from '../exit-codes.ts'
import { readInput, readJsonFile } from '../inputs/read-input.ts'
import { readFileBytes, type SourceOptions, sourceItems } from '../inputs/source.ts'
import type { SourceItem } from '../inputs/source-item.ts'
import { createProgress, formatCount, outJson, printable, type Terminal } from '../terminal.ts'

const KINDS: Readonly<Record<Verdict['kind'], string>> = {
  compute: 'a compute result',
  'signed-result': 'a result of a job, signed without a nonce',
  attestation: 'a delegated attestation',
  'merkle-item': 'a result of a batch or job under a Merkle root',
  'merkle-root': 'a signed Merkle root',
  batch: 'a batch',
  'verified-proof': 'a verified location proof',
  stamp: 'a location stamp',
  unknown: 'not a known form',
}
const MARKS = { pass: '✓', fail: '✗', skip: '–' } as const

const SIGNER_HINT =
  'Give the address of the expected signer with --attester, or the URL of the service that signs with --issuer.'

/** Whether the signer was compared with an expected one; undefined if nothing names an attester, as in a stamp. */
function isSignerChecked({ checks }: Verdict): boolean | undefined {
  const signerChecks = checks.filter(({ id }) => id === 'signer')
  return signerChecks.length === 0 ? undefined : signerChecks.every(({ status }) => status !== 'skip')
}

function isSignedByAnyone(verdict: Verdict): boolean {
  return verdict.ok && isSignerChecked(verdict) === false
}

/** The checks, one a line, and what was signed. */
function bodyLines({ checks, statement }: Verdict): string[] {
  const width = Math.max(...checks.map(({ id }) => id.length))
  const lines = checks.map(({ id, status, detail }) => `${MARKS[status]} ${id.padEnd(width)}  ${detail}`)
  return statement === undefined ? lines : [...lines, '', `It says: ${statement}`]
}

/** Formats a verdict as a list of checks, for people. */
function verdictText(verdict: Verdict): string {
  const { kind, ok, signer, chainId } = verdict
  const signedBy =
    signer === undefined ? '' : `, signed by ${signer}${chainId === undefined ? '' : ` for chain ${chainId}`}`
  const warning = isSignedByAnyone(verdict) ? [`But anyone may have signed it. ${SIGNER_HINT}`] : []
  return [
    `This is ${KINDS[kind]}.`,
    ...bodyLines(verdict),
    '',
    ok ? `It is valid${signedBy}.` : 'It is NOT valid.',
    ...warning,
    '',
  ].join('\n')
}

interface Tally {
  readonly count: number
  readonly held: number
  readonly failed: number
  /** Errors instead of results. They are never signed. */
  readonly refused: number
  /** False if a valid result has a signer that was not compared with an expected one. */
  readonly signerChecked: boolean
  /** Numbers of valid results whose requested check could not be made; absent for what was not requested. */
  readonly unchecked?: { readonly recompute?: number; readonly rpc?: number }
}

function tallyText({ count, held, failed, refused, unchecked }: Tally): string {
  const errorsText = refused === 0 ? '' : `, ${formatCount(refused, 'is an error', 'are errors')}`
  return `${formatCount(count, 'result')}: ${formatCount(held, 'is valid', 'are valid')}, ${formatCount(failed, 'is', 'are')} not${errorsText}\n${uncheckedText(unchecked)}`
}

function uncheckedText({ recompute = 0, rpc = 0 }: NonNullable<Tally['unchecked']> = {}): string {
  const again = `– --recompute: ${formatCount(recompute, 'result was', 'results were')} not computed again; verify one alone to see why\n`
  const chain = `– --rpc: ${formatCount(rpc, 'result has', 'results have')} no attestation to compare with the chain\n`
  return `${recompute === 0 ? '' : again}${rpc === 0 ? '' : chain}`
}

/** Whether the requested check was neither passed nor failed. */
function isUnchecked({ ok, checks }: Verdict, ids: readonly string[]): boolean {
  return ok && !checks.some(({ id, status }) => ids.includes(id) && status !== 'skip')
}

export interface VerifyVerbOptions extends SourceOptions {
  readonly attester?: readonly string[]
  readonly issuer?: string
  readonly url?: string
  readonly chainId?: number
  readonly geometry?: readonly string[]
  readonly recompute?: boolean
  readonly batch?: string
  readonly proof?: string
  readonly rpc?: string
  readonly allowExpired?: boolean
  readonly nonce?: number
  readonly deadline?: number
  readonly json?: boolean
}

/** Runs `trigpoint verify`. @returns 1 if one of the results is not valid, otherwise 6 if a signer was not checked */
export async function runVerify(file: string, options: VerifyVerbOptions, terminal: Terminal): Promise<ExitCode> {
  if (isReceiptAddress(file)) return verifyAddress(file, options, terminal)
  if (options.recompute === true && options.geometry === undefined) {
    throw usage('--recompute needs the inputs: give --geometry for each, in the order of the request')
  }
  if (options.url !== undefined) throw usage(`verify takes no --url, because it asks no service. ${SIGNER_HINT}`)
  const common = await readVerifyOptions(options, terminal)
  const name = file === '-' ? 'standard input' : file
  let count = 0
  let failed = 0
  let refused = 0
  let anyoneSigned = false
  let notRecomputed = 0
  let notCompared = 0
  /** The first result, while there is no other. */
  let single: { readonly place: string; readonly verdict: Verdict } | undefined
  let chainId: number | undefined
  const progress = createProgress(terminal, 'result')
  const items = sourceItems(readFileBytes(file, terminal), name, { format: readFormat(options) })
  for await (const { place, value, fault } of withMatches(items)) {
    count++
    if (count > 1 && options.proof !== undefined)
      throw usage('--proof is the proof of one line: give that line alone, such as with head -1 results.ndjson')
    progress.update({
      done: count - 1,
      note: failed === 0 ? undefined : formatCount(failed, 'is not valid', 'are not valid'),
    })
    if (single !== undefined) {
      // There are several results, so the first one gets one line as well.
      await printFailure(single.place, single.verdict, options, terminal)
      single = undefined
    }
    if (isErrorResult(value) && count > 1) {
      refused++
      continue
    }
    const verdict = await verify(fault ?? value, options, common, chainId)
    chainId ??= verdict.chainId
    if (!verdict.ok) failed++
    anyoneSigned ||= isSignedByAnyone(verdict)
    if (isUnchecked(verdict, ['recomputed'])) notRecomputed++
    if (verdict.kind !== 'batch' && isUnchecked(verdict, ['simulation', 'on-chain'])) notCompared++
    if (count === 1) single = { place, verdict }
    else await printFailure(place, verdict, options, terminal)
  }
  progress.stop()
  if (count === 0) throw usage(`${name} contains no result`)
  if (single !== undefined) {
    const { verdict } = single
    if (options.json === true) await outJson(terminal, { ...verdict, signerChecked: isSignerChecked(verdict) })
    else await terminal.out(printable(verdictText(verdict)))
  } else {
    const held = count - failed - refused
    const unchecked = {
      ...(options.recompute === true ? { recompute: notRecomputed } : {}),
      ...(options.rpc === undefined ? {} : { rpc: notCompared }),
    }
    const wasAsked = options.recompute === true || options.rpc !== undefined
    const tally: Tally = {
      count,
      held,
      failed,
      refused,
      signerChecked: !anyoneSigned,
      ...(wasAsked ? { unchecked } : {}),
    }
    if (options.json === true) await outJson(terminal, tally)
    else {
      await terminal.out(tallyText(tally))
      if (anyoneSigned) await terminal.out(`But anyone may have signed them. ${SIGNER_HINT}\n`)
    }
  }
  if (failed > 0) return EXIT.failed
  return anyoneSigned ? EXIT.signerUnchecked : EXIT.ok
}

/** Replaces each line of matches by its matches, each of which is a result of its own. */
async function* withMatches(items: AsyncIterable<SourceItem>): AsyncGenerator<SourceItem> {
  for await (const item of items) {
    const matches = isObject(item.value) ? item.value['matches'] : undefined
    if (!Array.isArray(matches)) yield item
    else yield* matches.map((value, index) => ({ place: `${item.place}, matches[${index}]`, value }))
  }
}

/**
 * Verifies a receipt. It says "valid" only if the signer is one that the caller named.
 *
 * @returns 1 if it does not hold or another signed it, 6 if no signer was named
 */
async function verifyAddress(address: string, options: VerifyVerbOptions, terminal: Terminal): Promise<ExitCode> {
  if (options.url !== undefined) throw usage(`verify takes no --url, because it asks no service. ${SIGNER_HINT}`)
  // The inputs are in the receipt, so the result is always computed again.
  const common = await readVerifyOptions({ ...options, recompute: true }, terminal)
  const verdict = await verifyReceipt(address, common)
  if (options.json === true) await outJson(terminal, { ...verdict, signerChecked: isSignerChecked(verdict) })
  else await terminal.out(printable(receiptText(verdict, common)))
  if (isSignedByAnyone(verdict)) return EXIT.signerUnchecked
  return verdict.status === 'valid' ? EXIT.ok : EXIT.failed
}

function receiptText(verdict: ReceiptVerdict, { attester, issuer }: VerifyResultOptions): string {
  const { status, signer, chainId } = verdict
  const signedBy = `signed by ${signer}${chainId === undefined ? '' : ` for chain ${chainId}`}`
  const named = attester !== undefined || issuer !== undefined
  const last =
    status === 'valid'
      ? `It is valid, ${signedBy}.`
      : status === 'invalid'
        ? 'It does not hold.'
        : `It is ${signedBy}, ${named ? 'which is not an expected signer.' : `but anyone may have signed it. ${SIGNER_HINT}`}`
  const title =
    verdict.kind === 'unknown' ? 'This receipt cannot be read.' : `This is a receipt of ${KINDS[verdict.kind]}.`
  return [title, ...bodyLines(verdict), '', last, ''].join('\n')
}

/** Prints one line for an invalid result in a file of several. */
async function printFailure(
  place: string,
  verdict: Verdict,
  { json }: VerifyVerbOptions,
  terminal: Terminal,
): Promise<void> {
  if (verdict.ok) return
  if (json === true) return outJson(terminal, { place, ...verdict })
  const { id, detail } = verdict.checks.find(({ status }) => status === 'fail') ?? {
    id: 'signature',
    detail: 'not signed',
  }
  await terminal.out(printable(`✗ ${place}: ${id}: ${detail}\n`))
}

function readFormat({ format }: VerifyVerbOptions): 'json' | 'ndjson' | undefined {
  if (format === undefined || format === 'json' || format === 'ndjson') return format
  throw usage(`a result is JSON, not ${format}`)
}

function isErrorResult(value: unknown): boolean {
  return isObject(value) && 'error' in value && !('attestation' in value)
}

/**
 * Verifies one value. @param likelyChainId chain of an earlier result, which is tried first, because each chain takes
 * milliseconds
 */
async function verify(
  value: unknown,
  options: VerifyVerbOptions,
  common: VerifyResultOptions,
  likelyChainId: number | undefined,
): Promise<Verdict> {
  if (options.geometry !== undefined && detectKind(value) === 'batch') {
    throw usage(
      '--geometry and --recompute work for one result, because each result of a batch has inputs of its own: put one element of "results" into a file and verify that; if it has a proof, also give the batch as --batch',
    )
  }
  const result = isObject(value) ? withDelegation(value, options) : value
  try {
    if (likelyChainId !== undefined && common.chainId === undefined) {
      const verdict = await verifyResult(result, { ...common, chainId: likelyChainId })
      if (verdict.ok) return verdict
    }
    return await verifyResult(result, common)
  } catch (error) {
    if (error instanceof TypeError) throw usage(error.message.replace('client.issuer()', '--issuer'), error)
    throw error
  }
}

/**
 * Adds nonce and deadline to a bare attestation. Both are signed, but they are not part of the attestation itself. Without them,
 * the check of its members reports that they are missing.
 */
function withDelegation(value: Record<string, unknown>, { nonce, deadline }: VerifyVerbOptions): unknown {
  const isBare =
    'data' in value && 'schema' in value && 'signature' in value && 'attester' in value && !('proof' in value)
  if (!isBare) return value
  const { signature, attester } = value
  return {
    attestation: value,
    delegatedAttestation: {
      signature,
      attester,
      ...(deadline === undefined ? {} : { deadline }),
      ...(nonce === undefined ? {} : { nonce }),
    },
  }
}

async function readVerifyOptions(options: VerifyVerbOptions, terminal: Terminal): Promise<VerifyResultOptions> {
  const { attester, issuer, chainId, geometry, recompute, batch, proof, rpc, allowExpired } = options
  const inputs: InputLike[] = []
  for (const text of geometry ?? []) inputs.push(await readInput(text, terminal))
  const merkle = batch === undefined ? undefined : readMerkle(await readJsonFile(batch, terminal), batch)
  return {
    attester,
    issuer: issuer === undefined ? undefined : await readIssuer(issuer, terminal),
    chainId,
    inputs: geometry === undefined ? undefined : inputs,
    recompute: recompute === true ? (await import('../../client/recompute.ts')).createRecompute() : undefined,
    merkle,
    // Its form is checked with that of the line.
    proof: proof === undefined ? undefined : ((await readJsonFile(proof, terminal)) as JobProof),
    rpcUrl: rpc,
    allowExpired,
    nowSeconds: Math.floor(terminal.now() / 1000),
  }
}

/** Returns the response to a batch, the attestation of a job, or the signed root of either. */
function readMerkle(value: unknown, file: string): NonNullable<VerifyResultOptions['merkle']> {
  const merkle = isObject(value) && isObject(value['merkle']) ? value['merkle'] : value
  if (isObject(merkle) && 'root' in merkle && 'attestation' in merkle)
    return value as NonNullable<VerifyResultOptions['merkle']>
  throw usage(
    `${file}: has no signed Merkle root: give the response to a batch with "attest": "merkle", or the attestation of a job`,
  )
}

async function readIssuer(source: string, terminal: Terminal): Promise<Issuer> {
  const value: unknown = /^https?:\/\//.test(source)
    ? await createClient({ baseUrl: source.replace(/\/\.well-known\/attester\.json$/, '') }).issuer({
        signal: terminal.signal,
      })
    : await readJsonFile(source, terminal)
  const isIssuer =
    isObject(value) &&
    typeof value['address'] === 'string' &&
    Array.isArray(value['chains']) &&
    Array.isArray(value['retired'])
  if (!isIssuer) throw usage(`${source}: not a copy of /.well-known/attester.json`)
  return value as unknown as Issuer
}
