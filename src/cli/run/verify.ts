import type { Issuer } from '../../client/answers.ts'
import { createClient } from '../../client/client.ts'
import { isObject } from '../../client/forms.ts'
import type { InputLike } from '../../client/inputs.ts'
import type { Verdict } from '../../client/verdict.ts'
import type { VerifyResultOptions } from '../../client/verify-options.ts'
import { verifyResult } from '../../client/verify-result.ts'
import type { MerkleAttestation } from '../../types/generated.ts'
import { EXIT, type ExitCode, usage } from '../exit-codes.ts'
import { readJsonFile } from '../inputs/json-file.ts'
import { readInput } from '../inputs/read-input.ts'
import { bytesOf, type SourceOptions, sourceItems } from '../inputs/source.ts'
import { createProgress } from '../progress.ts'
import { counted, outJson, type Terminal } from '../terminal.ts'
import { tallyText, verdictText } from '../verdict-text.ts'

export interface VerifyVerbOptions extends SourceOptions {
  readonly attester?: readonly string[]
  readonly issuer?: string
  readonly chainId?: number
  readonly geometry?: readonly string[]
  readonly recompute?: boolean
  readonly batch?: string
  readonly rpc?: string
  readonly allowExpired?: boolean
  readonly nonce?: number
  readonly deadline?: number
  readonly json?: boolean
}

/** `trigpoint verify`. @returns 1 when one of the answers does not hold */
export async function runVerify(file: string, options: VerifyVerbOptions, terminal: Terminal): Promise<ExitCode> {
  if (options.recompute === true && options.geometry === undefined) {
    throw usage('--recompute needs the inputs: give --geometry for each, in the order of the request')
  }
  const common = await optionsOf(options, terminal)
  const name = file === '-' ? 'standard input' : file
  let count = 0
  let failed = 0
  let refused = 0
  let only: Verdict | undefined
  let chainId: number | undefined
  const progress = createProgress(terminal, 'answer')
  for await (const { place, value, fault } of sourceItems(bytesOf(file, terminal), name, {
    format: formatOf(options),
  })) {
    count++
    progress.update({
      done: count - 1,
      note: failed === 0 ? undefined : counted(failed, 'does not hold', 'do not hold'),
    })
    if (only !== undefined) {
      // The first of many: what is said of one alone is said in one line.
      await lineOut('line 1', only, options, terminal)
      only = undefined
    }
    if (isRefusal(value) && count > 1) {
      refused++
      continue
    }
    const verdict = await verify(fault ?? value, options, common, chainId)
    chainId ??= verdict.chainId
    if (!verdict.ok) failed++
    if (count === 1) only = verdict
    else await lineOut(place, verdict, options, terminal)
  }
  progress.stop()
  if (count === 0) throw usage(`${name} holds no answer`)
  if (only !== undefined) {
    if (options.json === true) await outJson(terminal, only)
    else await terminal.out(verdictText(only))
  } else {
    const tally = { count, held: count - failed - refused, failed, refused }
    if (options.json === true) await outJson(terminal, tally)
    else await terminal.out(tallyText(tally))
  }
  return failed === 0 ? EXIT.ok : EXIT.failed
}

/** Of many answers those that fail are told one by one. */
async function lineOut(
  place: string,
  verdict: Verdict,
  { json }: VerifyVerbOptions,
  terminal: Terminal,
): Promise<void> {
  if (verdict.ok) return
  if (json === true) return outJson(terminal, { place, ...verdict })
  const { id, detail } = verdict.checks.find(({ status }) => status === 'fail') ?? {
    id: 'signature',
    detail: 'nobody signed it',
  }
  await terminal.out(`✗ ${place}: ${id}: ${detail}\n`)
}

function formatOf({ format }: VerifyVerbOptions): 'json' | 'ndjson' | undefined {
  if (format === undefined || format === 'json' || format === 'ndjson') return format
  throw usage(`an answer is JSON, not ${format}`)
}

function isRefusal(value: unknown): boolean {
  return isObject(value) && 'error' in value && !('attestation' in value)
}

/** @param likely chain of an answer before it: the first one that is tried, for each takes milliseconds */
async function verify(
  value: unknown,
  options: VerifyVerbOptions,
  common: VerifyResultOptions,
  likely: number | undefined,
): Promise<Verdict> {
  const answer = isObject(value) ? delegated(value, options) : value
  try {
    if (likely !== undefined && common.chainId === undefined) {
      const verdict = await verifyResult(answer, { ...common, chainId: likely })
      if (verdict.ok) return verdict
    }
    return await verifyResult(answer, common)
  } catch (error) {
    if (error instanceof TypeError) throw usage(error.message.replace('client.issuer()', '--issuer'), error)
    throw error
  }
}

/**
 * An attestation alone: what EAS takes has a nonce and mostly a deadline beside it, and both are signed. With them it can be
 * checked like any other; without them the check of its members says that they are missing.
 */
function delegated(value: Record<string, unknown>, { nonce, deadline }: VerifyVerbOptions): unknown {
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

async function optionsOf(options: VerifyVerbOptions, terminal: Terminal): Promise<VerifyResultOptions> {
  const { attester, issuer, chainId, geometry, recompute, batch, rpc, allowExpired } = options
  const inputs: InputLike[] = []
  for (const given of geometry ?? []) inputs.push(await readInput(given, terminal))
  const merkle = batch === undefined ? undefined : merkleOf(await readJsonFile(batch, terminal), batch)
  return {
    attester,
    issuer: issuer === undefined ? undefined : await issuerOf(issuer, terminal),
    chainId,
    inputs: geometry === undefined ? undefined : inputs,
    recompute: recompute === true ? (await import('../../client/recompute.ts')).createRecompute() : undefined,
    merkle,
    rpcUrl: rpc,
    allowExpired,
    nowSeconds: Math.floor(terminal.now() / 1000),
  }
}

/** The member of a batch, or that member alone. */
function merkleOf(value: unknown, file: string): MerkleAttestation {
  const merkle = isObject(value) && isObject(value['merkle']) ? value['merkle'] : value
  if (isObject(merkle) && 'root' in merkle && 'attestation' in merkle) return merkle as unknown as MerkleAttestation
  throw usage(`${file}: has no signed Merkle root: it has to be the answer to a batch with "attest": "merkle"`)
}

async function issuerOf(place: string, terminal: Terminal): Promise<Issuer> {
  const value: unknown = /^https?:\/\//.test(place)
    ? await createClient({ baseUrl: place.replace(/\/\.well-known\/attester\.json$/, '') }).issuer({
        signal: terminal.signal,
      })
    : await readJsonFile(place, terminal)
  const isIssuer =
    isObject(value) &&
    typeof value['address'] === 'string' &&
    Array.isArray(value['chains']) &&
    Array.isArray(value['retired'])
  if (!isIssuer) throw usage(`${place}: is no copy of /.well-known/attester.json`)
  return value as unknown as Issuer
}
